// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/framedetections.h"

#include <gst/video/gstvideometa.h>

#include <cmath>

// The only file that uses GstAnalytics, whose API is not stable yet.
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

// DL Streamer and others store the confidence in the meta's parameter `detection`.
double confidence_of(GstVideoRegionOfInterestMeta* region) {
  gdouble confidence = 1;
  if (const GstStructure* detection =
          gst_video_region_of_interest_meta_get_param(region, "detection"))
    gst_structure_get_double(detection, "confidence", &confidence);
  return confidence;
}

#ifdef HAVE_GST_ANALYTICS
#if GST_CHECK_VERSION(1, 26, 0)
// An angle that is no number turns nothing.
int angle_of(gfloat radians) {
  const double turns = static_cast<double>(radians) / (2 * G_PI);
  return std::isfinite(turns)
             ? static_cast<int>(std::lround((turns - std::floor(turns)) * 65536)) % 65536
             : 0;
}
#endif

// Returns false if the detection has no location.
bool locate(const GstAnalyticsODMtd& object, Detection& detection) {
  gint x = 0, y = 0, width = 0, height = 0;
  gfloat confidence = 1;
#if GST_CHECK_VERSION(1, 26, 0)
  gfloat radians = 0;
  if (!gst_analytics_od_mtd_get_oriented_location(&object, &x, &y, &width, &height, &radians,
                                                  &confidence))
    return false;
  detection.angle = angle_of(radians);
#else
  if (!gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &confidence))
    return false;
#endif
  detection.x = x;
  detection.y = y;
  detection.width = width;
  detection.height = height;
  detection.confidence = static_cast<double>(confidence);
  return true;
}
#endif

}  // namespace

void for_each_detection(GstBuffer* frame, const std::function<void(const Detection&)>& function) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = static_cast<GstVideoRegionOfInterestMeta*>(static_cast<gpointer>(meta));
    function({signed_coordinate(region->x), signed_coordinate(region->y), region->w, region->h,
              region->roi_type, confidence_of(region)});
  }
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta* const meta = gst_buffer_get_analytics_relation_meta(frame);
  if (!meta)
    return;
  state = nullptr;
  GstAnalyticsODMtd object;
  while (gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &object)) {
    Detection detection{};
    if (!locate(object, detection))
      continue;
    detection.label = gst_analytics_od_mtd_get_obj_type(&object);
    function(detection);
  }
#endif
}

}  // namespace cudavision
