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
  bool divides;  // by MeanDivision, which is exact for all areas
  std::uint32_t bradley_factor;
  SauvolaEstimate sauvola;
  double k, range;
  std::uint32_t black, white;  // of thresholds
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

/// The height of the windows of a row, and what follows from it for windows of full width.
template <Output kOutput, bool kNarrow>
struct RowOfWindows {
  std::uint32_t rows = 0;
  std::uint32_t area = 0;  // of those that are not cut at the left or right
  float inverse = 0;
  MeanDivision division;
  CoarseRoot root;

  __device__ void set(std::uint32_t new_rows, std::uint32_t columns, bool divides) {
    rows = new_rows;
    area = rows * columns;
    if constexpr (kNarrow && kOutput != Output::bradley) {
      inverse = fast_inverse(area);
      if (kOutput == Output::mean && divides)
        division = MeanDivision(area, inverse);
      root = CoarseRoot(area, inverse);
    }
  }
};

/// Writes the results for the windows of a row.
template <Output kOutput, class Value, class Sum>
class WindowOutput {
 public:
  static constexpr bool kNarrow = sizeof(Sum) == 4;
  static constexpr bool kThreshold = kOutput == Output::bradley || kOutput == Output::sauvola;
  using Window = std::conditional_t<kNarrow, NarrowWindow, WideWindow>;

  __device__ WindowOutput(const OutputArguments& a, const PictureRows& picture, int radius)
      : a_(a), picture_(picture), radius_(radius) {}

  __device__ void begin_row(int y) {
    const auto rows =
        static_cast<std::uint32_t>(min(y + radius_, picture_.height - 1) - max(y - radius_, 0) + 1);
    if (rows != row_.rows)
      row_.set(rows, static_cast<std::uint32_t>(2 * radius_ + 1), a_.divides);
  }

  /// Returns what is written for a pixel whose window is not cut at the left or right.
  template <bool kDivides, class Square>
  __device__ std::uint32_t value(std::uint32_t pixel, Sum sum, Square squares) const {
    if constexpr (kDivides)
      return row_.division.mean(static_cast<std::uint32_t>(sum), row_.area);
    else
      return value_of(pixel, sum, squares, row_.area, row_.inverse, row_.root);
  }

  /// Writes four pixels to an aligned word, 128·k pixels after `to`.
  __device__ void store_aligned(std::uint8_t* to, int k, const std::uint32_t (&values)[4]) const {
    if (a_.sample_bytes == 1)
      *reinterpret_cast<std::uint32_t*>(to + 128 * k) =
          select_bytes(select_bytes(values[0], values[1], 0x0040),
                       select_bytes(values[2], values[3], 0x0040), 0x5410);
    else
      *reinterpret_cast<uint2*>(to + 256 * k) =
          make_uint2(select_bytes(values[0] << a_.shift, values[1] << a_.shift, 0x5410),
                     select_bytes(values[2] << a_.shift, values[3] << a_.shift, 0x5410));
  }

  /// Returns the same if the window may be cut.
  template <class Square>
  __device__ std::uint32_t cut_value(int x, std::uint32_t pixel, Sum sum, Square squares) const {
    const std::uint32_t area =
        row_.rows *
        static_cast<std::uint32_t>(min(x + radius_, picture_.width - 1) - max(x - radius_, 0) + 1);
    const float inverse = kNarrow ? fast_inverse(area) : 0;
    return value_of(pixel, sum, squares, area, inverse, CoarseRoot(area, inverse));
  }

  /// Writes any pixel.
  template <class Square>
  __device__ void write_one(int y, int x, Sum sum, Square squares) const {
    const std::uint32_t pixel = kThreshold ? picture_.pixel<Value>(picture_.row(y), x) : 0;
    const std::uint32_t value = cut_value(x, pixel, sum, squares) << a_.shift;
    std::uint8_t* const to = a_.data + a_.pitch * y + std::int64_t{a_.sample_bytes} * x;
    to[0] = static_cast<std::uint8_t>(value);
    if (a_.sample_bytes == 2)
      to[1] = static_cast<std::uint8_t>(value >> 8);
  }

 private:
  /// inverse and root count only if kNarrow.
  template <class Square>
  __device__ std::uint32_t value_of(std::uint32_t pixel, Sum sum, Square squares,
                                    std::uint32_t area, float narrow_inverse,
                                    const CoarseRoot& root) const {
    typename Window::Real inverse;
    if constexpr (kNarrow)
      inverse = narrow_inverse;
    else
      inverse = 1.0 / area;
    typename Window::Variance variance = 0;
    if constexpr (needs_squares(kOutput))
      variance = scaled_variance<Window>(squares, sum, area);

    if constexpr (kOutput == Output::mean) {
      return rounded_mean<Window>(sum, area, inverse);
    } else if constexpr (kOutput == Output::stddev) {
      if constexpr (kNarrow && sizeof(Value) == 1) {
        const float estimate = __fadd_rz(root(variance, FastRoot()), 8388608.0f);
        return rounded_stddev<Window>(variance, area,
                                      static_cast<std::int32_t>(__float_as_uint(estimate) & 0xff));
      } else {
        return rounded_stddev<Window>(variance, area, inverse);
      }
    } else {
      bool black;
      if constexpr (kOutput == Output::bradley)
        black = is_black_by_bradley(pixel, sum, area, a_.bradley_factor);
      else
        black = is_black_by_sauvola(pixel, sum, variance, area, inverse);
      return black ? a_.black : a_.white;
    }
  }

  __device__ bool is_black_by_sauvola(std::uint32_t value, Sum sum,
                                      typename Window::Variance variance, std::uint32_t area,
                                      typename Window::Real inverse) const {
    if constexpr (kNarrow) {
      const float root = FastRoot()(
          4294967296.0f * static_cast<float>(static_cast<std::uint32_t>(variance >> 32)) +
          static_cast<float>(static_cast<std::uint32_t>(variance)));
      const float threshold = a_.sauvola.threshold(static_cast<float>(sum), root, inverse);
      if (SauvolaEstimate::decides(static_cast<float>(value), threshold))
        return static_cast<float>(value) < threshold;
      // No pixel of such a window lies below a threshold, which is 0 or no number.
      if (sum == 0)
        return false;
    }
    return localstatistics::is_black_by_sauvola(value, sum, variance, area, a_.k, a_.range);
  }

  const OutputArguments& a_;
  const PictureRows& picture_;
  int radius_;
  RowOfWindows<kOutput, kNarrow> row_;
};

}  // namespace
}  // namespace cudavision::localstatistics
