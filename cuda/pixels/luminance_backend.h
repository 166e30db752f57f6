// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated all arguments.

#include <memory>

#include "cuda/pixels/luminance.h"

namespace cudavision {

/// Only used for layouts without contiguous luma samples.
class Luminance::Backend {
 public:
  virtual ~Backend() = default;
  /// Writes the luminance values, without FrameLayout::shift, to rows of the layout's width.
  virtual void run(const ConstFrame& in, View<std::uint8_t> out) = 0;
};

std::unique_ptr<Luminance::Backend> make_luminance_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Luminance::Backend> make_luminance_cuda(Device& device, const FrameLayout& layout);

/// For planes of more than 8 bits.
void reduce_to_8_bits_cpu(Device& device, const SamplePlane& in, View<std::uint8_t> out);
void reduce_to_8_bits_cuda(Device& device, const SamplePlane& in, View<std::uint8_t> out);

}  // namespace cudavision
