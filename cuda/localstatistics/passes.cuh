// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: what windows_kernel makes of the sums of windows for each output.

#include <type_traits>

#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/windows/samples.cuh"
#include "cuda/windows/sums.cuh"

namespace cudavision::localstatistics {

using Output = Parameters::Output;

struct Settings {
  int output_bytes;  // of a sample
  int shift;         // of mean and stddev
  Bradley bradley;
  SauvolaEstimate sauvola;
  double k, range;
  std::uint32_t low;    // the black level of thresholds
  float low_offset;     // 2^23 more
  std::uint32_t white;  // of thresholds: all bits, or none, and black is the opposite
};

using Arguments = windows::Arguments<Settings, 1>;

/// Returns 1 / number within a few units in the last place.
__device__ inline float fast_inverse(std::uint32_t number) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(static_cast<float>(number)));
  return inverse;
}

/// Returns a root within a few units in the last place.
__device__ inline float fast_root(float square) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
  return root;
}

/// Results are words first: levels, or numbers whose sign bit tells whether a pixel is black. Only
/// sums of 32 bits have two kinds of windows: the sum itself is one, and the squares are the other.
template <Output kOutput, class Value, class AnySum, class AnyWindow>
struct StatisticsPass {
  using Arguments = localstatistics::Arguments;
  using Element = Value;
  using Sum = AnySum;
  static constexpr bool kSquared = needs_squares(kOutput);
  using AnySums = windows::Sums<Sum, kSquared ? 2 : 1>;
  static constexpr int kColumns = !kSquared && sizeof(Value) == 1 ? 16 : 8;
  static constexpr int kBlocks = kOutput == Output::mean && sizeof(Sum) == 4 ? 3 : 2;
  static constexpr int kWarpBlocks = sizeof(Sum) == 8 ? 2 : kOutput == Output::mean ? 6 : 4;
  static constexpr bool kGap = true, kWindowTable = false;

  static constexpr bool kBytes = sizeof(Value) == 1;
  static constexpr bool kNarrow = std::is_same_v<AnyWindow, NarrowWindow>;
  static constexpr bool kThreshold = kOutput == Output::bradley || kOutput == Output::sauvola;
  static constexpr bool kEstimates =
      kNarrow && (kOutput == Output::sauvola || (kBytes && kOutput == Output::stddev));

  /// The area of windows, and what follows from it for each of them.
  struct Window {
    std::uint32_t area = 0;
    typename AnyWindow::Real inverse = 0;
    std::uint32_t black_sum = 0;       // of windows at the black level
    std::uint64_t bradley_offset = 0;  // of Bradley::narrow_threshold()
  };
  static __device__ Window window_of(std::uint32_t area, const Settings& settings) {
    Window window;
    window.area = area;
    if constexpr (kNarrow && kOutput == Output::bradley)
      window.bradley_offset = settings.bradley.narrow_offset(area);
    else if constexpr (kNarrow)
      window.inverse = fast_inverse(area);
    else if constexpr (kOutput != Output::bradley)
      window.inverse = 1.0 / area;
    if constexpr (kNarrow && kOutput == Output::sauvola)
      window.black_sum = area * settings.low;
    return window;
  }

  static __device__ std::uint32_t result(std::uint32_t pixel, const AnySums& sums,
                                         const Window& window, const Settings& settings,
                                         bool& decided) {
    const auto sum = static_cast<typename AnyWindow::Sum>(sums.of[0]);
    if constexpr (kNarrow && kBytes && kOutput == Output::bradley) {
      // Neither number exceeds 255·N, which is less than 2^31.
      return pixel * window.area - settings.bradley.narrow_threshold(sum, window.bradley_offset);
    } else if constexpr (kNarrow && kOutput == Output::sauvola) {
      // A pixel in the low bits of 2^23 is a float without a conversion, which is slow.
      const float level = __uint_as_float(0x4b000000u | pixel) - settings.low_offset;
      const float stddev = root_of_variance(sums, window.area) * window.inverse;
      return __float_as_uint(settings.sauvola.difference(level, sum, window.black_sum,
                                                         window.inverse, stddev, decided));
    } else if constexpr (kEstimates) {
      const std::uint32_t bits = __float_as_uint(
          __fmaf_rn(root_of_variance(sums, window.area), window.inverse, stddev_offset));
      decided &= stddev_is_decided(bits);
      return bits >> 16 & 0xff;
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
      return black ? 0x80000000u : 0;
    } else {
      const auto variance = scaled_variance<AnyWindow>(sums.of[1], sum, area);
      if constexpr (kOutput == Output::stddev)
        return rounded_stddev<AnyWindow>(variance, area, window.inverse);
      else
        return is_black_by_sauvola(pixel, sum, variance, area, settings.k, settings.range,
                                   settings.low)
                   ? 0x80000000u
                   : 0;
    }
  }

  using Samples = std::conditional_t<kThreshold, windows::FourSamples<Value>, windows::NoSamples>;

  /// Four samples of one byte in the first word, or four of two bytes.
  using Quad = windows::FourSamples<std::uint16_t>;
  static __device__ Quad quad_of(const std::uint32_t (&results)[4], const Settings& settings) {
    std::uint32_t halves[2];
    if constexpr (kThreshold) {
      // Bytes, or halves of words, of all sign bits.
      halves[0] = sign_bytes(results[0], results[1]);
      halves[1] = sign_bytes(results[2], results[3]);
      if (settings.output_bytes == 1)
        return {{__byte_perm(halves[0], halves[1], 0x5410) ^ settings.white, 0}};
      return {{__byte_perm(halves[0], 0, 0x1100) ^ settings.white,
               __byte_perm(halves[1], 0, 0x1100) ^ settings.white}};
    } else {
      halves[0] = __byte_perm(results[0], results[1], 0x5410);
      halves[1] = __byte_perm(results[2], results[3], 0x5410);
      if (settings.output_bytes == 1)
        return {{__byte_perm(halves[0], halves[1], 0x6420), 0}};
      return {{halves[0] << settings.shift, halves[1] << settings.shift}};
    }
  }

  class Place {
   public:
    __device__ Place(const Settings& settings, const windows::Picture& picture, int x, int y)
        : settings_(settings), values_(picture, x, y), results_(picture, x, y) {}
    __device__ void next_row() {
      if constexpr (kThreshold)
        values_.next_row();
      results_.next_row();
    }
    __device__ Samples samples(int rows_below, int distance) const {
      if constexpr (kThreshold)
        return values_.load(rows_below, distance);
      else
        return {};
    }
    __device__ void store(int distance, const Quad& results) const {
      if (settings_.output_bytes == 1)
        results_.store<std::uint8_t>(distance, {{results.words[0]}});
      else
        results_.store<std::uint16_t>(distance, results);
    }

   private:
    const Settings& settings_;
    windows::SamplePlace<Value> values_;
    windows::ResultPlace results_;
  };

  class Single {
   public:
    __device__ Single(const Settings&, const windows::Picture& picture, int x, int y)
        : result_(picture, x, y) {
      if constexpr (kThreshold)
        sample_ = windows::SamplePlace<Value>(picture, x, y).one();
    }
    __device__ std::uint32_t sample() const { return sample_; }
    __device__ void store(std::uint32_t result, const Settings& settings) const {
      const std::uint32_t sample =
          kThreshold
              ? static_cast<std::uint32_t>(static_cast<std::int32_t>(result) >> 31) ^ settings.white
              : result << settings.shift;
      if (settings.output_bytes == 1)
        result_.store_one<std::uint8_t>(sample);
      else
        result_.store_one<std::uint16_t>(sample);
    }

   private:
    std::uint32_t sample_ = 0;
    windows::ResultPlace result_;
  };

 private:
  /// Returns bytes 0xff for numbers whose sign bit is set, else 0, in the low half.
  static __device__ std::uint32_t sign_bytes(std::uint32_t first, std::uint32_t second) {
    std::uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, 0x00fb;" : "=r"(bytes) : "r"(first), "r"(second));
    return bytes;
  }

  /// Returns √V within a few units in the last place.
  static __device__ float root_of_variance(const AnySums& sums, std::uint32_t area) {
    std::uint64_t variance;
    if constexpr (sizeof(Sum) == 4)
      variance = small_scaled_variance(sums.of[1], sums.of[0], area);
    else
      variance =
          scaled_variance<NarrowWindow>(sums.of[1], static_cast<std::uint32_t>(sums.of[0]), area);
    return fast_root(__fmaf_rn(static_cast<float>(static_cast<std::uint32_t>(variance >> 32)),
                               4294967296.0f,
                               static_cast<float>(static_cast<std::uint32_t>(variance))));
  }
};

}  // namespace cudavision::localstatistics
