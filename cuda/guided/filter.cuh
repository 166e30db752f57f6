// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the kernel of both passes. A group of threads, which is a warp or a block, takes a
// strip of a picture and a band of its rows. Each thread holds the running sums of a few
// neighbouring columns over the rows of a window and moves them down through the band. So a row
// costs the same for every radius; only the first row of a band costs more for larger ones.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/guided/passes.cuh"

namespace cudavision::guided {

/// The constants of windows in a row, by their widths.
template <class Pass>
using RowWindow = std::conditional_t<Pass::kNarrow, ReciprocalWindow, Window<false>>;

/// Returns the largest number of threads of a block.
template <class Pass, bool kBlock>
constexpr int max_threads() {
  return kBlock && sizeof(typename Pass::Sum) == 4 ? 256 : 128;
}

/// Returns how many of them share a multiprocessor at least.
template <class Pass, bool kBlock>
constexpr int min_blocks() {
  return kBlock || sizeof(typename Pass::Sum) == 8 ? 2 : 4;
}

/// Only windows that are not narrow have gaps between their columns.
template <class Pass, bool kBlock>
__global__ void __launch_bounds__((max_threads<Pass, kBlock>()), (min_blocks<Pass, kBlock>()))
    filter_rows(const __grid_constant__ GuidedArguments a) {
  using Sum = typename Pass::Sum;
  using Element = typename Pass::Element;
  constexpr int kSets = 2;  // of four samples that a thread writes
  extern __shared__ uint4 memory[];
  __shared__ WarpSums<Sum> warp_sums[1];
  const int group_threads = kBlock ? static_cast<int>(blockDim.x) : 32;
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  const int group_in_block = static_cast<int>(threadIdx.x) / group_threads;
  std::uint8_t* const group_memory =
      reinterpret_cast<std::uint8_t*>(memory) + group_in_block * a.group_bytes;
  RunningSums<Sum> running(group_memory, thread, group_threads);
  const auto sync = [] {
    if constexpr (kBlock)
      __syncthreads();
    else
      __syncwarp();
  };
  launch_dependents();
  grid_dependency_wait();

  const FilteredPicture& picture = picture_of_block(a, &FilteredPicture::first_block);
  // The groups of a block take bands one below the other, which read many of the same rows.
  const int groups_of_block = static_cast<int>(blockDim.x) / group_threads;
  const int block = static_cast<int>(blockIdx.x - picture.first_block);
  const int band = block / picture.strips * groups_of_block + group_in_block;
  const int strip_x = block % picture.strips * picture.strip_width;
  const int first = picture.begin + band * picture.band_rows;
  const int end = min(first + picture.band_rows, picture.end);
  const int strip_end = min(strip_x + picture.strip_width, picture.width);
  if (first >= end || !is_active(a, picture, strip_x, first, strip_end, end))
    return;
  const int bits = Pass::bits(a);
  const int reach_x = picture.reach_x, reach_y = picture.reach_y;
  const int width = picture.width, height = picture.height;
  const int half = group_threads * thread_columns / 2;
  const int own = thread * thread_columns;
  const int column = strip_x + (own < half ? picture.left + own : picture.right + own - half);
  const bool inside = column >= 0 && column < picture.width;
  const bool has_gap = !Pass::kNarrow && picture.right > picture.left + half;
  const int pitch = Pass::pitch(picture);
  const int half_pitch = picture.half_pitch;
  const Element* const columns = Pass::elements(picture) + Pass::place_of(picture, column);
  const auto row_of = [&](const Element* rows, int y) {
    return reinterpret_cast<const Element*>(reinterpret_cast<const std::uint8_t*>(rows) +
                                            static_cast<std::int64_t>(pitch) * y);
  };

  const int gap_begin = max(strip_x + picture.left + half, 0);
  const int gap_end = min(strip_x + picture.right, width);
  SumPair<Sum> gap{0, 0};
  const auto move_gap = [&](int gained, int lost) {
    const Element* const rows = Pass::elements(picture);
    for (int c = gap_begin + thread; c < gap_end; c += group_threads)
      add_change<Element>(gap,
                          gained < height ? row_of(rows, gained)[Pass::place_of(picture, c)] : 0,
                          lost >= 0 ? row_of(rows, lost)[Pass::place_of(picture, c)] : 0);
  };

  ThreadSums<Sum> changes{};
  {
    const int top = max(first - reach_y, 0), bottom = min(first + reach_y + 1, picture.height);
    // The loads of some rows are on their way before the first of them is used.
    constexpr int kBatch = 4;
#pragma unroll 1
    for (int y = top; y < bottom; y += kBatch) {
      Elements<Element> rows[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        rows[i] = load_elements(row_of(columns, y + i), half_pitch, inside && y + i < bottom);
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
          add_change<Element>(changes.sums[c], rows[i].at(c), 0);
    }
    changes.add_up();
    if (has_gap) {
      const Element* const rows = Pass::elements(picture);
      for (int c = gap_begin + thread; c < gap_end; c += group_threads)
#pragma unroll 8
        for (int y = top; y < bottom; ++y)
          add_change<Element>(gap, row_of(rows, y)[Pass::place_of(picture, c)], 0);
    }
  }
  // The running sums of a row are those of the row before and the changes.
  ThreadSums<Sum> sums{};
  SumPair<Sum> left = sums_to_the_left(changes.total());
  const auto publish = [&](int parity) {
    if constexpr (kBlock) {
      SumPair<Sum> inclusive = left;
      inclusive += changes.total();
      warp_sums[0].publish(parity, inclusive, gap, has_gap);
    }
  };
  const auto apply = [&](int parity) {
    if constexpr (kBlock)
      left += warp_sums[0].to_the_left(parity, has_gap);
    sums.add(changes, left);
  };
  // Rows are published in turn with the one before, of which others may still read.
  publish((first + 1) & 1);
  sync();
  apply((first + 1) & 1);

  Elements<Element> gained, lost;
  // Loads what windows gain and lose that move to row y.
  const auto load = [&](int y) {
    gained =
        load_elements(row_of(columns, y + reach_y), half_pitch, inside && y + reach_y < height);
    lost = load_elements(row_of(columns, y - reach_y - 1), half_pitch, inside && y > reach_y);
  };
  load(first + 1);

  // A warp writes sets of 128 samples, and each of its lanes four neighbouring ones.
  const int warp_x = strip_x + thread / 32 * 32 * thread_columns;
  const int lane = thread % 32, x = warp_x + 4 * lane;
  const int to_left = -reach_x - 1 - (strip_x + picture.left);
  const int to_right = reach_x - (strip_x + picture.right) + half;
  const int side = 2 * reach_x + 1;
  // The last samples of a row, if they are not four, are written like those of cut windows.
  const bool has_cut_windows =
      strip_x < reach_x || strip_end + reach_x > width || strip_end % 4 != 0;
  // Sets whose windows are all whole.
  unsigned whole_sets = 0;
#pragma unroll
  for (int k = 0; k < kSets; ++k) {
    const int set_x = warp_x + 128 * k, set_end = min(set_x + 128, strip_end);
    if (set_x >= reach_x && set_end + reach_x <= width && set_end % 4 == 0)
      whole_sets |= 1u << k;
  }
  std::uint32_t left_places[4], right_places[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    left_places[j] = running.place(x + j + to_left);
    right_places[j] = running.place(x + j + to_right);
  }
  const int min_columns = min(reach_x + 1, width), max_columns = min(side, width);
  // The constants of narrow windows that an edge cuts off, by their widths.
  auto* const cut_windows =
      reinterpret_cast<ReciprocalWindow*>(group_memory + RunningSums<Sum>::bytes(group_threads)) -
      min_columns;
  typename Pass::Place place(a, picture, x, first);
  typename Pass::Samples samples[kSets];
  const auto load_samples = [&] {
#pragma unroll
    for (int k = 0; k < kSets; ++k)
      if (x + 128 * k < strip_end)
        samples[k] = place.samples(128 * k);
  };
  load_samples();
  RowWindow<Pass> whole_window;
  int rows_of_windows = 0;

  for (int y = first, row = 0; y < end; ++y, row = running.odd_rows() - row) {
    running.store(row, sums);
    const bool moves = y + 1 < end;
    const auto change = [&] {
      changes = running_changes<Sum>(gained, lost);
      if (has_gap) {
        gap = {0, 0};
        move_gap(y + 1 + reach_y, y - reach_y);
      }
      load(y + 2);
      left = sums_to_the_left(changes.total());
      publish(y & 1);
    };
    if (kBlock && moves)
      change();
    const int rows = min(y + reach_y + 1, height) - max(y - reach_y, 0);
    if (rows != rows_of_windows) {
      rows_of_windows = rows;
      if (side <= width)
        whole_window = RowWindow<Pass>(static_cast<std::uint32_t>(rows) * side, a.scale);
      if (Pass::kNarrow && has_cut_windows) {
        sync();  // others may still read those of the row before
        for (int columns = min_columns + thread; columns <= max_columns; columns += group_threads)
          cut_windows[columns] =
              ReciprocalWindow(static_cast<std::uint32_t>(rows) * columns, a.scale);
      }
    }
    sync();

    const auto write_set = [&](auto number) {
      constexpr int k = decltype(number)::value;
      const int set_x = x + 128 * k;
      if (set_x >= strip_end)
        return;
      std::uint32_t values[4];
      if (whole_sets >> k & 1) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          values[j] = Pass::value(samples[k].at(j),
                                  running.template load<32 * k>(right_places[j]) -
                                      running.template load<32 * k>(left_places[j]),
                                  whole_window, bits);
        place.store(128 * k, values);
        return;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int one_x = set_x + j;
        if (one_x >= strip_end)
          break;
        const int columns = min(one_x + reach_x + 1, width) - max(one_x - reach_x, 0);
        std::uint32_t value;
        if constexpr (Pass::kNarrow)
          value = Pass::value(samples[k].at(j),
                              running.template load<32 * k>(right_places[j]) -
                                  running.template load<32 * k>(left_places[j]),
                              cut_windows[columns], bits);
        else
          value = Pass::value(
              samples[k].at(j),
              running.template load<0>(row + running.place(min(one_x + to_right, 2 * half - 1))) -
                  running.template load<0>(row + running.place(max(one_x + to_left, -1))),
              Window<false>(static_cast<std::uint32_t>(rows) * columns, a.scale), bits);
        place.store_one(128 * k, j, value);
      }
    };
    write_set(std::integral_constant<int, 0>());
    write_set(std::integral_constant<int, 1>());
    place.next_row();
    if (moves) {
      load_samples();
      if constexpr (!kBlock)
        change();
      apply(y & 1);
    }
    const int to_next_row = row == 0 ? running.odd_rows() : -running.odd_rows();
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      left_places[j] += to_next_row;
      right_places[j] += to_next_row;
    }
  }
}

}  // namespace cudavision::guided
