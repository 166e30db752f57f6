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

__device__ inline int rounded_down_to_4(int number) {
  return number & ~3;
}
__device__ inline int rounded_up_to_4(int number) {
  return (number + 3) & ~3;
}

/// Only windows that are not narrow have gaps between their columns.
template <class Pass, bool kBlock>
__global__ void __launch_bounds__((max_threads<Pass, kBlock>()), (min_blocks<Pass, kBlock>()))
    filter_rows(const __grid_constant__ GuidedArguments a) {
  using Sum = typename Pass::Sum;
  using Element = typename Pass::Element;
  using Window = typename Pass::Window;
  constexpr int kSets = 2;  // of four samples that a thread writes
  extern __shared__ uint4 memory[];
  __shared__ WarpSums<Sum> warp_sums[1];
  const int group_threads = kBlock ? static_cast<int>(blockDim.x) : 32;
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  // The shuffle tells the compiler that all lanes of a warp have the same number, so that it keeps
  // what follows from it in uniform registers, and branches without divergence.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  const int group_in_block = kBlock ? 0 : warp;
  std::uint8_t* const group_memory =
      reinterpret_cast<std::uint8_t*>(memory) + group_in_block * a.group_bytes;
  RunningSums<Sum, kBlock> running(group_memory, thread, group_threads);
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
  const int first = picture.begin + picture.bands.first(band);
  const int end = picture.begin + picture.bands.first(band + 1);
  const int strip_end = min(strip_x + picture.strip_width, picture.width);
  if (band >= picture.bands.count() || !is_active(a, picture, strip_x, first, strip_end, end))
    return;
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
    // The loads of some rows are on their way before the first of them is used: of as many as there
    // are registers for.
    constexpr int kBatch = sizeof(Element) == 1 ? 20 : kBlock ? 4 : sizeof(Element) == 2 ? 8 : 9;
    constexpr int kRows = sizeof(Element) == 1 ? 4 : kBatch;
#pragma unroll 1
    for (int y = top; y < bottom; y += kBatch) {
      Elements<Element> rows[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        rows[i] = load_elements(row_of(columns, y + i), half_pitch, inside && y + i < bottom);
#pragma unroll
      for (int i = 0; i < kBatch; i += kRows)
        if (y + i < bottom)
          add_rows<kRows>(changes, rows + i);
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
  // Loads what windows gain and lose that move to row y. The same registers take the next row after
  // they have been used, so that the compiler needs no copies of them, for which it would wait.
  const Element* next_gained = row_of(columns, first + 1 + reach_y);
  const std::int64_t to_lost = static_cast<std::int64_t>(pitch) * (-2 * reach_y - 1);
  const auto load = [&](int y, bool needed) {
    gained = load_elements(next_gained, half_pitch, needed && inside && y + reach_y < height);
    lost = load_elements(reinterpret_cast<const Element*>(
                             reinterpret_cast<const std::uint8_t*>(next_gained) + to_lost),
                         half_pitch, needed && inside && y > reach_y);
    next_gained = row_of(next_gained, 1);
    prefetch_elements(next_gained, half_pitch, needed && inside && y + reach_y + 1 < height);
  };
  load(first + 1, first + 1 < end);

  // A warp writes sets of 128 samples, and each of its lanes four neighbouring ones, if all of
  // their windows are whole. The others, which are near an edge, follow one by one.
  const int warp_x = strip_x + (kBlock ? warp * 32 * thread_columns : 0);
  const int lane = thread % 32, x = warp_x + 4 * lane;
  const int whole_begin = min(max(strip_x, rounded_up_to_4(reach_x)), strip_end);
  const int whole_end = max(rounded_down_to_4(min(strip_end, width - reach_x)), whole_begin);
  const int left_singles = whole_begin - strip_x;
  const int singles = left_singles + strip_end - whole_end;
  const bool has_cut_windows = singles > 0;
  bool writes[kSets];
#pragma unroll
  for (int k = 0; k < kSets; ++k)
    writes[k] = x + 128 * k >= whole_begin && x + 128 * k < whole_end;

  const int to_left = -reach_x - 1 - (strip_x + picture.left);
  const int to_right = reach_x - (strip_x + picture.right) + half;
  std::uint32_t left_places[4], right_places[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    left_places[j] = running.place(x + j + to_left);
    right_places[j] = running.place(x + j + to_right);
  }

  const int side = 2 * reach_x + 1;
  const int min_columns = min(reach_x + 1, width), max_columns = min(side, width);
  // The constants of narrow windows by their widths, where an edge cuts some off.
  auto* const windows =
      reinterpret_cast<Window*>(group_memory + RunningSums<Sum, kBlock>::bytes(group_threads)) -
      min_columns;
  const auto window_of = [&](int rows, int columns) {
    return Window(static_cast<std::uint32_t>(rows) * columns, a.scale);
  };

  typename Pass::Place place(a, picture, x, first);
  typename Pass::Samples samples[kSets], next_samples[kSets];
  const auto load_samples = [&](bool needed, int rows_below, typename Pass::Samples(&to)[kSets]) {
#pragma unroll
    for (int k = 0; k < kSets; ++k)
      to[k] = needed && writes[k] ? place.samples(rows_below, 128 * k) : typename Pass::Samples{};
  };
  load_samples(true, 0, samples);
  // This waits for the samples. Without it, the compiler would wait for all loads in each row,
  // because in the first one they might be these.
#pragma unroll
  for (int k = 0; k < kSets; ++k)
    samples[k].settle(lane);
  Window whole_window;
  int rows_of_windows = 0;

  for (int y = first, row = 0; y < end; ++y, row = kBlock ? running.odd_rows() - row : 0) {
    if constexpr (!kBlock)
      sync();  // others may still read the row before
    running.store(row, sums);
    const bool moves = y + 1 < end;
    const auto change = [&] {
      changes = running_changes<Sum>(gained, lost);
      if (has_gap) {
        gap = {0, 0};
        move_gap(y + 1 + reach_y, y - reach_y);
      }
      if constexpr (kBlock)
        load(y + 2, true);
      left = sums_to_the_left(changes.total());
      publish(y & 1);
    };
    if (kBlock && moves)
      change();
    const int rows = min(y + reach_y + 1, height) - max(y - reach_y, 0);
    const bool other_windows = rows != rows_of_windows;
    rows_of_windows = rows;
    if (other_windows) {
      if (Pass::kNarrow && has_cut_windows) {
        if constexpr (kBlock)
          sync();  // others may still read those of the row before
        for (int columns = min_columns + thread; columns <= max_columns; columns += group_threads)
          windows[columns] = window_of(rows, columns);
      } else {
        whole_window = window_of(rows, max_columns);
      }
    }
    load_samples(moves, 1, next_samples);
    sync();
    if (Pass::kNarrow && has_cut_windows && other_windows)
      whole_window = windows[max_columns];

    typename Pass::Quad quads[kSets];
    const auto make_quad = [&](auto number) {
      constexpr int k = decltype(number)::value;
      std::uint32_t values[4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        values[j] = Pass::value(samples[k].at(j, a.scale.bits),
                                running.template load<32 * k>(right_places[j]) -
                                    running.template load<32 * k>(left_places[j]),
                                whole_window);
      quads[k] = Pass::quad_of(values);
    };
    // All lanes of a warp take part, so that the compiler interleaves the sets.
    if (!kBlock || writes[0])
      make_quad(std::integral_constant<int, 0>());
    if (!kBlock || writes[1])
      make_quad(std::integral_constant<int, 1>());
    if (!kBlock && moves) {
      change();
      apply(y & 1);
    }
#pragma unroll
    for (int k = 0; k < kSets; ++k) {
      if (writes[k])
        place.store(128 * k, quads[k]);
      samples[k] = next_samples[k];
    }
#pragma unroll 1
    for (int i = thread; i < singles; i += group_threads) {
      const int one_x = i < left_singles ? strip_x + i : whole_end + i - left_singles;
      const int columns = min(one_x + reach_x + 1, width) - max(one_x - reach_x, 0);
      const typename Pass::Single single(a, picture, one_x, y);
      const SumPair<Sum> window_sums =
          running.template load<0>(row + running.place(min(one_x + to_right, 2 * half - 1))) -
          running.template load<0>(row + running.place(max(one_x + to_left, -1)));
      if constexpr (Pass::kNarrow)
        single.store(Pass::value(single.sample(), window_sums, windows[columns]));
      else
        single.store(Pass::value(single.sample(), window_sums, window_of(rows, columns)));
    }
    place.next_row();
    if constexpr (!kBlock) {
      load(y + 2, y + 2 < end);
    } else {
      if (moves)
        apply(y & 1);
      const int to_next_row = row == 0 ? running.odd_rows() : -running.odd_rows();
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        left_places[j] += to_next_row;
        right_places[j] += to_next_row;
      }
    }
  }
}

}  // namespace cudavision::guided
