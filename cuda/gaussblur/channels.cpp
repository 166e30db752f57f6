// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/channels.h"

#include <cmath>

#include "cuda/regions/planebytes.h"

namespace cudavision::gaussblur {
namespace {

int fraction_bits(const FrameLayout& layout, const Parameters& parameters) {
  return layout.bits > 8 || parameters.fine ? 16 : 8;
}

GaussKernel kernel_for(const FrameLayout& layout, const Parameters& parameters, double sigma,
                       int size, int subsampling) {
  if (size == 0)
    size = sigma > 0 ? GaussKernel::size_for(sigma, layout.bits) : 1;
  if (subsampling > 1)
    size = static_cast<int>(std::lround((size - 1.0) / subsampling)) | 1;
  return GaussKernel(size, sigma / subsampling, fraction_bits(layout, parameters));
}

int first_like(const FrameLayout& layout, int Channel::*subsampling, int number) {
  int first = 0;
  while (layout.channels[first].*subsampling != layout.channels[number].*subsampling)
    ++first;
  return first;
}

}  // namespace

ChannelKernels::ChannelKernels(const FrameLayout& layout, const Parameters& p) noexcept
    : none(fraction_bits(layout, p)) {
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (first_like(layout, &Channel::subsampling_x, c) == c)
      x[c] = kernel_for(layout, p, p.sigma_x, p.size_x, channel.subsampling_x);
    if (first_like(layout, &Channel::subsampling_y, c) == c)
      y[c] = kernel_for(layout, p, p.sigma_y, p.size_y, channel.subsampling_y);
  }
}

ChannelBlur channel_blur(const FrameLayout& layout, const Parameters& parameters,
                         const ChannelKernels& kernels, int field, int number) {
  ChannelBlur blur;
  blur.channel = layout.channels[number];
  blur.channel.height = regions::field_rows(blur.channel.height, field, parameters.fields);
  // Along an axis with one sample, only a constant border has an effect; others repeat the sample.
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

}  // namespace cudavision::gaussblur
