// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/framedetections.h"

#include <gst/video/gstvideometa.h>

// Only this file reads GstAnalytics, whose API is not stable yet.
#ifdef HAVE_GST_ANALYTICS
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/analytics/analytics.h>
#endif

namespace cudavision {
namespace {

// The meta's coordinates are unsigned, but detectors store negative ones in them for an object that
// the left or upper edge cuts off: −10 becomes 4294967286. No frame has pixels from 2³¹ on.
gint64 signed_coordinate(guint coordinate) {
  return static_cast<gint32>(coordinate);
}

}  // namespace

void for_each_detection(GstBuffer* frame, const std::function<void(const Detection&)>& function) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* region = static_cast<GstVideoRegionOfInterestMeta*>(static_cast<gpointer>(meta));
    function({signed_coordinate(region->x), signed_coordinate(region->y), region->w, region->h,
              region->roi_type, region->id, false});
  }
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta* const meta = gst_buffer_get_analytics_relation_meta(frame);
  if (!meta)
    return;
  state = nullptr;
  GstAnalyticsODMtd object;
  while (gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &object)) {
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat confidence = 0;
    if (gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &confidence))
      function({x, y, width, height, gst_analytics_od_mtd_get_obj_type(&object),
                static_cast<gint>(object.id), true});
  }
#endif
}

}  // namespace cudavision
