// SPDX-License-Identifier: LGPL-2.1-or-later

// Stands in for analyticsdetections.cpp with a GStreamer that has no GstAnalytics.

#include "gst/base/regions/framedetections.h"

namespace cudavision {

void for_each_analytics_detection(GstBuffer*, const std::function<void(const Detection&)>&) {}

}  // namespace cudavision
