// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic of local statistics, one window at a time, shared by the CPU and the GPU. Divisions
// and square roots are estimated in floating point and then corrected in exact integers, so that
// the rounding of the estimate does not matter.

#include <cmath>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::localstatistics {

/// The types in which one window's sums are computed. A window is narrow if N·(2^b + 3) is less
/// than 2^32 for samples of b bits; then S fits 32 bits and V fits 62.
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

/// Returns true if windows of `pixels` pixels are narrow.
inline bool is_narrow(std::uint64_t pixels, int bits) {
  return pixels * ((1u << bits) + 3u) < std::uint64_t{1} << 32;
}

/// Returns n for 2^(n − 1) ≤ number < 2^n.
CUDAVISION_HOST_DEVICE inline int bits_of(std::uint32_t number) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(number));
#else
  return number == 0 ? 0 : 32 - __builtin_clz(number);
#endif
}

/// Returns (2S + N) div 2N. inverse is 1/N, within a few units in the last place.
template <class Window>
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_mean(typename Window::Sum sum,
                                                         std::uint32_t area,
                                                         typename Window::Real inverse) {
  using Sum = typename Window::Sum;
  using Signed = std::make_signed_t<Sum>;
  // S / N is below 2^16, so the truncated estimate is the quotient, or by its error one less, or
  // one more if that is the nearest integer. There are no branches, so that the compiler can
  // vectorise.
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

/// Converts an integer and rounds once, halves to even.
CUDAVISION_HOST_DEVICE inline double to_double(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return __ull2double_rn(value);
#else
  // Only the addition rounds. Before AVX-512, only conversions of 32 bits are vectorised.
  return 4294967296.0 * static_cast<std::uint32_t>(value >> 32) + static_cast<std::uint32_t>(value);
#endif
}
CUDAVISION_HOST_DEVICE inline double to_double(unsigned __int128 value) {
  // The first 64 bits decide how to round, together with whether any bit below them is set.
  int shift = 0;
  std::uint64_t lost = 0;
  while (static_cast<std::uint64_t>(value >> 64) != 0) {
    lost |= static_cast<std::uint64_t>(value) & 1;
    value >>= 1;
    ++shift;
  }
  double result = to_double(static_cast<std::uint64_t>(value) | lost);
  for (; shift > 0; --shift)
    result *= 2;
  return result;
}

CUDAVISION_HOST_DEVICE inline float estimated_root(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return std::sqrt(static_cast<float>(value));
#else
  return std::sqrt(static_cast<float>(to_double(value)));
#endif
}
CUDAVISION_HOST_DEVICE inline double estimated_root(unsigned __int128 value) {
  return std::sqrt(to_double(value));
}

/// Returns √V / N, rounded half up: the largest s for which N·(2s − 1) ≤ 2√V, or 0. That is the
/// same as (2r + (V − r² > r) + N) div 2N with r = isqrt(V), because 2r + (V − r² > r) = isqrt(4V).
/// estimate is the integral part of an estimate of √V / N that errs by less than a half, so the
/// result is the estimate or one more.
template <class Window>
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_stddev(typename Window::Variance variance,
                                                           std::uint32_t area,
                                                           std::int32_t estimate) {
  using Sum = typename Window::Sum;
  using Variance = typename Window::Variance;
  // A standard deviation is at most half the largest sample, so the edge of a narrow window fits 32
  // bits.
  const Sum edge = static_cast<Sum>(area) * static_cast<std::uint32_t>(2 * estimate + 1);
  return static_cast<std::uint32_t>(estimate +
                                    (static_cast<Variance>(edge) * edge <= 4 * variance));
}
template <class Window>
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_stddev(typename Window::Variance variance,
                                                           std::uint32_t area,
                                                           typename Window::Real inverse) {
  return rounded_stddev<Window>(variance, area,
                                static_cast<std::int32_t>(estimated_root(variance) * inverse));
}

/// Returns the factor of the mean in Bradley's threshold: 1 − ratio in units of 2^−16.
inline std::uint32_t bradley_factor(double ratio) {
  return 65536 - static_cast<std::uint32_t>(std::lrint(ratio * 65536));
}

CUDAVISION_HOST_DEVICE inline bool is_black_by_bradley(std::uint32_t value, std::uint64_t sum,
                                                       std::uint32_t area, std::uint32_t factor) {
  return (static_cast<std::uint64_t>(value) * area << 16) < sum * factor;
}

template <class Variance>
CUDAVISION_HOST_DEVICE inline bool is_black_by_sauvola(std::uint32_t value, std::uint64_t sum,
                                                       Variance variance, std::uint32_t area,
                                                       double k, double range) {
  const double n = area;
  const double stddev = std::sqrt(to_double(variance)) / n;
  const double threshold = to_double(sum) / n * (1 + k * (stddev / range - 1));
  return value < threshold;
}

/// Sauvola's threshold in 32-bit floating point, which decides most pixels: T = S/N·(a + b·√V/N)
/// with a = 1 − k and b = k/range. No term is negative, so no error is amplified: each operation
/// and the factors err by a few 2^−24 of the result.
struct SauvolaEstimate {
  float constant = 0, slope = 0;

  SauvolaEstimate() = default;
  /// With ranges so small that √V/N/range may be infinite, the threshold is never a number.
  SauvolaEstimate(double k, double range)
      : constant(range < 1e-290 ? NAN : static_cast<float>(1 - k)),
        slope(static_cast<float>(k / range)) {}

  /// root is √V and inverse is 1/N, each within a few units in the last place.
  CUDAVISION_HOST_DEVICE float threshold(float sum, float root, float inverse) const {
    return sum * inverse * (constant + slope * (root * inverse));
  }

  /// Returns true if the pixel is so far from the threshold that neither the errors of the estimate
  /// nor those of the formula in binary64 matter. The latter are less than 2^−20 where the
  /// threshold is small because k = 1. Thresholds that are infinite or no numbers decide nothing.
  CUDAVISION_HOST_DEVICE static bool decides(float value, float threshold) {
    return std::fabs(value - threshold) > threshold * 0x1p-17f + 0x1p-20f;
  }
};

/// Divides by twice the area of a window: (2S + N) div 2N = (2S + N)·magic div 2^(32 + shift), with
/// 2^shift ≤ N < 2^(shift + 1) and magic = 2^(31 + shift) / N rounded up. The error of the magic
/// number adds less than (2S + N)·N / (N·2^(32 + shift)) to the quotient, which must not reach
/// 1 / 2N; as S < N·2^b, that is so for N < 2^(29 − b).
struct MeanDivision {
  std::uint32_t magic = 0;
  int shift = 0;

  CUDAVISION_HOST_DEVICE static bool is_exact(std::uint32_t largest_area, int bits) {
    return largest_area >> (29 - bits) == 0;
  }

  MeanDivision() = default;
  /// inverse is 1/N, within a few units in the last place. N is less than 2^21.
  CUDAVISION_HOST_DEVICE MeanDivision(std::uint32_t area, float inverse) {
    shift = bits_of(area) - 1;
    // The estimate errs by less than 2^10, and then by less than 1.
    const std::uint64_t power = std::uint64_t{1} << (31 + shift);
    magic = static_cast<std::uint32_t>(static_cast<float>(power) * inverse);
    auto rest = static_cast<std::int64_t>(power - std::uint64_t{magic} * area);
    magic += static_cast<std::uint32_t>(static_cast<std::int32_t>(
        static_cast<float>(static_cast<std::int32_t>(rest >> 1)) * 2 * inverse));
    rest = static_cast<std::int64_t>(power - std::uint64_t{magic} * area);
    for (; rest > 0; rest -= area)
      ++magic;
    for (; rest <= -std::int64_t{area}; rest += area)
      --magic;
  }

  CUDAVISION_HOST_DEVICE std::uint32_t mean(std::uint32_t sum, std::uint32_t area) const {
#ifdef __CUDA_ARCH__
    return __umulhi(2 * sum + area, magic) >> shift;
#else
    return static_cast<std::uint32_t>(std::uint64_t{2 * sum + area} * magic >> (32 + shift));
#endif
  }
};

/// Estimates √V / N for samples of 8 bits from the upper bits of V. With N < 2^n, V is less than
/// 2^(2n + 14), so `shift` leaves 32 bits; those left out change the quotient by less than 2^−8.
struct CoarseRoot {
  int shift = 0;
  float scale = 0;

  CoarseRoot() = default;
  /// inverse is 1/N, within a few units in the last place.
  CUDAVISION_HOST_DEVICE CoarseRoot(std::uint32_t area, float inverse) {
    const int halves = bits_of(area) > 9 ? bits_of(area) - 9 : 0;
    shift = 2 * halves;
    scale = inverse * static_cast<float>(1 << halves);
  }

  /// root(x) must return √x within a few units in the last place.
  template <class Root>
  CUDAVISION_HOST_DEVICE float operator()(std::uint64_t variance, const Root& root) const {
    return root(static_cast<float>(static_cast<std::uint32_t>(variance >> shift))) * scale;
  }
};

}  // namespace cudavision::localstatistics
