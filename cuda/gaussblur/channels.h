// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Decides how to blur each channel: subsampling, fields, single rows and columns, alpha.

#include <array>

#include "cuda/gaussblur/gaussblur.h"
#include "cuda/gaussblur/gausskernel.h"

namespace cudavision::gaussblur {

struct ChannelKernels {
  ChannelKernels(const FrameLayout& layout, const Parameters& parameters) noexcept;

  /// One kernel per channel and axis. Channels of equal subsampling share one object.
  std::array<GaussKernel, FrameLayout::max_channels> x, y;
  GaussKernel none;  ///< the identity
};

/// One channel of a field: the whole frame or, with Parameters::fields, its even or odd rows.
struct ChannelBlur {
  Channel channel;                 ///< with the field's height
  const GaussKernel* x = nullptr;  ///< x and y point into a ChannelKernels
  const GaussKernel* y = nullptr;
  std::uint16_t border_value = 0;
  bool copied = false;  ///< copied instead of blurred
};

ChannelBlur channel_blur(const FrameLayout& layout, const Parameters& parameters,
                         const ChannelKernels& kernels, int field, int channel);

}  // namespace cudavision::gaussblur
