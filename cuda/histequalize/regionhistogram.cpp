// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histequalize/regionhistogram.h"

#include <algorithm>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/histequalize/backend.h"

namespace cudavision::histequalize {
namespace {

FrameLayout mask_layout(int width, int height) {
  return {.width = width,
          .height = height,
          .plane_count = 1,
          .planes = {PlaneShape{width, height}},
          .channel_count = 1,
          .channels = {Channel{Role::luma, 0, 0, 1, width, height}}};
}

}  // namespace

void count_masked_cpu(Device&, const MaskedSamples& samples) {
  std::fill_n(samples.bins, 1 << samples.plane.bits, 0u);
  for (int y = 0; y < samples.mask.height; ++y)
    for (int x = 0; x < samples.mask.width; ++x)
      if (samples.mask.row(y)[x] != 0)
        ++samples.bins[samples.value(x, y)];
}

RegionHistogram::RegionHistogram(Device& device, const FrameLayout& layout,
                                 const regions::Parameters& parameters,
                                 View<const std::uint8_t> distances)
    : device_(device),
      layout_(layout),
      parameters_(parameters),
      luminance_(device, layout, operation),
      blend_(device, mask_layout(layout.width, layout.height), parameters),
      memory_(device.allocate((layout.height + std::size_t{2}) * layout.width)) {
  make_mask(distances);
}

void RegionHistogram::set_parameters(const regions::Parameters& parameters,
                                     View<const std::uint8_t> distances) {
  // The contents of masks can change while the parameters stay the same.
  if (parameters == parameters_ && parameters.mask_count == 0)
    return;
  blend_.set_parameters(parameters);
  parameters_ = parameters;
  make_mask(distances);
}

// Blends a black picture with a white one, so that the mask is 0 only where the weight is 0.
void RegionHistogram::make_mask(View<const std::uint8_t> distances) {
  const int width = layout_.width, height = layout_.height;
  auto* const memory = memory_.as<std::uint8_t>();
  const View<std::uint8_t> black{memory, width, height, 0}, white{memory + width, width, height, 0};
  mask_ = {memory + 2 * width, width, height, width};
  // The blend must not overwrite the old mask while an earlier kernel reads it. The blend waits for
  // these fills, and the fills wait for all earlier kernels.
  device_.fill({black.data, width, 1, width}, 0);
  device_.fill({white.data, width, 1, width}, 255);
  blend_.run(Frame{{black}}, Frame{{white}}, Frame{{mask_}}, distances);
}

void RegionHistogram::run(const ConstFrame& in, View<std::uint32_t> bins) {
  check_bins(layout_, bins);
  dispatch<count_masked_cuda, count_masked_cpu>(
      device_, MaskedSamples{luminance_.of(in), layout_.sample_bytes(), mask_, bins.data});
}

void RegionHistogram::run_each(const ConstFrame& in, View<std::uint32_t> bins) {
  check_frame(operation, layout_, in, "input");
  if (layout_.find(Role::luma) >= 0)
    refuse(operation, "counting each channel separately needs RGB, but the picture has luma");
  check_bins(layout_, {bins.data, bins.width, 1, bins.pitch});
  if (bins.height != 3 || bins.pitch != std::ptrdiff_t{sizeof(std::uint32_t)} * bins.width)
    refuse(operation, "the histograms of red, green and blue must be three contiguous rows");
  for (int c = 0; c < 3; ++c) {
    const Channel& channel = layout_.channels[layout_.find(rgb_roles[c])];
    SamplePlane plane{in.planes[channel.plane], layout_.width, layout_.bits, layout_.shift};
    plane.rows.data += channel.offset;
    dispatch<count_masked_cuda, count_masked_cpu>(
        device_, MaskedSamples{plane, channel.step, mask_, bins.row(c)});
  }
}

}  // namespace cudavision::histequalize
