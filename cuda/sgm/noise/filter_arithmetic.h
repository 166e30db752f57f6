// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// filtered_sample() of noise.h for CUDA: computes the same results with a few operations on 32-bit
// floats, without division. B is the weight of the mean, in 256ths:
//
//   B = 256 − kept = min(256, 256·noise / variance, rounded up)
//   filtered_sample = 16·level + floor((B·(sum − 25·level) + 200) / 400) + filtered_offset

#include <cmath>
#include <cstdint>

#include "cuda/pixels/sample_math.h"

namespace cudavision::sgm {

/// Returns B. reciprocal is 1 / |minus_variance| with a relative error below 2^-20, or infinite.
/// noise_256 is 256·noise. noise and |minus_variance| are integers below 2^24.
CUDAVISION_HOST_DEVICE inline float weight_of_mean(float minus_variance, float reciprocal,
                                                   float noise_256) {
  // Floats from 2^23 to 2^24 are integers, so the addition rounds. Quotients above 256 are limited.
  constexpr float integers = 12582912;  // 1.5·2^23
  const float nearest = std::fmaf(reciprocal, noise_256, integers) - integers;
  // The exact result is an integer, so rounding keeps its sign: positive if `nearest` is too small.
  const float missing = std::fmaf(nearest, minus_variance, noise_256);
  return std::fmin(nearest + saturated(missing), 256.0f);
}

/// Returns a word with floor((weight·difference + 200) / 400) + 2^14 in bits 8 to 23. difference is
/// sum − 25·level. Both arguments are integers.
CUDAVISION_HOST_DEVICE inline std::uint32_t blended(float weight, float difference) {
  // With 0.5 added, the distance of dividend + 200 from multiples of 400 exceeds the errors of the
  // factor and of rounding. Floats from 2^15 to 2^16 are multiples of 1/256.
  const float dividend = std::fmaf(weight, difference, 0.5f);
  constexpr float factor = 1.0f / 400, offset = 49152.5f;  // 2^15 + 2^14 + 200/400
#ifdef __CUDA_ARCH__
  return __float_as_uint(__fmaf_rd(dividend, factor, offset));
#else
  return static_cast<std::uint32_t>(
             std::floor((double{dividend} * double{factor} + double{offset}) * 256)) -
         (1u << 23);
#endif
}

}  // namespace cudavision::sgm
