// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel for small windows of bytes. A group of threads takes a strip of
// the picture and a band of its rows. Each thread holds the sums of 16 neighbouring columns over
// the rows of a window and moves them down through the band. For each row, the threads show each
// other these sums in shared memory, where each of them reads those of the columns that its windows
// gain and lose as they move right.
//
// If the radius is less than a piece, the group is a warp, and a thread's first window has columns
// of its own piece and of the one before only. Otherwise the group is a block, which adds up its
// columns from left to right.

#include "cuda/localstatistics/windows.cuh"

namespace cudavision::localstatistics {

constexpr int max_warp_radius = piece_bytes - 1;

/// Returns the largest radius for which this kernel is the faster one. Means of larger windows took
/// longer with it on an H200. Sums of up to 127 rows, and their differences, fit 16 bits with a
/// sign.
constexpr int max_running_radius(Output output) {
  return output == Output::mean ? max_warp_radius : 63;
}

constexpr int running_warps = 4;  // of a block whose groups are warps

/// Returns how many blocks share a multiprocessor, of 128 threads or of 256.
__host__ __device__ constexpr int running_blocks(Output output, bool whole_block) {
  return whole_block ? 2 : output == Output::mean ? 5 : 4;
}

namespace {

/// Returns the halves of two neighbouring words that lie in the middle.
__device__ inline std::uint32_t middle_of(std::uint32_t low, std::uint32_t high) {
  return select_bytes(low, high, 0x5432);
}

/// Returns sum plus the columns of a piece whose weights are 1.
__device__ inline std::uint32_t add_weighted(const std::uint32_t (&pairs)[piece_bytes / 2],
                                             const std::uint32_t (&weights)[4], std::uint32_t sum) {
#pragma unroll
  for (int i = 0; i < piece_bytes / 2; ++i)
    sum = i % 2 == 0 ? dot_low_bytes(pairs[i], weights[i / 2], sum)
                     : dot_high_bytes(pairs[i], weights[i / 2], sum);
  return sum;
}

/// Shared memory in which the threads of a block exchange sums. Each thread needs the sum of all
/// columns to the left of both ends of its first window, and finds it as a sum within a warp plus
/// the sums of the warps before that.
template <int kThreads>
struct WindowEnds {
  std::uint32_t right[kThreads + 1], left[kThreads + 1];
  std::uint32_t warps[kThreads / 32];

  __device__ void publish(const WindowArguments& a, const PackedColumns& columns) {
    const int thread = static_cast<int>(threadIdx.x);
    const auto total = columns.total();
    const std::uint32_t inclusive = scan_of_warp(total);
    right[thread] = add_weighted(columns.pairs, a.right_weights, inclusive - total);
    left[thread + 1] = add_weighted(columns.pairs, a.left_weights, inclusive - total);
    if (thread % 32 == 31)
      warps[thread / 32] = inclusive;
  }
  __device__ void clear() {
    if (threadIdx.x == 0)
      right[kThreads] = left[0] = 0;
  }

  /// Returns the sum of the thread's first window.
  __device__ std::uint32_t first_window(int radius) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const int right_end = min(thread + (radius + 1) / piece_bytes, kThreads);
    const int left_end = max(thread - (radius + piece_bytes - 1) / piece_bytes, -1);
    std::uint32_t before = 0;
    if (lane > 0 && lane <= kThreads / 32)
      before = warps[lane - 1];
#pragma unroll
    for (int distance = 1; distance <= kThreads / 64; distance *= 2) {
      const std::uint32_t below = __shfl_up_sync(~0u, before, distance);
      if (lane >= distance)
        before += below;
    }
    return right[right_end] - left[left_end + 1] + __shfl_sync(~0u, before, right_end / 32) -
           __shfl_sync(~0u, before, max(left_end, 0) / 32);
  }
};

/// kOdd tells whether the radius is odd, and kBlock whether a group is a block of 256 threads.
template <Output kOutput, bool kOdd, bool kBlock>
__global__ void __launch_bounds__(kBlock ? 256 : 32 * running_warps,
                                  (running_blocks(kOutput, kBlock)))
    running_kernel(const __grid_constant__ WindowArguments a) {
  static_assert(kOutput == Output::bradley || (kOutput == Output::mean && !kBlock));
  constexpr int kPairs = piece_bytes / 2;
  constexpr int kThreads = kBlock ? 256 : 32;  // of a group
  constexpr int kGroups = kBlock ? 1 : running_warps;
  // A gap keeps the lanes in different banks. Zeros lie before and after the columns.
  constexpr int kRow = kThreads * (kPairs + 1) + 2;
  __shared__ std::uint32_t memory[kGroups][kRow];
  __shared__ WindowEnds<kThreads> ends[1];
  __shared__ float4 inverses[kGroups][kThreads][piece_words];
  const PictureRows& picture = a.picture;
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  const int group = static_cast<int>(threadIdx.x) / kThreads;
  std::uint32_t* const row = memory[group] + 1;
  if (thread == 0)
    row[-1] = row[kRow - 2] = 0;
  if constexpr (kBlock)
    ends->clear();
  launch_dependents();
  grid_dependency_wait();

  // The groups of a block take bands one below the other, which read many of the same rows.
  const int strip = static_cast<int>(blockIdx.x) % a.strips;
  const int band = static_cast<int>(blockIdx.x) / a.strips * kGroups + group;
  const int first = band * a.band_rows;
  const int end = min(first + a.band_rows, picture.height);
  if (first >= end)
    return;
  const auto sync = [] {
    if constexpr (kBlock)
      __syncthreads();
    else
      __syncwarp();
  };
  const int x = strip * a.strip_pixels - a.skew + (thread - a.halo_pieces) * piece_bytes;
  const PiecePlace place(picture, x);
  PackedColumns columns;
  const int window_begin = first - a.radius, window_end = first + a.radius + 1;
  const auto add = [&](const Piece& row, const Piece& other) { columns.add(row, other); };
  if (kBlock && a.columns.sums) {
    const TableRows table(a.columns, band, a.radius);
    const int table_end = window_begin + table.rows;
    const int at = x + a.skew;
    if (at >= 0 && at < picture.width + a.skew) {
      std::uint32_t sums[piece_bytes];
      table.take(a.columns.sums + at, sums);
      columns.add_sums(sums);
    }
    add_rows<std::uint8_t, 4>(picture, place, table_end, window_end, add);
    add_rows<std::uint8_t, 4>(picture, place, window_end, table_end,
                              [&](const Piece& row, const Piece& other) {
                                columns.move({}, row);
                                columns.move({}, other);
                              });
  } else {
    add_rows<std::uint8_t, 8>(picture, place, window_begin, window_end, add);
  }
  MovingRows<std::uint8_t> rows(picture, place, first + 1, a.radius);
  rows.load(first + 1);

  // The pairs with the columns from radius to the left of the thread's first one on, and from
  // radius + 1 to the right of it on. Odd distances need one pair more.
  int lost_at[kPairs + kOdd], gained_at[kPairs + !kOdd];
  const auto place_of = [&](int pair) {
    return pair < 0 ? -1 : pair >= kThreads * kPairs ? kRow - 2 : pair + pair / kPairs;
  };
#pragma unroll
  for (int i = 0; i < kPairs + kOdd; ++i)
    lost_at[i] = place_of((thread * piece_bytes - a.radius - kOdd) / 2 + i);
#pragma unroll
  for (int i = 0; i < kPairs + !kOdd; ++i)
    gained_at[i] = place_of((thread * piece_bytes + a.radius + kOdd) / 2 + i);

  const bool writes =
      thread >= a.halo_pieces && thread < kThreads - a.halo_pieces && x < picture.width;
  const bool whole = a.output.aligned && x >= 0 && x + piece_bytes <= picture.width;
  const bool is_cut =
      __any_sync(~0u, writes && (x < a.radius || x + piece_bytes + a.radius > picture.width));
  WindowOutput<kOutput, std::uint8_t, std::uint32_t> output(a.output, picture, a.radius);
  std::uint8_t* to = a.output.data + a.output.pitch * first + x;
  int height = 0;  // of the windows
  float inverse = 0, inverse_height = 0;
  if (kOutput == Output::mean && is_cut) {
#pragma unroll 4
    for (int i = 0; i < piece_bytes; ++i) {
      const int columns_of_window =
          min(x + i + a.radius, picture.width - 1) - max(x + i - a.radius, 0) + 1;
      reinterpret_cast<float*>(inverses[group][thread])[i] =
          inverse_above(static_cast<std::uint32_t>(max(columns_of_window, 1)));
    }
  }

  for (int y = first; y < end; ++y) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      row[thread * (kPairs + 1) + i] = columns.pairs[i];
    std::uint32_t sum = kOutput == Output::mean ? 0x4b000000 : 0;
    if constexpr (kBlock)
      ends->publish(a, columns);
    else
      sum = add_weighted(columns.pairs, a.right_weights, sum);
    columns.move(rows.gained, rows.lost);
    rows.load(y + 2);
    sync();
    std::uint32_t lost[kPairs], gained[kPairs];
    {
      std::uint32_t words[kPairs + 1];
#pragma unroll
      for (int i = 0; i < kPairs + kOdd; ++i)
        words[i] = row[lost_at[i]];
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        lost[i] = kOdd ? middle_of(words[i], words[i + kOdd]) : words[i];
#pragma unroll
      for (int i = 0; i < kPairs + !kOdd; ++i)
        words[i] = row[gained_at[i]];
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        gained[i] = kOdd ? words[i] : middle_of(words[i], words[i + !kOdd]);
    }
    if constexpr (kBlock)
      sum += ends->first_window(a.radius);
    else
      sum = add_weighted(lost, a.left_weights, sum);
    sync();
    // Each difference is greater by this, so that no half borrows from the other one.
    constexpr std::uint32_t bias = 0x8000;
    std::uint32_t sums[piece_bytes];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const std::uint32_t change = gained[i] - lost[i] + (bias | bias << 16);
      sums[2 * i] = sum;
      sums[2 * i + 1] = dot_low_bytes(change, 0x0001u, sum);
      sum = dot_low_bytes(change, 0x0101u, sum);
    }

    std::uint32_t values[piece_bytes];
    if constexpr (kOutput == Output::mean) {
      const int new_height = min(y + a.radius, picture.height - 1) - max(y - a.radius, 0) + 1;
      if (new_height != height) {
        height = new_height;
        inverse = inverse_above(static_cast<std::uint32_t>(height * (2 * a.radius + 1)));
        inverse_height = inverse_above(static_cast<std::uint32_t>(height));
      }
      const auto divide = [&](const auto& inverse_of) {
#pragma unroll
        for (int i = 0; i < piece_bytes; ++i) {
          const float exact =
              __uint_as_float(sums[i]) - (8388608.0f + static_cast<float>(bias) * i);
          values[i] = __float_as_uint(__fmaf_rn(exact, inverse_of(i), 8388608.0f));
        }
      };
      if (is_cut) {
        float cut[piece_bytes];
#pragma unroll
        for (int w = 0; w < piece_words; ++w)
          reinterpret_cast<float4*>(cut)[w] = inverses[group][thread][w];
        // The product is rounded up, so it exceeds the inverse of the area, by at most 7·2^-23.
        divide([&](int i) { return __fmul_ru(cut[i], inverse_height); });
      } else {
        divide([&](int) { return inverse; });
      }
    } else {
      output.begin_row(y);
      Piece pixels{};
      if (writes)
        pixels = values_at<std::uint8_t>(picture, picture.row(y), true, place);
      const auto compare = [&](auto may_be_cut) {
#pragma unroll
        for (int i = 0; i < piece_bytes; ++i) {
          const std::uint32_t pixel = byte_of(pixels.words[i / 4], i % 4);
          const std::uint32_t exact = sums[i] - bias * i;
          bool decided = true;  // as Bradley's threshold always is
          if constexpr (decltype(may_be_cut)::value)
            values[i] = output.cut_result(x + i, pixel, exact, 0u, decided);
          else
            values[i] = output.template result<false>(pixel, exact, 0u, decided);
        }
      };
      if (is_cut)
        compare(std::true_type());
      else
        compare(std::false_type());
    }
    if (writes) {
      std::uint32_t words[piece_words];
#pragma unroll
      for (int w = 0; w < piece_words; ++w) {
        const std::uint32_t quad[] = {values[4 * w], values[4 * w + 1], values[4 * w + 2],
                                      values[4 * w + 3]};
        if constexpr (kOutput == Output::mean)
          words[w] = select_bytes(select_bytes(quad[0], quad[1], 0x0040),
                                  select_bytes(quad[2], quad[3], 0x0040), 0x5410);
        else
          words[w] = output.bytes_of(quad);
      }
      if (whole) {
        store_words(to, words);
      } else {
#pragma unroll
        for (int i = 0; i < piece_bytes; ++i)
          if (x + i >= 0 && x + i < picture.width)
            to[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
      }
    }
    to += a.output.pitch;
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
