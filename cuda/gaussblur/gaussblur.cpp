// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/gaussblur.h"

#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/gaussblur/backend.h"

namespace cudavision::gaussblur {
namespace {

constexpr char operation[] = "Gaussian blur";

void check_axis(double sigma, int size, const char* axis) {
  using Ranges = Parameters::Ranges;
  if (!Ranges::sigma.contains(sigma))
    refuse(operation, "sigma along " + std::string(axis) + " is " + text_of(sigma) +
                          "; it must be " + text_of(Ranges::sigma));
  if (!Ranges::size.contains(size) || (size != 0 && size % 2 == 0))
    refuse(operation, "the kernel's size along " + std::string(axis) + " is " +
                          std::to_string(size) + "; it must be an odd number between 1 and " +
                          text_of(Ranges::size.max) + ", or 0 to derive it from sigma");
}

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  check_axis(parameters.sigma_x, parameters.size_x, "x");
  check_axis(parameters.sigma_y, parameters.size_y, "y");
  const int largest = (1 << layout.bits) - 1;
  if (parameters.border == Border::constant)
    for (int c = 0; c < layout.channel_count; ++c)
      if (parameters.border_values[c] > largest)
        refuse(operation, "the border value of channel " + std::to_string(c) + " is " +
                              std::to_string(parameters.border_values[c]) + "; samples of " +
                              std::to_string(layout.bits) + " bits are at most " +
                              std::to_string(largest));
}

void check_channels(const FrameLayout& layout) {
  check_layout(operation, layout);
  const int bytes = layout.sample_bytes();
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[c].step > 8 / bytes)
      refuse(operation, "channel " + std::to_string(c) + " has a step of " +
                            std::to_string(layout.channels[c].step) +
                            " samples, which is more than 8 bytes");
  const auto power_of_two = [](int step) { return step == 1 || step == 2 || step == 4; };
  for (int c = 1; c < layout.channel_count; ++c)
    for (int other = 0; other < c; ++other) {
      const Channel& a = layout.channels[other];
      const Channel& b = layout.channels[c];
      if (a.plane != b.plane)
        continue;
      if (a.height != b.height || a.subsampling_y != b.subsampling_y)
        refuse(operation, "the channels of plane " + std::to_string(a.plane) +
                              " have different heights or vertical subsampling");
      if ((a.step != b.step || a.subsampling_x != b.subsampling_x) &&
          !(power_of_two(a.step * bytes) && power_of_two(b.step * bytes)))
        refuse(operation, "the channels of plane " + std::to_string(a.plane) + " have steps of " +
                              std::to_string(a.step) + " and " + std::to_string(b.step) +
                              " samples; unless 1, 2 or 4 bytes, steps and subsampling must match");
    }
}

}  // namespace

GaussBlur::GaussBlur(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout) {
  check_channels(layout);
  check_parameters(layout, parameters);
  backend_ = dispatch<make_gauss_blur_cuda, make_gauss_blur_cpu>(device, layout);
  use(parameters);
}

GaussBlur::~GaussBlur() = default;

void GaussBlur::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  check_parameters(layout_, parameters);
  use(parameters);
}

void GaussBlur::use(const Parameters& parameters) {
  const ChannelKernels kernels(layout_, parameters);
  backend_->set(parameters, kernels);
  parameters_ = parameters;
  identity_ = true;
  for (int c = 0; c < layout_.channel_count; ++c) {
    const ChannelBlur blur = channel_blur(layout_, parameters, kernels, 0, c);
    identity_ = identity_ && (blur.copied || (blur.x->identity() && blur.y->identity()));
  }
}

void GaussBlur::run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  if (!active || active->any())
    backend_->run(in, out, active);
}

}  // namespace cudavision::gaussblur
