// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arithmetic of histogram equalisation that both devices share, one sample at a time.

#include <cmath>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// sum div 1000 for sum = 299·r + 587·g + 114·b of samples of 8 bits. Divides by 8 and then by 125,
/// so that the product fits 32 bits: n ≤ 31875 and 67109·125 = 2^23 + 17 make (n·67109) >> 23
/// exact.
CUDAVISION_HOST_DEVICE inline std::uint32_t luminance_of_sum(std::uint32_t sum) {
  return ((sum >> 3) * 67109u) >> 23;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t luminance(std::uint32_t r, std::uint32_t g,
                                                      std::uint32_t b) {
  return luminance_of_sum(299 * r + 587 * g + 114 * b);
}

CUDAVISION_HOST_DEVICE inline int clamp_level(int value, int high) {
  return value < 0 ? 0 : value > high ? high : value;
}

/// blend/256 of the way from in to equalised.
CUDAVISION_HOST_DEVICE inline int blended(int in, int equalised, int blend) {
  return in + ((blend * (equalised - in) + 128) >> 8);
}

/// The value of a stored word: samples beyond the format's depth count as its largest value.
CUDAVISION_HOST_DEVICE inline std::uint32_t sample_value(std::uint32_t word, int shift,
                                                         std::uint32_t largest) {
  const std::uint32_t value = word >> shift;
  return value < largest ? value : largest;
}

CUDAVISION_HOST_DEVICE inline float equalisation_scale(std::uint32_t total,
                                                       std::uint32_t first_count, int low,
                                                       int high) {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(__int2float_rn(high - low), __uint2float_rn(total - first_count));
#else
  return static_cast<float>(high - low) / static_cast<float>(total - first_count);
#endif
}

/// Table entry of a bin above the first: counted is the number of samples in the bins after the
/// first up to and including this one.
CUDAVISION_HOST_DEVICE inline int equalised_level(std::uint32_t counted, float scale, int low,
                                                  int high) {
#ifdef __CUDA_ARCH__
  const int level = low + __float2int_rn(__fmul_rn(__uint2float_rn(counted), scale));
#else
  const int level = low + static_cast<int>(std::nearbyint(static_cast<float>(counted) * scale));
#endif
  return level < high ? level : high;
}

}  // namespace cudavision
