// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The pass of windows_kernel for each output.

#include <type_traits>

#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/windows/reciprocal.h"
#include "cuda/windows/samples.cuh"
#include "cuda/windows/sums.cuh"

namespace cudavision::localstatistics {

using Output = Parameters::Output;

struct Settings {
  Bradley bradley;
  SauvolaEstimate sauvola;
  double k, range;
  std::uint32_t low;    // black level, for thresholds
  float low_offset;     // low + 2^23
  std::uint32_t white;  // for thresholds: all bits set, or none if inverted
};

using Arguments = windows::Arguments<Settings, 1>;

template <Output kOutput, class Value, class AnySum, class AnyWindow>
struct StatisticsPass {
  using Arguments = localstatistics::Arguments;
  using Element = Value;
  using Sum = AnySum;
  static constexpr bool kSquared = needs_squares(kOutput);
  using AnySums = windows::Sums<Sum, kSquared ? 2 : 1>;
  static constexpr int kColumns = !kSquared && sizeof(Value) == 1 ? 16 : 8;
  static constexpr int kBlocks = 2;
  static constexpr int kWarpBlocks = sizeof(Sum) == 8 ? 2 : kOutput == Output::mean ? 6 : 4;
  static constexpr bool kGap = true, kWindowTable = false;

  static constexpr bool kBytes = sizeof(Value) == 1;
  static constexpr bool kNarrow = std::is_same_v<AnyWindow, NarrowWindow>;
  static constexpr bool kThreshold = is_threshold(kOutput);
  using QuadPosition = windows::QuadPosition<Value, kThreshold, 0>;
  using ResultPosition = windows::ResultPosition<Value, kThreshold, 0>;
  static constexpr bool kExactAtEdges = kNarrow && kOutput == Output::mean;
  static constexpr bool kEstimates =
      kNarrow && (kOutput == Output::sauvola || (kBytes && kOutput == Output::stddev));

  struct Window {
    std::uint32_t area = 0;
    typename AnyWindow::Real inverse = 0;
    std::uint32_t black_sum = 0;       // area · black level
    std::uint64_t bradley_offset = 0;  // for Bradley::narrow_threshold()
    windows::Reciprocal division;      // for means
  };
  static __device__ Window window_of(std::uint32_t area, const Settings& settings) {
    Window window;
    window.area = area;
    if constexpr (kNarrow && kOutput == Output::bradley)
      window.bradley_offset = settings.bradley.narrow_offset(area);
    else if constexpr (kNarrow)
      window.inverse = approximate_reciprocal(static_cast<float>(area));
    else if constexpr (kOutput != Output::bradley)
      window.inverse = 1.0 / area;
    if constexpr (kNarrow && kOutput == Output::mean)
      window.division = windows::Reciprocal(area, 0);
    if constexpr (kNarrow && kOutput == Output::sauvola)
      window.black_sum = area * settings.low;
    return window;
  }

  static __device__ std::uint32_t result(std::uint32_t pixel, const AnySums& sums,
                                         const Window& window, const Settings& settings,
                                         bool& decided) {
    const auto sum = static_cast<typename AnyWindow::Sum>(sums.of[0]);
    if constexpr (kNarrow && kBytes && kOutput == Output::bradley) {
      // The difference fits into a signed word, because neither term exceeds 255·N < 2^31.
      return black_or_white(
          pixel * window.area - settings.bradley.narrow_threshold(sum, window.bradley_offset),
          settings);
    } else if constexpr (kNarrow && kOutput == Output::sauvola) {
      // Needs no conversion: the float 2^23 with the pixel in its low bits is 2^23 + pixel.
      const float level = __uint_as_float(0x4b000000u | pixel) - settings.low_offset;
      const float stddev = root_of_variance(sums, window.area) * window.inverse;
      return black_or_white(__float_as_uint(settings.sauvola.difference(
                                level, sum, window.black_sum, window.inverse, stddev, decided)),
                            settings);
    } else if constexpr (kEstimates) {
      const std::uint32_t bits = __float_as_uint(
          __fmaf_rn(root_of_variance(sums, window.area), window.inverse, stddev_offset));
      decided &= stddev_is_decided(bits);
      return bits >> 16 & 0xff;
    } else if constexpr (kNarrow && kOutput == Output::mean) {
      return window.division.divide(sum + window.area / 2);
    } else {
      return exact_result(pixel, sums, window, settings);
    }
  }

  static __device__ std::uint32_t exact_result(std::uint32_t pixel, const AnySums& sums,
                                               const Window& window, const Settings& settings) {
    const auto sum = static_cast<typename AnyWindow::Sum>(sums.of[0]);
    const std::uint32_t area = window.area;
    if constexpr (kOutput == Output::mean) {
      return rounded_mean<AnyWindow>(sum, area, window.inverse);
    } else if constexpr (kOutput == Output::bradley) {
      bool black;
      if constexpr (kNarrow)
        black = pixel * area < settings.bradley.narrow_threshold(sum, window.bradley_offset);
      else
        black = settings.bradley.is_black<WideWindow>(pixel, sum, area);
      return black ? ~settings.white : settings.white;
    } else {
      const auto variance = scaled_variance<AnyWindow>(sums.of[1], sum, area);
      if constexpr (kOutput == Output::stddev)
        return rounded_stddev<AnyWindow>(variance, area, window.inverse);
      else
        return is_black_by_sauvola(pixel, sum, variance, area, settings.k, settings.range,
                                   settings.low)
                   ? ~settings.white
                   : settings.white;
    }
  }

 private:
  /// Returns black if the sign bit is set, otherwise white.
  static __device__ std::uint32_t black_or_white(std::uint32_t bits, const Settings& settings) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) ^ settings.white;
  }

  /// Returns √V, within a few units in the last place.
  static __device__ float root_of_variance(const AnySums& sums, std::uint32_t area) {
    std::uint64_t variance;
    if constexpr (sizeof(Sum) == 4)
      variance = small_scaled_variance(sums.of[1], sums.of[0], area);
    else
      variance =
          scaled_variance<NarrowWindow>(sums.of[1], static_cast<std::uint32_t>(sums.of[0]), area);
    const float square =
        __fmaf_rn(static_cast<float>(static_cast<std::uint32_t>(variance >> 32)), 0x1p32f,
                  static_cast<float>(static_cast<std::uint32_t>(variance)));
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
  }
};

}  // namespace cudavision::localstatistics
