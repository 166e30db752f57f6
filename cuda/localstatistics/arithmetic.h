// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic for one window, shared by both backends. Divisions and square roots are estimated in
// floating point and corrected with exact integers.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda/core/view.h"

namespace cudavision::localstatistics {

/// Types for the sums of a window. A window is narrow if N·(2^b + 3) < 2^32 for samples of b bits.
/// In a narrow window, the sum S fits into 32 bits, and V (see localstatistics.h) into 62 bits.
struct NarrowWindow {
  using Sum = std::uint32_t;
  using Variance = std::uint64_t;
  using Real = float;
};
struct WideWindow {
  using Sum = std::uint64_t;
  using Variance = unsigned __int128;
  using Real = double;
};

inline bool is_narrow(std::uint64_t pixels, int bits) {
  return pixels * ((1u << bits) + 3u) < std::uint64_t{1} << 32;
}

/// Returns (2S + N) div 2N. inverse is 1/N, within a few units in the last place.
template <class Window>
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_mean(typename Window::Sum sum,
                                                         std::uint32_t area,
                                                         typename Window::Real inverse) {
  using Sum = typename Window::Sum;
  using Signed = std::make_signed_t<Sum>;
  // S / N is below 2^16, so the truncated estimate is off by at most one, and it is too large only
  // if S / N rounds up to it. Without branches, the compiler can vectorise the correction.
  const auto estimate =
      static_cast<std::int32_t>(static_cast<typename Window::Real>(sum) * inverse);
  const auto rest = static_cast<Signed>(sum - static_cast<Sum>(estimate) * area);
  return static_cast<std::uint32_t>(estimate + (2 * rest >= static_cast<Signed>(area)));
}

/// Returns V = N·Q − S².
template <class Window>
CUDAVISION_HOST_DEVICE inline typename Window::Variance scaled_variance(std::uint64_t squares,
                                                                        typename Window::Sum sum,
                                                                        std::uint32_t area) {
  using Variance = typename Window::Variance;
  return static_cast<Variance>(area) * squares - static_cast<Variance>(sum) * sum;
}

/// Like scaled_variance(), for sums below 2^31 and V < 2^63.
CUDAVISION_HOST_DEVICE inline std::uint64_t small_scaled_variance(std::uint32_t squares,
                                                                  std::uint32_t sum,
                                                                  std::uint32_t area) {
  const auto negative = static_cast<std::int32_t>(0 - sum);
  return std::uint64_t{area} * squares +
         static_cast<std::uint64_t>(std::int64_t{negative} * static_cast<std::int32_t>(sum));
}

/// Converts an integer with a single rounding, halves to even.
CUDAVISION_HOST_DEVICE inline double to_double(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return __ull2double_rn(value);
#else
  // Only the addition rounds. AVX2 has vector conversions only for 32-bit integers.
  return 4294967296.0 * static_cast<std::uint32_t>(value >> 32) + static_cast<std::uint32_t>(value);
#endif
}
CUDAVISION_HOST_DEVICE inline double to_double(unsigned __int128 value) {
  return static_cast<double>(value);
}

CUDAVISION_HOST_DEVICE inline float approximate_sqrt(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return std::sqrt(static_cast<float>(value));
#else
  return std::sqrt(static_cast<float>(to_double(value)));
#endif
}
CUDAVISION_HOST_DEVICE inline double approximate_sqrt(unsigned __int128 value) {
  return std::sqrt(to_double(value));
}

/// Returns √V / N, rounded half up: the largest s with N·(2s − 1) ≤ 2√V, or 0. This equals (2r + (V
/// − r² > r) + N) div 2N with r = isqrt(V), because 2r + (V − r² > r) = isqrt(4V). inverse is 1/N,
/// within a few units in the last place. The error of the estimate is below 1/2, so its integral
/// part is the result or one less.
template <class Window>
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_stddev(typename Window::Variance variance,
                                                           std::uint32_t area,
                                                           typename Window::Real inverse) {
  using Sum = typename Window::Sum;
  using Variance = typename Window::Variance;
  const auto estimate = static_cast<std::int32_t>(approximate_sqrt(variance) * inverse);
  // Fits into 32 bits in a narrow window, because a deviation is at most half the largest sample.
  const Sum edge = static_cast<Sum>(area) * static_cast<std::uint32_t>(2 * estimate + 1);
  return static_cast<std::uint32_t>(estimate +
                                    (static_cast<Variance>(edge) * edge <= 4 * variance));
}

inline std::uint32_t black_level(bool limited_range, int bits) {
  return limited_range ? 16u << (bits - 8) : 0;
}

/// Bradley's threshold without negative numbers. With f = 2^16 − rint(ratio·2^16) and c = lo·(2^16
/// − f), (p − lo)·N·2^16 < (S − lo·N)·f is equivalent to p·N·2^16 < S·f + N·c. Neither side exceeds
/// N·(2^b − 1)·2^16 < 2^64, because S ≤ N·(2^b − 1) and lo < 2^b − 1.
///
/// In narrow windows, this comparison is p·N < T, where T is (S·f + N·c) / 2^16 rounded up. T is
/// the high word of S·(f·2^16) + (N·c + 2^16 − 1)·2^16. For ratio = 0, f·2^16 = 2^32 does not fit
/// into a word. 2^32 − 1 gives the same high word: this subtracts S from the low word 2^32 − 2^16,
/// without a borrow, because S < 2^32 − 4·N, and S < 2^30 if N < 2^14.
struct Bradley {
  std::uint32_t factor = 0;  ///< f
  std::uint32_t black = 0;   ///< c, at most 2^28
  std::uint32_t scale = 0;   ///< f·2^16, or 2^32 − 1

  Bradley() = default;
  Bradley(double ratio, std::uint32_t low) {
    const auto share = static_cast<std::uint32_t>(std::lrint(ratio * 65536));
    factor = 65536 - share;
    black = low * share;
    scale = share == 0 ? ~0u : factor << 16;
  }

  template <class Window>
  CUDAVISION_HOST_DEVICE bool is_black(std::uint32_t value, typename Window::Sum sum,
                                       std::uint32_t area) const {
    if constexpr (std::is_same_v<Window, NarrowWindow>)
      return value * area < narrow_threshold(sum, narrow_offset(area));
    else
      return (std::uint64_t{value} * area << 16) < sum * factor + std::uint64_t{area} * black;
  }

  /// The part of T that depends only on the area.
  CUDAVISION_HOST_DEVICE std::uint64_t narrow_offset(std::uint32_t area) const {
    return (std::uint64_t{area} * black + 65535) << 16;
  }
  /// Returns T, which is at most N·(2^b − 1).
  CUDAVISION_HOST_DEVICE std::uint32_t narrow_threshold(std::uint32_t sum,
                                                        std::uint64_t offset) const {
    return static_cast<std::uint32_t>((std::uint64_t{sum} * scale + offset) >> 32);
  }
};

/// The sum (at most 2^48), low · area and their difference are exact in binary64.
template <class Variance>
CUDAVISION_HOST_DEVICE inline bool is_black_by_sauvola(std::uint32_t value, std::uint64_t sum,
                                                       Variance variance, std::uint32_t area,
                                                       double k, double range, std::uint32_t low) {
  const double n = area;
  const double stddev = std::sqrt(to_double(variance)) / n;
  const double mean = (to_double(sum) - static_cast<std::int32_t>(low) * n) / n;
  const double threshold = mean * (1 + k * (stddev / range - 1));
  return static_cast<std::int32_t>(value - low) < threshold;
}

/// Sauvola's threshold in binary32, which is precise enough for most pixels: T = m·(a + b·√V/N)
/// with m = (S − lo·N)/N, a = 1 − k and b = k/range. No error is amplified, because S − lo·N is
/// exact and the factor has no negative term: each operation has a relative error of a few 2^−24.
struct SauvolaEstimate {
  float constant = 0, slope = 0;

  SauvolaEstimate() = default;
  /// The threshold is NaN if the range is so small that √V/N/range may be infinite.
  SauvolaEstimate(double k, double range)
      : constant(range < 1e-290 ? NAN : static_cast<float>(1 - k)),
        slope(static_cast<float>(k / range)) {}

  /// Returns p − lo − T, and clears `decided` if the sign of this result may be wrong. level is
  /// p − lo, and black_sum is lo·N < 2^28. inverse is 1/N and stddev √V/N, within a few ulps.
  CUDAVISION_HOST_DEVICE float difference(float level, std::uint32_t sum, std::uint32_t black_sum,
                                          float inverse, float stddev, bool& decided) const {
    // S − lo·N is in [−lo·N, 2^32 − lo·N). From 2^31 on, `above` is too small by 2^32.
    const auto above = static_cast<std::int32_t>(sum - black_sum);
    auto exact = static_cast<float>(above);
    if (above < -static_cast<std::int32_t>(black_sum))
      exact += 0x1p32f;
    const float mean = exact * inverse;
    const float factor = std::fma(slope, stddev, constant);
    const float result = std::fma(-mean, factor, level);
    // The bound exceeds the errors of the estimate and of the formula in binary64. The latter is
    // below 2^-50 of the mean if k = 1 makes the threshold small. If all samples are lo, the result
    // and the bound are 0. A NaN clears `decided`.
    decided &= std::fabs(result) >= std::fabs(std::fma(mean, factor, mean)) * 0x1p-17f;
    return result;
  }
};

/// Rounds an 8-bit standard deviation: if stddev_is_decided(), bits 16 to 23 of the float
/// `deviation + stddev_offset` are the deviation rounded half up. The deviation may be the product
/// of √V and 1/N, each within a few ulps. It is at most 127.5, so its error is below 2^-14.
constexpr float stddev_offset = 128.5f + 0x1p-13f;
/// Returns false if the sum is less than 2^-12 above an integer: the true level may then be one
/// less. Also valid for sums from 256 on, whose level is 128.
CUDAVISION_HOST_DEVICE inline bool stddev_is_decided(std::uint32_t bits) {
  return (bits & 0xfff0) != 0;
}

}  // namespace cudavision::localstatistics
