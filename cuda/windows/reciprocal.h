// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Exact division by the area of windows, shared by the CPU and the GPU.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::windows {

/// Returns n for 2^(n − 1) ≤ number < 2^n.
CUDAVISION_HOST_DEVICE inline int bits_of(std::uint32_t number) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(number));
#else
  return number == 0 ? 0 : 32 - __builtin_clz(number);
#endif
}

/// Returns an estimate of 1 / number within a few units in the last place.
CUDAVISION_HOST_DEVICE inline float estimated_inverse(float number) {
#ifdef __CUDA_ARCH__
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(number));
  return inverse;
#else
  return 1.0f / number;
#endif
}

/// Returns 2^power / divisor, rounded to the nearest integer. divisor is less than 2^24, and the
/// result from 2^31 to less than 2^32. rest becomes how much the product of both lacks of 2^power.
CUDAVISION_HOST_DEVICE inline std::uint32_t reciprocal_of(std::uint32_t divisor, int power,
                                                          std::int64_t& rest) {
  const float inverse = estimated_inverse(static_cast<float>(divisor));
  const std::uint64_t dividend = std::uint64_t{1} << power;
  // The estimate errs by less than 2^11, and then by less than 2.
  auto result = static_cast<std::uint64_t>(static_cast<float>(dividend) * inverse);
  const auto update_rest = [&] { rest = static_cast<std::int64_t>(dividend - result * divisor); };
  update_rest();
  result +=
      static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<float>(rest) * inverse));
  update_rest();
  const std::int64_t step = divisor;
  for (; 2 * rest > step; rest -= step)
    ++result;
  for (; 2 * rest < -step; rest += step)
    --result;
  return static_cast<std::uint32_t>(result);
}

/// Divides by the area N of windows of less than 2^24 samples.
class Reciprocal {
 public:
  Reciprocal() = default;
  /// divide() returns the quotient of its number by N / 2^power.
  CUDAVISION_HOST_DEVICE Reciprocal(std::uint32_t area, int power) {
    const int size = 31 + bits_of(area - 1);
    std::int64_t rest;
    factor_ = reciprocal_of(area, size, rest);
    if (rest > 0)
      addend_ = factor_ >> (power > 0 ? power : 0);
    shift_ = size - power;
  }

  /// number, and number · 2^power, are less than 2^32.
  ///
  /// The factor errs by up to 1/2 and is 2^31 at least, so the product errs by less than the
  /// factor, and where power is positive, by less than 2^−power of it. This is less than what the
  /// product lacks to the next integer. If the factor is too small, as much is added.
  CUDAVISION_HOST_DEVICE std::uint32_t divide(std::uint32_t number) const {
    return static_cast<std::uint32_t>((std::uint64_t{number} * factor_ + addend_) >> shift_);
  }

 private:
  std::uint32_t factor_ = 0;  ///< 2^shift · 2^power / N, rounded to the nearest integer
  int shift_ = 0;
  std::uint64_t addend_ = 0;
};

}  // namespace cudavision::windows
