// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/frameregions.h"

namespace cudavision {

FrameRegions::FrameRegions(Device& device, const FrameLayout& layout,
                           const RegionSettings& settings, RegionFinder& finder)
    : device_(device), layout_(layout), settings_(settings), finder_(finder) {}

bool FrameRegions::select(const FrameInfo& frame) {
  finder_.find(frame, settings_, parameters_);
  limited_ = parameters_.count > 0;
  if (!limited_)
    return parameters_.invert;
  use_parameters();
  return !blend_->identity();
}

void FrameRegions::use_parameters() {
  if (blend_)
    blend_->set_parameters(parameters_);
  else
    blend_.emplace(device_, layout_, parameters_);
}

}  // namespace cudavision
