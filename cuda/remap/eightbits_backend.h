// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that backends of EightBits implement. Callers have validated all arguments.

#include <memory>

#include "cuda/remap/eightbits.h"

namespace cudavision::remap {

class EightBits::Backend {
 public:
  virtual ~Backend() = default;
  /// in has more than 8 bits.
  virtual void run(const SamplePlane& in, View<std::uint8_t> out) = 0;
};

std::unique_ptr<EightBits::Backend> make_eight_bits_cpu();
std::unique_ptr<EightBits::Backend> make_eight_bits_cuda(Device& device);

}  // namespace cudavision::remap
