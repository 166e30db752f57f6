// SPDX-License-Identifier: LGPL-2.1-or-later

// The only file that uses GstAnalytics, whose API is not stable yet.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/analytics/analytics.h>

#include "gst/base/regions/framedetections.h"

namespace cudavision {

void for_each_analytics_detection(GstBuffer* frame,
                                  const std::function<void(const Detection&)>& function) {
  GstAnalyticsRelationMeta* const meta = gst_buffer_get_analytics_relation_meta(frame);
  if (!meta)
    return;
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  while (gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &object)) {
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat confidence = 0;
    if (gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &confidence))
      function({x, y, width, height, gst_analytics_od_mtd_get_obj_type(&object)});
  }
}

}  // namespace cudavision
