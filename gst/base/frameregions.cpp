// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/frameregions.h"

#include <algorithm>
#include <string>

#include "gst/base/elementerror.h"
#include "gst/base/framedetections.h"

namespace cudavision {
namespace {

/// Rows of the scratch frame begin at multiples of this many bytes.
constexpr std::size_t row_alignment = 256;

std::size_t scratch_pitch(const PlaneShape& plane) {
  return (static_cast<std::size_t>(plane.row_bytes) + row_alignment - 1) / row_alignment *
         row_alignment;
}

int coordinate(gint64 value) {
  constexpr gint64 most = regions::Parameters::max_coordinate;
  return static_cast<int>(std::clamp(value, -most, most));
}

}  // namespace

FrameRegions::FrameRegions(Device& device, const FrameLayout& layout,
                           const RegionSettings& settings)
    : device_(device), layout_(layout), settings_(settings) {}

bool FrameRegions::select(GstBuffer* frame) {
  limited_ = settings_.in_regions();
  if (!limited_)
    return true;
  parameters_.shape = settings_.region_shape;
  parameters_.margin = settings_.region_margin;
  parameters_.feather = settings_.region_feather;
  parameters_.invert = settings_.region_invert;
  parameters_.count = 0;
  for (const WrittenRectangle& rectangle : settings_.regions.rectangles())
    add(rectangle.box_in(layout_.width, layout_.height));
  if (settings_.use_roi_meta)
    for_each_detection(frame, [&](const Detection& detection) {
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
  if (blend_) {
    blend_->set_parameters(parameters_);
    return;
  }
  std::size_t bytes = 0;
  for (int p = 0; p < layout_.plane_count; ++p)
    bytes += scratch_pitch(layout_.planes[p]) * static_cast<std::size_t>(layout_.planes[p].rows);
  memory_ = device_.allocate(bytes);
  auto* data = memory_.as<std::uint8_t>();
  for (int p = 0; p < layout_.plane_count; ++p) {
    const PlaneShape& plane = layout_.planes[p];
    scratch_.planes[p] = {data, plane.row_bytes, plane.rows,
                          static_cast<std::ptrdiff_t>(scratch_pitch(plane))};
    data += scratch_pitch(plane) * static_cast<std::size_t>(plane.rows);
  }
  blend_.emplace(device_, layout_, parameters_);
}

}  // namespace cudavision
