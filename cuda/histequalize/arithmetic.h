// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic of histogram equalisation, shared by both backends.

#include <cmath>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::histequalize {

CUDAVISION_HOST_DEVICE inline int clamp_level(int value, int high) {
  return value < 0 ? 0 : value > high ? high : value;
}

CUDAVISION_HOST_DEVICE inline int blended(int in, int equalised, int blend) {
  return in + ((blend * (equalised - in) + 128) >> 8);
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

/// Table entry of a bin above the first non-empty bin. counted is the cumulative count up to and
/// including this bin, without the first non-empty bin.
CUDAVISION_HOST_DEVICE inline int equalised_level(std::uint32_t counted, float scale, int low,
                                                  int high) {
#ifdef __CUDA_ARCH__
  const int level = low + __float2int_rn(__fmul_rn(__uint2float_rn(counted), scale));
#else
  const int level = low + static_cast<int>(std::nearbyint(static_cast<float>(counted) * scale));
#endif
  return level < high ? level : high;
}

}  // namespace cudavision::histequalize
