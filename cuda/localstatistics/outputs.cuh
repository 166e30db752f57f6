// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Writes the outputs of a lane's windows.

#include <type_traits>

#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/localstatistics/rows.cuh"

namespace cudavision::localstatistics {

using Output = Parameters::Output;

struct OutputArguments {
  std::uint8_t* data;
  std::int64_t pitch;
  int sample_bytes;
  int shift;     // of mean and stddev
  bool aligned;  // Four pixels or samples lie in aligned words wherever x is a multiple of 4.
  MeanScale mean;
  Bradley bradley;
  SauvolaEstimate sauvola;
  double k, range;
  std::uint32_t low;    // the black level of thresholds
  float low_offset;     // 2^23 more
  std::uint32_t white;  // of thresholds: all bits, or none, and black is the opposite
};

namespace {

/// Estimates a root within a few units in the last place.
struct FastRoot {
  __device__ float operator()(float square) const {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
  }
};

/// Returns 1 / number within a few units in the last place.
__device__ inline float fast_inverse(std::uint32_t number) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(static_cast<float>(number)));
  return inverse;
}

/// Returns a number greater than 1 / number, by at most 3·2^-23 of it: the estimate errs by one
/// unit in the last place. If a factor exceeds 1 / number by less than 2^-20 of it, the product of
/// the factor and a sum below 2^19, rounded to the nearest integer, is sum / number rounded half
/// up: what the product exceeds the quotient by lifts it over a half that the quotient meets, and
/// is less than half of 1 / number, so that it lifts no other quotient over a half.
__device__ inline float inverse_above(std::uint32_t number) {
  return __uint_as_float(__float_as_uint(fast_inverse(number)) + 2);
}

/// The area of windows, and what follows from it for each of them.
template <Output kOutput, bool kNarrow>
struct WindowArea {
  std::uint32_t pixels = 0;
  float inverse = 0;
  std::uint32_t black_sum = 0;       // of windows at the black level
  std::uint64_t bradley_offset = 0;  // of Bradley::narrow_threshold()

  WindowArea() = default;
  __device__ WindowArea(std::uint32_t area, const OutputArguments& a) : pixels(area) {
    if constexpr (kNarrow && kOutput == Output::bradley)
      bradley_offset = a.bradley.narrow_offset(area);
    else if constexpr (kNarrow)
      inverse = fast_inverse(area);
    if constexpr (kNarrow && kOutput == Output::sauvola)
      black_sum = area * a.low;
  }
};

/// The height of the windows of a row, and what follows from it for windows of full width.
template <Output kOutput, bool kNarrow>
struct RowOfWindows {
  std::uint32_t rows = 0;
  WindowArea<kOutput, kNarrow> area;  // of those that are not cut at the left or right
  MeanDivision division;

  __device__ void set(std::uint32_t new_rows, std::uint32_t columns, const OutputArguments& a,
                      std::uint32_t largest) {
    rows = new_rows;
    area = {rows * columns << a.mean.scale, a};
    if constexpr (kNarrow && kOutput == Output::mean)
      if (a.mean.exact)
        division = MeanDivision(area.pixels, area.inverse, a.mean.position, largest);
  }
};

/// Writes the results for the windows of a row. Results are words first: levels of bytes are byte 2
/// of them, other levels are the low half, and the sign bit tells whether a pixel is black.
template <Output kOutput, class Value, class Sum>
class WindowOutput {
 public:
  static constexpr bool kBytes = sizeof(Value) == 1;
  static constexpr bool kNarrow = sizeof(Sum) == 4;
  static constexpr bool kThreshold = kOutput == Output::bradley || kOutput == Output::sauvola;
  using Window = std::conditional_t<kNarrow, NarrowWindow, WideWindow>;

  __device__ WindowOutput(const OutputArguments& a, const PictureRows& picture, int radius)
      : a_(a), picture_(picture), radius_(radius) {}

  __device__ void begin_row(int y) {
    const auto rows =
        static_cast<std::uint32_t>(min(y + radius_, picture_.height - 1) - max(y - radius_, 0) + 1);
    if (rows != row_.rows)
      row_.set(rows, static_cast<std::uint32_t>(2 * radius_ + 1), a_,
               kBytes ? 255 : picture_.largest);
  }

  /// Returns the result for a pixel whose window is not cut at the left or right. Makes decided
  /// false if it may be wrong.
  template <bool kDivides, class Square>
  __device__ std::uint32_t result(std::uint32_t pixel, Sum sum, Square squares,
                                  bool& decided) const {
    if constexpr (kDivides && kOutput == Output::mean) {
      const std::uint32_t word = row_.division.mean(static_cast<std::uint32_t>(sum));
      return kBytes ? word : word >> a_.mean.position;
    } else {
      return result_of(pixel, sum, squares, row_.area, decided);
    }
  }
  /// Returns the same if the window may be cut.
  template <class Square>
  __device__ std::uint32_t cut_result(int x, std::uint32_t pixel, Sum sum, Square squares,
                                      bool& decided) const {
    return result_of(pixel, sum, squares, cut_area(x), decided);
  }

  /// Writes four pixels to an aligned word.
  __device__ void store(std::uint8_t* to, int sample_bytes,
                        const std::uint32_t (&results)[4]) const {
    if (sample_bytes == 1)
      *reinterpret_cast<std::uint32_t*>(to) = bytes_of(results);
    else
      *reinterpret_cast<uint2*>(to) =
          make_uint2(sample_of(results[0]) | sample_of(results[1]) << 16,
                     sample_of(results[2]) | sample_of(results[3]) << 16);
  }
  /// Writes one pixel.
  __device__ void store_one(std::uint8_t* to, std::uint32_t result) const {
    const std::uint32_t sample = sample_of(result);
    to[0] = static_cast<std::uint8_t>(sample);
    if (a_.sample_bytes == 2)
      to[1] = static_cast<std::uint8_t>(sample >> 8);
  }
  /// Returns the results of four pixels as bytes.
  __device__ std::uint32_t bytes_of(const std::uint32_t (&results)[4]) const {
    if constexpr (kThreshold)
      return select_bytes(sign_bytes(results[0], results[1]), sign_bytes(results[2], results[3]),
                          0x5410) ^
             a_.white;
    constexpr std::uint32_t kSelector = kBytes ? 0x0062 : 0x0040;
    return select_bytes(select_bytes(results[0], results[1], kSelector),
                        select_bytes(results[2], results[3], kSelector), 0x5410);
  }

  /// Returns the result for any pixel, without doubt.
  template <class Square>
  __device__ std::uint32_t exact_result(int x, std::uint32_t pixel, Sum sum, Square squares) const {
    return exact_result_of(pixel, sum, squares, cut_area(x));
  }

 private:
  using Area = WindowArea<kOutput, kNarrow>;

  __device__ Area cut_area(int x) const {
    const int columns = min(x + radius_, picture_.width - 1) - max(x - radius_, 0) + 1;
    return {row_.rows * static_cast<std::uint32_t>(columns) << a_.mean.scale, a_};
  }

  /// Returns bytes 0xff for numbers whose sign bit is set, else 0, in the low half.
  static __device__ std::uint32_t sign_bytes(std::uint32_t first, std::uint32_t second) {
    std::uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, 0x00fb;" : "=r"(bytes) : "r"(first), "r"(second));
    return bytes;
  }

  /// Returns what is stored as a sample.
  __device__ std::uint32_t sample_of(std::uint32_t result) const {
    if constexpr (kThreshold)
      return (static_cast<std::uint32_t>(static_cast<std::int32_t>(result) >> 31) ^ a_.white) &
             0xffff;
    return (kBytes ? result >> 16 & 0xff : result) << a_.shift;
  }

  static __device__ std::uint32_t result_of_level(std::uint32_t level) {
    return kBytes ? level << 16 : level;
  }
  static __device__ std::uint32_t result_of_black(bool black) { return black ? 0x80000000u : 0; }

  template <class Square>
  __device__ std::uint32_t result_of(std::uint32_t pixel, Sum sum, Square squares, const Area& area,
                                     bool& decided) const {
    if constexpr (kNarrow && kBytes && kOutput == Output::bradley) {
      // Neither number exceeds 255·N, which is less than 2^31.
      return pixel * area.pixels - a_.bradley.narrow_threshold(sum, area.bradley_offset);
    }
    if constexpr (kNarrow && kOutput == Output::sauvola) {
      // A pixel in the low bits of 2^23 is a float without a conversion, which is slow.
      const float level = __uint_as_float(0x4b000000u | pixel) - a_.low_offset;
      const float stddev = root_of_variance(sum, squares, area.pixels) * area.inverse;
      return __float_as_uint(
          a_.sauvola.difference(level, sum, area.black_sum, area.inverse, stddev, decided));
    }
    if constexpr (kNarrow && kBytes && kOutput == Output::stddev) {
      const std::uint32_t bits = __float_as_uint(
          __fmaf_rn(root_of_variance(sum, squares, area.pixels), area.inverse, stddev_offset));
      decided &= stddev_is_decided(bits);
      return bits;
    }
    return exact_result_of(pixel, sum, squares, area);
  }

  template <class Square>
  __device__ std::uint32_t exact_result_of(std::uint32_t pixel, Sum sum, Square squares,
                                           const Area& area) const {
    const std::uint32_t n = area.pixels;
    typename Window::Real inverse;
    if constexpr (kNarrow)
      inverse = area.inverse;
    else
      inverse = 1.0 / n;
    if constexpr (kOutput == Output::mean)
      return result_of_level(rounded_mean<Window>(sum, n, inverse));
    else if constexpr (kOutput == Output::bradley && kNarrow)
      return result_of_black(pixel * n < a_.bradley.narrow_threshold(sum, area.bradley_offset));
    else if constexpr (kOutput == Output::bradley)
      return result_of_black(a_.bradley.is_black<WideWindow>(pixel, sum, n));
    else {
      const auto variance = scaled_variance<Window>(squares, sum, n);
      if constexpr (kOutput == Output::stddev)
        return result_of_level(rounded_stddev<Window>(variance, n, inverse));
      else
        return result_of_black(
            is_black_by_sauvola(pixel, sum, variance, n, a_.k, a_.range, a_.low));
    }
  }

  /// Returns √V within a few units in the last place.
  template <class Square>
  static __device__ float root_of_variance(Sum sum, Square squares, std::uint32_t area) {
    std::uint64_t variance;
    if constexpr (sizeof(Square) == 4)
      variance = small_scaled_variance(squares, sum, area);
    else
      variance = scaled_variance<Window>(squares, sum, area);
    return FastRoot()(__fmaf_rn(static_cast<float>(static_cast<std::uint32_t>(variance >> 32)),
                                4294967296.0f,
                                static_cast<float>(static_cast<std::uint32_t>(variance))));
  }

  const OutputArguments& a_;
  const PictureRows& picture_;
  int radius_;
  RowOfWindows<kOutput, kNarrow> row_;
};

}  // namespace
}  // namespace cudavision::localstatistics
