// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

template <class Number, class Divisor>
CUDAVISION_HOST_DEVICE constexpr Number divide_up(Number number, Divisor by) {
  return static_cast<Number>((number + by - 1) / by);
}

template <class Number, class Divisor>
CUDAVISION_HOST_DEVICE constexpr Number round_up(Number number, Divisor multiple) {
  return static_cast<Number>(divide_up(number, multiple) * multiple);
}

/// Division by a value that the host knows. A kernel then needs one multiplication instead of about
/// twenty instructions, which would delay the first load of a short kernel.
///
/// With l = ceil(log2 divisor) and multiplier = ceil(2^(31 + l) / divisor), n div divisor is
/// (2·n·multiplier) >> (32 + l) for n < 2^31. Rounding up adds e / divisor to the multiplier,
/// with e < divisor ≤ 2^l. The quotient is exact, because n·e < 2^(31 + l).
struct Division {
  std::uint32_t divisor, multiplier;
  int shift;  ///< l
};

/// divisor must be 1 to 65536.
inline Division make_division(std::uint32_t divisor) {
  const int shift = std::bit_width(divisor - 1);
  const std::uint64_t power = std::uint64_t{1} << (31 + shift);
  return {divisor, static_cast<std::uint32_t>((power + divisor - 1) / divisor), shift};
}

CUDAVISION_HOST_DEVICE inline std::uint32_t quotient(std::uint32_t number,
                                                     const Division& division) {
#ifdef __CUDA_ARCH__
  return __umulhi(2 * number, division.multiplier) >> division.shift;
#else
  return static_cast<std::uint32_t>(std::uint64_t{2} * number * division.multiplier >> 32) >>
         division.shift;
#endif
}

/// Returns 1 / number, with a relative error of up to 2^-23 on a GPU. number must be normal.
CUDAVISION_HOST_DEVICE inline float approximate_reciprocal(float number) {
#ifdef __CUDA_ARCH__
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(number));
  return reciprocal;
#else
  return 1 / number;
#endif
}

}  // namespace cudavision
