// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "gst/integral/integralwork.h"

namespace cudavision {

/// Makes the work of output=guided, in the regions that the settings select.
std::unique_ptr<IntegralWork> make_guided_work(Device& device, const FrameFormat& in,
                                               const IntegralSettings& settings,
                                               RegionFinder& finder);

}  // namespace cudavision
