// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel for means of small windows of bytes. A warp processes a strip of the picture in a band
// of rows. Each lane keeps the sums of 16 adjacent columns over the rows of the window and slides
// these sums down the band. For each row, the lanes exchange the sums through shared memory: a lane
// reads the sums of the columns that its window gains and loses when it slides right. The first
// window of a lane contains only columns of this lane and of its left neighbour.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/localstatistics/packedcolumns.h"
#include "cuda/windows/sums.cuh"

namespace cudavision::localstatistics {

constexpr int max_running_radius = packed_columns - 1;
constexpr int running_warps = 4;   // per block
constexpr int running_blocks = 5;  // per multiprocessor
/// Columns per strip. The first and the last lane of a warp write no results.
constexpr int running_strip = 30 * packed_columns;

struct RunningArguments {
  windows::Picture picture;
  int radius;
  // Byte i is 1 if a lane's first window contains column i (own), or i − radius, if < 0 (before).
  std::uint32_t own_weights[4]{}, before_weights[4]{};

  RunningArguments(const windows::Picture& picture, int radius) : picture(picture), radius(radius) {
    for (int i = 0; i < packed_columns; ++i) {
      own_weights[i / 4] |= static_cast<std::uint32_t>(i <= radius) << (8 * (i % 4));
      before_weights[i / 4] |= static_cast<std::uint32_t>(i < radius) << (8 * (i % 4));
    }
  }
};

/// Returns a value above 1 / number, with a relative error of at most 3·2^-23.
///
/// An error below 2^-20 is small enough for sums below 2^19: the product of sum and value, rounded
/// to the nearest integer, is sum / number rounded half up. The product exceeds sum / number by
/// less than 1 / (2·number), which only affects exact half-integers.
__device__ inline float inverse_above(int number) {
  return __uint_as_float(__float_as_uint(approximate_reciprocal(static_cast<float>(number))) + 2);
}

/// Returns the upper half of `low` (as the lower half) and the lower half of `high`.
__device__ inline std::uint32_t middle_of(std::uint32_t low, std::uint32_t high) {
  return select_bytes(low, high, 0x5432);
}

/// kOdd: the radius is odd.
template <bool kOdd>
__global__ void __launch_bounds__(32 * running_warps, running_blocks)
    running_kernel(const __grid_constant__ RunningArguments a) {
  using Row = windows::Elements<std::uint8_t, packed_columns>;
  constexpr int kPairs = packed_columns / 2;
  // Padding avoids bank conflicts. Zeros precede and follow the columns.
  constexpr int kWords = 32 * (kPairs + 1) + 2;
  __shared__ std::uint32_t memory[running_warps][kWords];
  __shared__ float4 inverses[running_warps][32][packed_columns / 4];
  const windows::Picture& picture = a.picture;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::uint32_t* const row = memory[warp] + 1;
  if (lane == 0)
    row[-1] = row[kWords - 2] = 0;
  launch_dependents();
  grid_dependency_wait();

  // The warps of a block process consecutive bands, whose windows share rows.
  const int strip = static_cast<int>(blockIdx.x) % picture.strips;
  const int band = static_cast<int>(blockIdx.x) / picture.strips * running_warps + warp;
  const int first = band * picture.band_rows;
  const int end = min(first + picture.band_rows, picture.height);
  if (first >= end)
    return;
  const int x = strip * running_strip + (lane - 1) * packed_columns;
  const bool inside = x >= 0 && x < picture.width;
  const auto row_at = [&](int y, bool exists) {
    return Row::load(row_of(picture, picture.values + x, y), 0, inside && exists);
  };

  PackedColumns columns;
  constexpr int kBatch = 8;
  const int window_end = min(first + a.radius + 1, picture.height);
#pragma unroll 1
  for (int y = max(first - a.radius, 0); y < window_end; y += kBatch) {
    Row rows[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      rows[i] = row_at(y + i, y + i < window_end);
#pragma unroll
    for (int i = 0; i < kBatch; i += 2)
      columns.add(rows[i].words, rows[i + 1].words);
  }
  Row gained, lost;
  const auto load = [&](int y) {
    gained = row_at(y + a.radius, y + a.radius < picture.height);
    lost = row_at(y - a.radius - 1, y > a.radius && y < picture.height);
  };
  load(first + 1);

  // Positions in shared memory of the pairs of columns that the windows lose and gain. These pairs
  // begin `radius` columns left and radius + 1 columns right of the lane's first column. Odd
  // distances need one more pair.
  int lost_at[kPairs + kOdd], gained_at[kPairs + !kOdd];
  const auto position_of = [&](int pair) {
    return pair < 0 ? -1 : pair >= 32 * kPairs ? kWords - 2 : pair + pair / kPairs;
  };
#pragma unroll
  for (int i = 0; i < kPairs + kOdd; ++i)
    lost_at[i] = position_of((lane * packed_columns - a.radius - kOdd) / 2 + i);
#pragma unroll
  for (int i = 0; i < kPairs + !kOdd; ++i)
    gained_at[i] = position_of((lane * packed_columns + a.radius + kOdd) / 2 + i);

  const bool writes = lane > 0 && lane < 31 && inside;
  const bool whole = x + packed_columns <= picture.width &&
                     reinterpret_cast<std::uintptr_t>(picture.out) % packed_columns == 0 &&
                     (picture.height == 1 || picture.out_pitch % packed_columns == 0);
  const bool is_cut =
      __any_sync(~0u, writes && (x < a.radius || x + packed_columns + a.radius > picture.width));
  std::uint8_t* to = picture.out + static_cast<std::int64_t>(picture.out_pitch) * first + x;
  int height = 0;  // of the windows
  float inverse = 0, inverse_height = 0;
  if (is_cut) {
#pragma unroll 4
    for (int i = 0; i < packed_columns; ++i) {
      const int width = min(x + i + a.radius, picture.width - 1) - max(x + i - a.radius, 0) + 1;
      reinterpret_cast<float*>(inverses[warp][lane])[i] = inverse_above(max(width, 1));
    }
  }

  for (int y = first; y < end; ++y) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      row[lane * (kPairs + 1) + i] = columns.pairs[i];
    // Starts with the bits of 2^23, so that the sum needs no conversion to float.
    std::uint32_t sum = PackedColumns::add_weighted(columns.pairs, a.own_weights, 0x4b000000);
    columns.move(gained.words, lost.words);
    load(y + 2);
    __syncwarp();
    std::uint32_t lost_pairs[kPairs], gained_pairs[kPairs];
    {
      std::uint32_t words[kPairs + 1];
#pragma unroll
      for (int i = 0; i < kPairs + kOdd; ++i)
        words[i] = row[lost_at[i]];
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        lost_pairs[i] = kOdd ? middle_of(words[i], words[i + kOdd]) : words[i];
#pragma unroll
      for (int i = 0; i < kPairs + !kOdd; ++i)
        words[i] = row[gained_at[i]];
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        gained_pairs[i] = kOdd ? words[i] : middle_of(words[i], words[i + !kOdd]);
    }
    sum = PackedColumns::add_weighted(lost_pairs, a.before_weights, sum);
    __syncwarp();
    // Added to both halves of a difference, so that the lower half does not borrow.
    constexpr std::uint32_t bias = 0x8000;
    std::uint32_t sums[packed_columns];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const std::uint32_t change = gained_pairs[i] - lost_pairs[i] + (bias | bias << 16);
      sums[2 * i] = sum;
      sums[2 * i + 1] = dot_low_bytes(change, 0x0001u, sum);
      sum = dot_low_bytes(change, 0x0101u, sum);
    }

    const int new_height = min(y + a.radius, picture.height - 1) - max(y - a.radius, 0) + 1;
    if (new_height != height) {
      height = new_height;
      inverse = inverse_above(height * (2 * a.radius + 1));
      inverse_height = inverse_above(height);
    }
    std::uint32_t means[packed_columns];
    const auto divide = [&](const auto& inverse_of) {
#pragma unroll
      for (int i = 0; i < packed_columns; ++i) {
        const float exact = __uint_as_float(sums[i]) - (8388608.0f + static_cast<float>(bias) * i);
        means[i] = __float_as_uint(__fmaf_rn(exact, inverse_of(i), 8388608.0f));
      }
    };
    if (is_cut) {
      float cut[packed_columns];
#pragma unroll
      for (int w = 0; w < packed_columns / 4; ++w)
        reinterpret_cast<float4*>(cut)[w] = inverses[warp][lane][w];
      // With this rounding, the relative excess of the product over 1 / area is at most 7·2^-23.
      divide([&](int i) { return __fmul_ru(cut[i], inverse_height); });
    } else {
      divide([&](int) { return inverse; });
    }
    if (writes) {
      std::uint32_t words[packed_columns / 4];
#pragma unroll
      for (int w = 0; w < packed_columns / 4; ++w)
        words[w] = select_bytes(select_bytes(means[4 * w], means[4 * w + 1], 0x0040),
                                select_bytes(means[4 * w + 2], means[4 * w + 3], 0x0040), 0x5410);
      if (whole) {
        store_words(to, words);
      } else {
#pragma unroll
        for (int i = 0; i < packed_columns; ++i)
          if (x + i < picture.width)
            to[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
      }
    }
    to += picture.out_pitch;
  }
}

}  // namespace cudavision::localstatistics
