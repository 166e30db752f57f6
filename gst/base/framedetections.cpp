// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framedetections.h"

#include <gst/video/gstvideometa.h>

namespace cudavision {

void for_each_detection(GstBuffer* frame, const std::function<void(const Detection&)>& function) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* region = static_cast<GstVideoRegionOfInterestMeta*>(static_cast<gpointer>(meta));
    function({region->x, region->y, region->w, region->h, region->roi_type});
  }
  for_each_analytics_detection(frame, function);
}

}  // namespace cudavision
