// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The backends of luminance.h, for frames whose luminance is not contiguous.

#include <memory>

#include "cuda/pixels/luminance.h"

namespace cudavision {

class Luminance::Backend {
 public:
  virtual ~Backend() = default;
  /// Writes values, unshifted, to rows of the layout's width.
  virtual void run(const ConstFrame& in, View<std::uint8_t> out) = 0;
};

std::unique_ptr<Luminance::Backend> make_luminance_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Luminance::Backend> make_luminance_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision
