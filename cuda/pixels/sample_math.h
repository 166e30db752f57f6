// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic on samples, luminance and floats, for both backends.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// Returns the value of a stored word, clamped to the maximum of the format.
CUDAVISION_HOST_DEVICE inline std::uint32_t sample_value(std::uint32_t word, int shift,
                                                         std::uint32_t largest) {
  const std::uint32_t value = word >> shift;
  return value < largest ? value : largest;
}

/// Returns sum div 1000 for sum = 299·r + 587·g + 114·b of 8-bit samples. Divides by 8 and then by
/// 125, so that the product fits into 32 bits: (n·67109) >> 23 is exact because n ≤ 31875 and
/// 67109·125 = 2^23 + 17.
CUDAVISION_HOST_DEVICE inline std::uint32_t luminance_of_sum(std::uint32_t sum) {
  return ((sum >> 3) * 67109u) >> 23;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t luminance(std::uint32_t r, std::uint32_t g,
                                                      std::uint32_t b) {
  return luminance_of_sum(299 * r + 587 * g + 114 * b);
}

/// Clamps a value to the range from 0 to 1.
CUDAVISION_HOST_DEVICE inline float saturated(float value) {
#ifdef __CUDA_ARCH__
  return __saturatef(value);
#else
  return value < 0 ? 0 : value < 1 ? value : 1;
#endif
}

CUDAVISION_HOST_DEVICE inline std::uint32_t bits_of_float(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
CUDAVISION_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

}  // namespace cudavision
