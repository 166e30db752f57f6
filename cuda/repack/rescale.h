// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Scales samples from one depth to another without a division.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::repack {

/// Scales value from 0…maximum to 0…largest, and rounds halves up. Neither exceeds 65535, so the
/// product fits 32 bits.
CUDAVISION_HOST_DEVICE inline std::uint32_t rescaled(std::uint32_t value, std::uint32_t maximum,
                                                     std::uint32_t largest) {
  return maximum == largest ? value : (value * largest + maximum / 2) / maximum;
}

/// The numbers with which rescaled() needs no division: the quotient n div d is (n·r) >> s, with
/// s ≥ 32 and r = 2^s / d, rounded up. It is exact if (r·d − 2^s)·n < 2^s. The bracket is less than
/// d, so s = the bits of d and of n together suffice.
struct Rescale {
  std::uint32_t factor, half, reciprocal;
  int shift;  ///< s − 32
};

/// Both are 2^depth − 1, with depths of 1 to 16.
inline Rescale make_rescale(std::uint32_t maximum, std::uint32_t largest) {
  // The reciprocal of 1 would take 33 bits. (3·value·largest + 1) div 3 is the same as
  // value·largest div 1, also with a largest of 1 for values that stay as they are.
  if (maximum == largest)
    maximum = largest = 1;
  if (maximum == 1) {
    maximum = 3;
    largest *= 3;
  }
  const auto bits_of = [](std::uint32_t number) {
    int bits = 0;
    for (; number > 0; number >>= 1)
      ++bits;
    return bits;
  };
  const int sum = 2 * bits_of(maximum) + bits_of(largest), shift = sum > 32 ? sum : 32;
  const std::uint64_t power = std::uint64_t{1} << shift;
  return {largest, maximum / 2, static_cast<std::uint32_t>((power + maximum - 1) / maximum),
          shift - 32};
}

CUDAVISION_HOST_DEVICE inline std::uint32_t rescaled(std::uint32_t value, const Rescale& scale) {
  const std::uint32_t dividend = value * scale.factor + scale.half;
#ifdef __CUDA_ARCH__
  return __umulhi(dividend, scale.reciprocal) >> scale.shift;
#else
  return static_cast<std::uint32_t>(std::uint64_t{dividend} * scale.reciprocal >> 32) >>
         scale.shift;
#endif
}

}  // namespace cudavision::repack
