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
template <class Window>
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_stddev(typename Window::Variance variance,
                                                           std::uint32_t area,
                                                           typename Window::Real inverse) {
  using Sum = typename Window::Sum;
  using Variance = typename Window::Variance;
  const auto estimate = static_cast<std::int32_t>(estimated_root(variance) * inverse);
  // A standard deviation is at most half the largest sample, so the edge of a narrow window fits 32
  // bits.
  const Sum edge = static_cast<Sum>(area) * static_cast<std::uint32_t>(2 * estimate + 1);
  return static_cast<std::uint32_t>(estimate +
                                    (static_cast<Variance>(edge) * edge <= 4 * variance));
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

}  // namespace cudavision::localstatistics
