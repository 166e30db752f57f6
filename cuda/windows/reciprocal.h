// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Exact division by the area of windows, for both backends.

#include <cstdint>

#include "cuda/core/division.h"

namespace cudavision::windows {

/// Returns the smallest n with number < 2^n.
CUDAVISION_HOST_DEVICE inline int bits_of(std::uint32_t number) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(number));
#else
  return number == 0 ? 0 : 32 - __builtin_clz(number);
#endif
}

/// Divides by the area N of a window, 1 to 2^24 − 1.
class Reciprocal {
 public:
  Reciprocal() = default;
  /// divide() computes number·2^power div N.
  CUDAVISION_HOST_DEVICE Reciprocal(std::uint32_t area, int power) {
    const int size = 31 + bits_of(area - 1);
    const float inverse = approximate_reciprocal(static_cast<float>(area));
    const std::uint64_t dividend = std::uint64_t{1} << size;
    // The error of result is less than 2^11, and less than 2 after the correction.
    auto result = static_cast<std::uint64_t>(static_cast<float>(dividend) * inverse);
    auto rest = static_cast<std::int64_t>(dividend - result * area);
    result +=
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<float>(rest) * inverse));
    rest = static_cast<std::int64_t>(dividend - result * area);
    const std::int64_t step = area;
    for (; 2 * rest > step; rest -= step)
      ++result;
    for (; 2 * rest < -step; rest += step)
      --result;
    factor_ = static_cast<std::uint32_t>(result);
    if (rest > 0)
      addend_ = factor_ >> (power > 0 ? power : 0);
    shift_ = size - power;
  }

  /// Computes number·2^power div N. number and number·2^power must be less than 2^32.
  ///
  /// The factor is at least 2^31 and has a rounding error of up to 1/2. The error of the product is
  /// therefore less than factor_ >> max(power, 0), which is too little to change the quotient. If
  /// the factor was rounded down, the addend compensates for the error.
  CUDAVISION_HOST_DEVICE std::uint32_t divide(std::uint32_t number) const {
    return static_cast<std::uint32_t>((std::uint64_t{number} * factor_ + addend_) >> shift_);
  }

 private:
  std::uint32_t factor_ = 0;  ///< 2^shift · 2^power / N, rounded to the nearest integer
  int shift_ = 0;
  std::uint64_t addend_ = 0;
};

}  // namespace cudavision::windows
