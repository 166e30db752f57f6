// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/framedetections.h"

#include <gst/video/gstvideometa.h>

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
              region->roi_type});
  }
  for_each_analytics_detection(frame, function);
}

}  // namespace cudavision
