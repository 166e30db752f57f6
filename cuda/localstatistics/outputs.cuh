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

/// Writes the first `bytes` bytes of words.
template <int kWords>
__device__ void store(std::uint8_t* to, const std::uint32_t (&words)[kWords], int bytes) {
  using Vector = std::conditional_t<kWords % 4 == 0, uint4, uint2>;
  constexpr int step = sizeof(Vector) / 4;
  if (bytes >= 4 * kWords && reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector) == 0) {
#pragma unroll
    for (int w = 0; w < kWords; w += step)
      if constexpr (step == 4)
        reinterpret_cast<uint4*>(to)[w / 4] =
            make_uint4(words[w], words[w + 1], words[w + 2], words[w + 3]);
      else
        reinterpret_cast<uint2*>(to)[w / 2] = make_uint2(words[w], words[w + 1]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4 * kWords; ++i)
    if (i < bytes)
      to[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
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

template <Output kOutput, class Value, class Sum>
class OutputRows {
 public:
  static constexpr int kPixels = pixels_of_piece<Value>;
  static constexpr bool kNarrow = sizeof(Sum) == 4;
  static constexpr bool kThreshold = kOutput == Output::bradley || kOutput == Output::sauvola;
  using Window = std::conditional_t<kNarrow, NarrowWindow, WideWindow>;

  /// x is the lane's first pixel.
  __device__ OutputRows(const OutputArguments& a, const PictureRows& picture, int radius, int x)
      : a_(a),
        picture_(picture),
        radius_(radius),
        x_(x),
        place_(picture, x * static_cast<int>(sizeof(Value))) {
    const int warp_x = x - static_cast<int>(threadIdx.x) % 32 * kPixels;
    is_cut_ = warp_x < radius || warp_x + 32 * kPixels + radius > picture.width;
  }

  /// Sums and Squares are LaneWindows.
  template <class Sums, class Squares>
  __device__ void write(int y, const Sums& sums, const Squares& squares) {
    const auto rows =
        static_cast<std::uint32_t>(min(y + radius_, picture_.height - 1) - max(y - radius_, 0) + 1);
    if (rows != row_.rows)
      row_.set(rows, static_cast<std::uint32_t>(2 * radius_ + 1), a_.divides);
    if (x_ >= picture_.width)
      return;
    Piece pixels{};
    if constexpr (kThreshold) {
      pixels = values_at<Value>(picture_, picture_.row(y), place_);
    }
    std::uint32_t values[kPixels];
    if (is_cut_)
      make_values<true, false>(pixels, sums, squares, values);
    else if (kOutput == Output::mean && kNarrow && a_.divides)
      make_values<false, kOutput == Output::mean && kNarrow>(pixels, sums, squares, values);
    else
      make_values<false, false>(pixels, sums, squares, values);

    const int count = min(kPixels, picture_.width - x_);
    std::uint8_t* const to = a_.data + a_.pitch * y + std::int64_t{a_.sample_bytes} * x_;
    if (a_.sample_bytes == 1) {
      std::uint32_t words[kPixels / 4];
#pragma unroll
      for (int i = 0; i < kPixels; i += 4)
        words[i / 4] = select_bytes(select_bytes(values[i], values[i + 1], 0x0040),
                                    select_bytes(values[i + 2], values[i + 3], 0x0040), 0x5410);
      store(to, words, count);
    } else {
      std::uint32_t words[kPixels / 2];
#pragma unroll
      for (int i = 0; i < kPixels; i += 2)
        words[i / 2] = select_bytes(values[i] << a_.shift, values[i + 1] << a_.shift, 0x5410);
      store(to, words, 2 * count);
    }
  }

 private:
  /// The columns of a pixel's window.
  __device__ int columns(int i) const {
    const int x = x_ + i;
    return min(x + radius_, picture_.width - 1) - max(x - radius_, 0) + 1;
  }

  static __device__ std::uint32_t pixel(const Piece& pixels, int i) {
    return sizeof(Value) == 1 ? byte_of(pixels.words[i / 4], i % 4) : half_of(pixels, i);
  }

  template <bool kCut, bool kDivides, class Sums, class Squares>
  __device__ void make_values(const Piece& pixels, const Sums& sums, const Squares& squares,
                              std::uint32_t (&values)[kPixels]) const {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const Sum sum = sums.sums[i] + sums.common;
      std::uint32_t area = row_.area;
      typename Window::Real inverse = row_.inverse;
      if constexpr (kCut) {
        area = row_.rows * static_cast<std::uint32_t>(columns(i));
        if constexpr (kNarrow)
          inverse = fast_inverse(area);
      }
      if constexpr (!kNarrow)
        inverse = 1.0 / area;
      typename Window::Variance variance = 0;
      if constexpr (needs_squares(kOutput))
        variance = scaled_variance<Window>(squares.sums[i] + squares.common, sum, area);

      if constexpr (kOutput == Output::mean) {
        if constexpr (kDivides)
          values[i] = row_.division.mean(static_cast<std::uint32_t>(sum), area);
        else
          values[i] = rounded_mean<Window>(sum, area, inverse);
      } else if constexpr (kOutput == Output::stddev) {
        if constexpr (kNarrow && sizeof(Value) == 1) {
          const CoarseRoot root = kCut ? CoarseRoot(area, inverse) : row_.root;
          const float estimate = __fadd_rz(root(variance, FastRoot()), 8388608.0f);
          values[i] = rounded_stddev<Window>(
              variance, area, static_cast<std::int32_t>(__float_as_uint(estimate) & 0xff));
        } else {
          values[i] = rounded_stddev<Window>(variance, area, inverse);
        }
      } else {
        const std::uint32_t value = pixel(pixels, i);
        bool black;
        if constexpr (kOutput == Output::bradley)
          black = is_black_by_bradley(value, sum, area, a_.bradley_factor);
        else
          black = is_black_by_sauvola(value, sum, variance, area, inverse);
        values[i] = black ? a_.black : a_.white;
      }
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
  int x_;
  PiecePlace place_;  // of the pixels themselves
  bool is_cut_;       // whether the picture's edge cuts windows of the warp at the left or right
  RowOfWindows<kOutput, kNarrow> row_;
};

}  // namespace
}  // namespace cudavision::localstatistics
