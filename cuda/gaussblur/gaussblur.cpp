// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/gaussblur.h"

#include <cmath>
#include <string>

#include "cuda/core/layoutcheck.h"
#include "cuda/gaussblur/backend.h"

namespace cudavision::gaussblur {
namespace {

constexpr char operation[] = "Gaussian blur";
constexpr double largest_sigma = 127;
constexpr int largest_step = 8;  // bytes

[[noreturn]] void refuse(const std::string& what) {
  cudavision::refuse(operation, what);
}

void check_axis(double sigma, int size, const char* axis) {
  if (!(sigma >= 0 && sigma <= largest_sigma))
    refuse("a sigma of " + std::to_string(sigma) + " along " + axis + "; it must be 0 to 127");
  if (size != 0 && (size < 1 || size > GaussKernel::max_size || size % 2 == 0))
    refuse("a kernel of " + std::to_string(size) + " samples along " + axis +
           "; it must be an odd number up to 1023, or 0 for one by sigma");
}

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  check_axis(parameters.sigma_x, parameters.size_x, "x");
  check_axis(parameters.sigma_y, parameters.size_y, "y");
  const int largest = (1 << layout.bits) - 1;
  if (parameters.border == Border::constant)
    for (int c = 0; c < layout.channel_count; ++c)
      if (parameters.border_values[c] > largest)
        refuse("a border of value " + std::to_string(parameters.border_values[c]) +
               " around samples of " + std::to_string(layout.bits) + " bits");
}

void check_planes(const FrameLayout& layout) {
  check_layout(operation, layout);
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[c].step > largest_step / layout.sample_bytes())
      refuse("channel " + std::to_string(c) + " has steps of " +
             std::to_string(layout.channels[c].step) + " samples; they must be at most 8 bytes");
  for (int c = 1; c < layout.channel_count; ++c)
    for (int other = 0; other < c; ++other) {
      const Channel& a = layout.channels[other];
      const Channel& b = layout.channels[c];
      if (a.plane != b.plane)
        continue;
      const auto power_of_two = [](int bytes) { return bytes == 1 || bytes == 2 || bytes == 4; };
      const int bytes = layout.sample_bytes();
      if (a.height != b.height || a.subsampling_y != b.subsampling_y)
        refuse("the channels of plane " + std::to_string(a.plane) + " have different heights");
      if ((a.step != b.step || a.subsampling_x != b.subsampling_x) &&
          !(power_of_two(a.step * bytes) && power_of_two(b.step * bytes)))
        refuse("the channels of plane " + std::to_string(a.plane) + " have steps of " +
               std::to_string(a.step) + " and " + std::to_string(b.step) +
               " samples; they must be equal, or 1, 2 or 4 bytes");
    }
}

int fraction_bits(const FrameLayout& layout, const Parameters& parameters) {
  return layout.bits > 8 || parameters.fine ? 16 : 8;
}

/// The kernel along one axis, of a channel with one sample for each `subsampling` pixels.
GaussKernel kernel_for(const FrameLayout& layout, const Parameters& parameters, double sigma,
                       int size, int subsampling) {
  if (size == 0)
    size = sigma > 0 ? GaussKernel::size_for(sigma, layout.bits) : 1;
  if (subsampling > 1)
    size = static_cast<int>(std::lround((size - 1.0) / subsampling)) | 1;
  return GaussKernel(size, sigma / subsampling, fraction_bits(layout, parameters));
}

/// The first channel that is subsampled along x, or along y, as channel number is.
int first_like(const FrameLayout& layout, int Channel::*subsampling, int number) {
  int first = 0;
  while (layout.channels[first].*subsampling != layout.channels[number].*subsampling)
    ++first;
  return first;
}

}  // namespace

bool Parameters::operator==(const Parameters& other) const noexcept {
  return sigma_x == other.sigma_x && sigma_y == other.sigma_y && size_x == other.size_x &&
         size_y == other.size_y && sharpen == other.sharpen && border == other.border &&
         border_values == other.border_values && blur_alpha == other.blur_alpha &&
         fields == other.fields && fine == other.fine;
}

BlurKernels::BlurKernels(const FrameLayout& layout, const Parameters& p) noexcept
    : none(fraction_bits(layout, p)) {
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (first_like(layout, &Channel::subsampling_x, c) == c)
      x[c] = kernel_for(layout, p, p.sigma_x, p.size_x, channel.subsampling_x);
    if (first_like(layout, &Channel::subsampling_y, c) == c)
      y[c] = kernel_for(layout, p, p.sigma_y, p.size_y, channel.subsampling_y);
  }
}

BlurChannel blur_channel(const FrameLayout& layout, const Parameters& parameters,
                         const BlurKernels& kernels, int picture, int number) {
  BlurChannel blur;
  blur.channel = layout.channels[number];
  if (parameters.fields)
    blur.channel.height = (blur.channel.height + 1 - picture) / 2;
  const bool constant = parameters.border == Border::constant;
  blur.x = blur.channel.width == 1 && !constant
               ? &kernels.none
               : &kernels.x[first_like(layout, &Channel::subsampling_x, number)];
  blur.y = blur.channel.height == 1 && !constant
               ? &kernels.none
               : &kernels.y[first_like(layout, &Channel::subsampling_y, number)];
  blur.border_value = parameters.border_values[number];
  blur.copied = blur.channel.role == Role::alpha && !parameters.blur_alpha;
  return blur;
}

GaussBlur::GaussBlur(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout) {
  check_planes(layout);
  check_parameters(layout, parameters);
  backend_ = device.kind() == DeviceKind::cuda ? make_gauss_blur_cuda(device, layout)
                                               : make_gauss_blur_cpu(device, layout);
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
  const BlurKernels kernels(layout_, parameters);
  backend_->set(parameters, kernels);
  parameters_ = parameters;
  identity_ = true;
  for (int c = 0; c < layout_.channel_count; ++c) {
    const BlurChannel blur = blur_channel(layout_, parameters, kernels, 0, c);
    identity_ = identity_ && (blur.copied || (blur.x->identity() && blur.y->identity()));
  }
}

void GaussBlur::run(const ConstFrame& in, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  backend_->run(in, out);
}

}  // namespace cudavision::gaussblur
