// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arithmetic of guided.h, one window at a time, shared by the CPU and the GPU.

#include <cmath>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::guided {

/// A window is narrow if its area is less than this, 127·127 for example. Its sums of samples, of
/// slopes and of offsets, N times a sample, and these times 2^16 / 2^b then fit 30 bits.
constexpr std::uint32_t narrow_area = 1 << 14;

/// The type of N·Q − S² of narrow windows or of others.
template <bool kNarrow>
struct VarianceOf {
  using Type = std::uint64_t;
};
template <>
struct VarianceOf<false> {
  using Type = unsigned __int128;
};

/// What the arithmetic needs to know about epsilon and about the depth of the samples.
struct Scale {
  std::uint32_t epsilon = 1;  ///< E
  int headroom = 15;          ///< e
  int bits = 8;               ///< b

  Scale() = default;
  Scale(double real_epsilon, int sample_bits)
      : epsilon(static_cast<std::uint32_t>(std::fmax(1, std::rint(real_epsilon * 256)))),
        bits(sample_bits) {
    while ((1 << 14) + static_cast<int>(std::ceil(real_epsilon)) >= 1 << headroom)
      ++headroom;
  }
};

/// Returns n for 2^(n − 1) ≤ number < 2^n.
CUDAVISION_HOST_DEVICE inline int bits_of(std::uint32_t number) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(number));
#else
  return number == 0 ? 0 : 32 - __builtin_clz(number);
#endif
}

/// The constants of all windows of one area.
template <bool kNarrow>
struct Window {
  std::uint32_t area = 1;     ///< N
  std::uint32_t epsilon = 0;  ///< w
  int down = 0, up = 0;       ///< v = V >> down << up, because one of them is 0

  Window() = default;
  CUDAVISION_HOST_DEVICE Window(std::uint32_t pixels, const Scale& scale) : area(pixels) {
    using Product = typename VarianceOf<kNarrow>::Type;
    const int squared = 31 - scale.headroom - 2 * bits_of(pixels);
    const int power = squared - 2 * (scale.bits - 8);
    down = power < 0 ? -power : 0;
    up = power > 0 ? power : 0;
    const Product product = static_cast<Product>(pixels) * pixels * scale.epsilon;
    epsilon = static_cast<std::uint32_t>(squared > 8 ? product << (squared - 8)
                                                     : product >> (8 - squared));
  }

  /// Returns number div N.
  template <class Number>
  CUDAVISION_HOST_DEVICE std::uint32_t quotient(Number number) const {
    return static_cast<std::uint32_t>(number / area);
  }
};

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

/// Returns 2^power / divisor, rounded up. divisor is less than narrow_area, and the result at most
/// 2^31.
CUDAVISION_HOST_DEVICE inline std::uint32_t reciprocal_of(std::uint32_t divisor, int power) {
  const float inverse = estimated_inverse(static_cast<float>(divisor));
  const std::uint64_t dividend = std::uint64_t{1} << power;
  // The estimate errs by less than 2^10, and then by less than 2.
  auto result = static_cast<std::uint32_t>(static_cast<float>(dividend) * inverse);
  auto rest = static_cast<std::int32_t>(dividend - std::uint64_t{result} * divisor);
  result +=
      static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<float>(rest) * inverse));
  rest = static_cast<std::int32_t>(dividend - std::uint64_t{result} * divisor);
  for (; rest > 0; rest -= static_cast<std::int32_t>(divisor))
    ++result;
  for (; rest <= -static_cast<std::int32_t>(divisor); rest += static_cast<std::int32_t>(divisor))
    --result;
  return result;
}

/// The same for narrow windows, with a reciprocal in place of divisions.
struct ReciprocalWindow : Window<true> {
  std::uint32_t reciprocal = 0;  ///< 2^(30 + n) / N, rounded up
  int shift = 0;                 ///< n − 1

  ReciprocalWindow() = default;
  CUDAVISION_HOST_DEVICE ReciprocalWindow(std::uint32_t pixels, const Scale& scale)
      : Window(pixels, scale),
        reciprocal(reciprocal_of(pixels, 30 + bits_of(pixels))),
        shift(bits_of(pixels) - 1) {}

  /// number is less than 2^16·N, and N less than 2^14. The reciprocal is too large by less than 1,
  /// which adds less than number / 2^(30 + n) < 1 / N to the quotient, too little to reach the next
  /// integer.
  CUDAVISION_HOST_DEVICE std::uint32_t quotient(std::uint32_t number) const {
#ifdef __CUDA_ARCH__
    return __umulhi(2 * number, reciprocal) >> shift;
#else
    return static_cast<std::uint32_t>(std::uint64_t{2 * number} * reciprocal >> 32) >> shift;
#endif
  }
};

/// Returns 2^16·v div (v + w). v + w is positive and less than 2^31.
CUDAVISION_HOST_DEVICE inline std::uint32_t slope_of(std::uint32_t v, std::uint32_t w) {
  // The estimate errs by a few 2^−24 of at most 2^16, so to the nearest integer it is the result or
  // one more.
  const std::uint32_t sum = v + w;
  const float numerator = static_cast<float>(static_cast<std::int32_t>(v));
  const float denominator = numerator + static_cast<float>(static_cast<std::int32_t>(w));
#ifdef __CUDA_ARCH__
  // The last bit of numbers from 2^7 on is 2^−16.
  const std::uint32_t estimate =
      __float_as_uint(__fmaf_rn(numerator, estimated_inverse(denominator), 128.0f)) - 0x43000000;
#else
  const auto estimate = static_cast<std::uint32_t>(
      static_cast<std::int32_t>(numerator / denominator * 65536.0f + 0.5f));
#endif
  const auto rest = static_cast<std::int32_t>((v << 16) - estimate * sum);
  return estimate + static_cast<std::uint32_t>(rest >> 31);
}

/// Returns N·Q − S².
template <bool kNarrow, class Sum, class Squares>
CUDAVISION_HOST_DEVICE inline auto scaled_variance(Sum sum, Squares squares, std::uint32_t area) {
  using Variance = typename VarianceOf<kNarrow>::Type;
  if constexpr (kNarrow) {
    // A GPU adds a product of signed numbers in the instruction that multiplies them.
    const auto number = static_cast<std::int32_t>(sum);
    return static_cast<Variance>(area) * squares +
           static_cast<Variance>(static_cast<std::int64_t>(-number) * number);
  } else {
    return static_cast<Variance>(area) * squares - static_cast<Variance>(sum) * sum;
  }
}

/// Returns a in the lower half of the word and o in the upper one. sums is S and squares is Q.
template <bool kNarrow, class AnyWindow, class Sum>
CUDAVISION_HOST_DEVICE inline std::uint32_t line_of_window(Sum sums, Sum squares,
                                                           const AnyWindow& window, int bits) {
  const auto sum = static_cast<std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>>(sums);
  const auto variance = scaled_variance<kNarrow>(sum, squares, window.area);
  const std::uint32_t v = static_cast<std::uint32_t>(variance >> window.down) << window.up;
  const std::uint32_t slope = slope_of(v, window.epsilon);
  const std::uint32_t mean = window.quotient(sum << (16 - bits));
  const std::uint32_t offset = ((65536 - slope) * mean + 32767) >> 16;
  return slope | offset << 16;
}

/// Returns the result for a sample. slopes is A and offsets is O.
template <bool kNarrow, class AnyWindow, class Sum>
CUDAVISION_HOST_DEVICE inline std::uint32_t level_of(std::uint32_t sample, Sum slopes, Sum offsets,
                                                     const AnyWindow& window, int bits) {
  using Number = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
  const std::uint64_t scaled = static_cast<std::uint64_t>(slopes) * sample +
                               static_cast<std::uint64_t>(offsets) * (1u << bits) +
                               (std::uint64_t{window.area} << 15);
  return window.quotient(static_cast<Number>(scaled >> 16));
}

}  // namespace cudavision::guided
