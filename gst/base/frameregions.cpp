// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/frameregions.h"

#include <algorithm>
#include <string>

#include "gst/base/elementerror.h"
#include "gst/base/framedetections.h"

namespace cudavision {
namespace {

int coordinate(gint64 value) {
  constexpr gint64 most = regions::Parameters::max_coordinate;
  return static_cast<int>(std::clamp(value, -most, most));
}

}  // namespace

FrameRegions::FrameRegions(Device& device, const FrameLayout& layout,
                           const RegionSettings& settings)
    : device_(device), layout_(layout), settings_(settings) {}

bool FrameRegions::select(const FrameInfo& frame) {
  limited_ = settings_.in_regions();
  if (!limited_)
    return true;
  parameters_.shape = settings_.region_shape;
  parameters_.margin = settings_.region_margin;
  parameters_.feather = settings_.region_feather;
  parameters_.invert = settings_.region_invert;
  parameters_.fields = frame.interlaced;
  parameters_.count = 0;
  for (const WrittenRectangle& rectangle : settings_.regions.rectangles())
    add(rectangle.box_in(layout_.width, layout_.height));
  if (settings_.use_roi_meta)
    for_each_detection(frame.buffer, [&](const Detection& detection) {
      if (settings_.region_types.accepts(detection.label))
        add({coordinate(detection.x), coordinate(detection.y),
             coordinate(detection.x + detection.width),
             coordinate(detection.y + detection.height)});
    });
  if (parameters_.count == 0) {
    limited_ = false;
    return parameters_.invert;
  }
  use_parameters();
  return !blend_->identity();
}

void FrameRegions::add(const regions::Box& box) {
  if (parameters_.count == regions::Parameters::max_count)
    refuse_stream("the frame has more than " + std::to_string(regions::Parameters::max_count) +
                  " regions: name the kinds that count in region-types, or give fewer regions.");
  parameters_.boxes[static_cast<std::size_t>(parameters_.count++)] = box;
}

void FrameRegions::use_parameters() {
  if (blend_)
    blend_->set_parameters(parameters_);
  else
    blend_.emplace(device_, layout_, parameters_);
}

}  // namespace cudavision
