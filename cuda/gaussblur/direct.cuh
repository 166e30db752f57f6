// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Direct convolution of bytes with few taps, for which most factors of matrix products are zero.
//
// A thread blurs 8 bytes of each row of a strip. It takes rows in pairs: sums along x have at most
// 16 bits, so one word holds the sums of both rows, ready for the two-way dot products along y.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/work_item.cuh"

namespace cudavision::gaussblur {

constexpr int direct_bytes = 8;  ///< bytes of a row per thread
/// Warps per block. Their strips are one below the other, so that they share rows in the L1 cache.
constexpr int direct_warps = 4;
constexpr int direct_blocks = 5;  ///< minimum per multiprocessor
constexpr int direct_ahead = 3;   ///< pairs of rows whose loads are in flight

/// Two words of a row that a thread blurs, and one word on either side.
struct DirectRow {
  std::uint32_t before, first, second, after;
};

/// Reads the rows of a thread in order. kMirrors: some rows may be outside the plane.
template <bool kMirrors>
class DirectReader {
 public:
  __device__ DirectReader(const Plane& plane, int x, int y)
      : from_(plane.in + x),
        pitch_(plane.in_pitch),
        y_(y),
        rows_(plane.rows),
        beyond_(plane.direct.rows_beyond),
        begins_row_(x == 0),
        ends_row_(x + direct_bytes == plane.row_bytes),
        before_(begins_row_ ? plane.direct.before_row : unchanged_word),
        after_(ends_row_ ? plane.direct.after_row : unchanged_word) {
    if constexpr (!kMirrors)
      from_ += static_cast<std::int64_t>(y) * pitch_;
  }

  __device__ void load(DirectRow& row) {
    const std::uint8_t* from = from_;
    if constexpr (kMirrors)
      from += static_cast<std::int64_t>(row_at(y_++)) * pitch_;
    else
      from_ += pitch_;
    row.before = begins_row_ ? 0 : *reinterpret_cast<const std::uint32_t*>(from - 4);
    const uint2 own = *reinterpret_cast<const uint2*>(from);
    row.first = own.x;
    row.second = own.y;
    row.after = ends_row_ ? 0 : *reinterpret_cast<const std::uint32_t*>(from + direct_bytes);
  }

  __device__ void complete(DirectRow& row) const {
    row.before = __byte_perm(begins_row_ ? row.second : row.before, row.first, before_);
    row.after = __byte_perm(ends_row_ ? row.first : row.after, row.second, after_);
  }

 private:
  static constexpr std::uint32_t unchanged_word = 0x3210;

  /// y may be outside the plane.
  __device__ int row_at(int y) const {
    // A thread reads a few rows more than it needs, and its strip may begin below the plane.
    y = min(y, rows_ + DirectPlane::max_radius);
    const int mirrored = y * beyond_.factor + (y < 0 ? beyond_.above : beyond_.below);
    return static_cast<unsigned>(y) < static_cast<unsigned>(rows_) ? y : mirrored;
  }

  const std::uint8_t* from_;
  const int pitch_;
  int y_;
  const int rows_;
  const DirectPlane::RowsBeyond beyond_;
  const bool begins_row_, ends_row_;
  const std::uint32_t before_, after_;
};

/// Blurs 8 bytes of each of `count` rows. kWide: taps more than two bytes away are nonzero.
template <bool kWide, bool kMirrors>
class DirectStrip {
 public:
  __device__ DirectStrip(const Plane& plane, int x, int y, int count)
      : reader_(plane, min(x, plane.row_bytes - direct_bytes), y - radius),
        pairs_left_(count / 2),
        rows_left_(x < plane.row_bytes ? plane.rows - y : 0),
        out_(plane.out + static_cast<std::int64_t>(y) * plane.out_pitch + x),
        out_pitch_(plane.out_pitch) {
#pragma unroll
    for (int phase = 0; phase < 4; ++phase)
#pragma unroll
      for (int w = 0; w < 3; ++w)
        row_factors_[phase][w] = plane.direct.row_factors[phase][w];
#pragma unroll
    for (int i = 0; i < slots; ++i)
      column_factors_[i] = plane.direct.column_factors[i];
    // Forces the value into a register; the compiler would load the constant again for each sum.
    asm volatile("" : "+r"(rounding_));
  }

  __device__ void blur() {
#pragma unroll
    for (DirectRow(&pair)[2] : next_)
      load(pair);
    take<0>();
    take<1>();
#pragma unroll 1
    for (;;) {
      take<2>();
      if (make<2>())
        return;
      take<0>();
      if (make<0>())
        return;
      take<1>();
      if (make<1>())
        return;
    }
  }

 private:
  static constexpr int radius = DirectPlane::max_radius;
  static constexpr int slots = radius + 1;
  static_assert(slots == 3 && direct_ahead == slots, "blur() is unrolled by three");

  __device__ void load(DirectRow (&pair)[2]) {
    reader_.load(pair[0]);
    reader_.load(pair[1]);
  }

  /// Sums the next pair of rows along x, then starts loading another pair into the same slot.
  template <int kSlot>
  __device__ void take() {
    DirectRow(&pair)[2] = next_[kSlot];
    reader_.complete(pair[0]);
    reader_.complete(pair[1]);
#pragma unroll
    for (int i = 0; i < direct_bytes; ++i)
      ring_[kSlot][i] = sum(pair[1], i) * 0x10000 + sum(pair[0], i);
    load(pair);
  }

  __device__ std::uint32_t sum(const DirectRow& row, int i) const {
    const std::uint32_t words[3] = {i < 4 ? row.before : row.first, i < 4 ? row.first : row.second,
                                    i < 4 ? row.second : row.after};
    std::uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < 3; ++w)
      if (kWide || w == 1 || w == (i % 4 < 2 ? 0 : 2))
        sum = __dp4a(words[w], row_factors_[i % 4][w], sum);
    return sum;
  }

  /// Sums the ring along y and writes the pair of rows at its centre. kNewest is the slot of the
  /// newest pair. Returns true after the last pair of the strip.
  template <int kNewest>
  __device__ bool make() {
    const uint2 upper = result<kNewest, false>(), lower = result<kNewest, true>();
    if (rows_left_ > 0)
      *reinterpret_cast<uint2*>(out_) = upper;
    if (rows_left_ > 1)
      *reinterpret_cast<uint2*>(out_ + out_pitch_) = lower;
    out_ += 2 * static_cast<std::int64_t>(out_pitch_);
    rows_left_ -= 2;
    return --pairs_left_ == 0;
  }

  template <int kNewest, bool kLower>
  __device__ uint2 result() const {
    std::uint32_t sums[direct_bytes];
#pragma unroll
    for (int i = 0; i < direct_bytes; ++i) {
      sums[i] = rounding_;
#pragma unroll
      for (int k = 0; k < slots; ++k) {
        const std::uint32_t pair = ring_[(kNewest + 1 + k) % slots][i];
        sums[i] = kLower ? __dp2a_hi(pair, column_factors_[k], sums[i])
                         : __dp2a_lo(pair, column_factors_[k], sums[i]);
      }
    }
    return make_uint2(third_bytes(&sums[0]), third_bytes(&sums[4]));
  }

  __device__ static std::uint32_t third_bytes(const std::uint32_t* sums) {
    return __byte_perm(__byte_perm(sums[0], sums[1], 0x0062), __byte_perm(sums[2], sums[3], 0x0062),
                       0x5410);
  }

  DirectReader<kMirrors> reader_;
  std::uint32_t rounding_ = 0x8000;
  int pairs_left_;  // of the strip
  int rows_left_;   // of the plane
  std::uint8_t* out_;
  const int out_pitch_;
  std::uint32_t row_factors_[4][3], column_factors_[slots];
  std::uint32_t ring_[slots][direct_bytes];
  DirectRow next_[direct_ahead][2];
};

template <bool kWide, bool kMirrors>
__device__ inline void blur_strip(const Arguments& a, const Plane& plane, int x, int y, int count) {
  DirectStrip<kWide, kMirrors> strip(plane, x, y, count);
  begin_item(a.everywhere);
  strip.blur();
}

// All strips of a block have the same height and take the same branches, for uniform code.
__global__ void __launch_bounds__(32 * direct_warps, direct_blocks)
    blur_direct(const __grid_constant__ Arguments a) {
  const WorkItem item(a, blockIdx.x, 32 * direct_bytes, a.everywhere);
  if (!item.is_in_plane(a)) {
    take_over();
    return;
  }
  const Plane& plane = a.planes[item.plane];
  const int count = a.item_rows / direct_warps;
  const int x = item.x + static_cast<int>(threadIdx.x) % 32 * direct_bytes;
  const int y = item.begin + static_cast<int>(threadIdx.x) / 32 * count;
  constexpr int radius = DirectPlane::max_radius;
  const bool mirrors =
      item.begin < radius || item.begin + a.item_rows + radius + 2 * direct_ahead > plane.rows;
  if (plane.direct.wide) {
    if (mirrors)
      blur_strip<true, true>(a, plane, x, y, count);
    else
      blur_strip<true, false>(a, plane, x, y, count);
  } else {
    if (mirrors)
      blur_strip<false, true>(a, plane, x, y, count);
    else
      blur_strip<false, false>(a, plane, x, y, count);
  }
  launch_dependents();
}

}  // namespace cudavision::gaussblur
