// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/regionblend.h"

#include <string>

#include "cuda/core/layoutcheck.h"
#include "cuda/regions/backend.h"

namespace cudavision::regions {
namespace {

constexpr char operation[] = "blend of regions";
constexpr int largest_step = 8;  // bytes

[[noreturn]] void refuse(const std::string& what) {
  cudavision::refuse(operation, what);
}

void check_plane(const FrameLayout& layout, int plane) {
  const std::string of_plane = "the channels of plane " + std::to_string(plane) + " have ";
  const Channel* widest = nullptr;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != plane)
      continue;
    if (channel.step * layout.sample_bytes() > largest_step)
      refuse("channel " + std::to_string(c) + " has a step of " + std::to_string(channel.step) +
             " samples; it must be at most 8 bytes");
    if (widest &&
        (channel.height != widest->height || channel.subsampling_y != widest->subsampling_y))
      refuse(of_plane + "different heights");
    if (!widest || channel.step > widest->step)
      widest = &channel;
  }
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != plane)
      continue;
    if (widest->step % channel.step != 0 ||
        channel.subsampling_x * (widest->step / channel.step) != widest->subsampling_x)
      refuse(of_plane + "steps of " + std::to_string(channel.step) + " and " +
             std::to_string(widest->step) +
             " samples; the larger must be a multiple of the smaller, and cover as many pixels");
  }
}

}  // namespace

RegionBlend::RegionBlend(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout) {
  check_layout(operation, layout);
  for (int plane = 0; plane < layout.plane_count; ++plane)
    check_plane(layout, plane);
  backend_ = device.kind() == DeviceKind::cuda ? make_region_blend_cuda(device, layout)
                                               : make_region_blend_cpu(device, layout);
  use(parameters);
}

RegionBlend::~RegionBlend() = default;

void RegionBlend::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  use(parameters);
}

void RegionBlend::use(const Parameters& parameters) {
  const Selection selection = select(operation, layout_.width, layout_.height, parameters);
  active_ = selection.active;
  everywhere_ = selection.everywhere;
  backend_->set(parameters, selection.regions, active());
  parameters_ = parameters;
}

void RegionBlend::run(const ConstFrame& in, const ConstFrame& processed, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, processed, "processed");
  check_frame(operation, layout_, out, "output");
  backend_->run(in, processed, out);
}

}  // namespace cudavision::regions
