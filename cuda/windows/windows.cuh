// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that sums windows. A group of threads (a warp or a block) processes a strip of a
// picture in a band of rows. Each thread keeps the running sums of a few adjacent columns over the
// rows of the window and moves them down the band, so that the cost per row does not depend on the
// radius. For the first row of a band, the group sums all rows of the window or, for large radii,
// takes the sums of most rows from a table.
//
// A pass defines the elements and the result of a window:
//   Arguments               windows::Arguments (picture.h)
//   Element, Sum, AnySums   types of the elements, of a sum, and of the sums of a column
//   kColumns                columns per thread, 8 or 16
//   kBlocks, kWarpBlocks    minimum of resident blocks, if groups are blocks or warps
//   kGap                    blocks may have a gap between two halves: columns that are only summed
//   kWindowTable            shared memory caches the constants of windows at the edges
//   kEstimates              result() may clear `decided`; exact_result() then recomputes the result
//   kExactAtEdges           windows at the edges use exact_result(), because the constants for
//                           result() would take longer
//   Window, window_of()     constants of all windows of one area
//   QuadPosition, ResultPosition   positions of four results and of one, as in samples.cuh

#include <cuda_runtime.h>

#include <utility>

#include "cuda/windows/columns.cuh"

namespace cudavision::windows {

template <class Pass, bool kBlock>
constexpr int max_threads() {
  return kBlock && sizeof(typename Pass::Sum) == 4 ? 256 : 128;
}

__device__ inline int rounded_down_to_4(int number) {
  return number & ~3;
}

template <class Pass, bool kBlock>
__global__ void __launch_bounds__((max_threads<Pass, kBlock>()),
                                  (kBlock ? Pass::kBlocks : Pass::kWarpBlocks))
    windows_kernel(const __grid_constant__ typename Pass::Arguments a) {
  using Element = typename Pass::Element;
  using AnySums = typename Pass::AnySums;
  using Window = typename Pass::Window;
  constexpr int kColumns = Pass::kColumns;
  using Columns = ColumnSums<AnySums, kColumns>;
  using Row = Elements<Element, kColumns>;
  using Running = RunningSums<AnySums, kColumns, kBlock>;
  constexpr int kSets = kColumns / 4;  // sets of four results per thread
  extern __shared__ uint4 memory[];
  __shared__ WarpSums<AnySums> warp_sums[1];
  const int group_threads = kBlock ? static_cast<int>(blockDim.x) : 32;
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  // The shuffle lets the compiler prove that the index is uniform: derived values stay in uniform
  // registers, and branches do not diverge.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  const int group_in_block = kBlock ? 0 : warp;
  std::uint8_t* const group_memory =
      reinterpret_cast<std::uint8_t*>(memory) + group_in_block * a.group_bytes;
  Running running(group_memory, thread, group_threads);
  const auto sync = [] {
    if constexpr (kBlock)
      __syncthreads();
    else
      __syncwarp();
  };
  launch_dependents();
  grid_dependency_wait();

  const Picture& picture = picture_of_block(a);
  // The groups of a block process consecutive bands, which share many rows.
  const int groups_of_block = static_cast<int>(blockDim.x) / group_threads;
  const int block = static_cast<int>(blockIdx.x - picture.first_block);
  const int band = block / picture.strips * groups_of_block + group_in_block;
  const int strip_x = block % picture.strips * picture.strip_width;
  const int band_begin = picture.first_row + band * picture.band_rows;
  const int first = max(band_begin, picture.begin);
  const int end = min(band_begin + picture.band_rows, picture.end);
  const int strip_end = min(strip_x + picture.strip_width, picture.width);
  if (first >= end || strip_x >= strip_end ||
      !is_active(a, picture, strip_x, first, strip_end, end))
    return;
  const int radius_x = picture.radius_x, radius_y = picture.radius_y;
  const int width = picture.width, height = picture.height;
  const int half = group_threads * kColumns / 2;
  const int own = thread * kColumns;
  const int column = strip_x + (own < half ? picture.left + own : picture.right + own - half);
  const bool inside = column >= 0 && column < width;
  const bool has_gap = kBlock && Pass::kGap && picture.right > picture.left + half;
  const int half_pitch = picture.half_pitch;
  const auto* const elements = reinterpret_cast<const Element*>(picture.elements);
  const Element* const columns = elements + element_index<Element>(picture, column);

  const int gap_begin = max(strip_x + picture.left + half, 0);
  const int gap_end = min(strip_x + picture.right, width);
  AnySums gap{};
  const auto move_gap = [&](int gained, int lost) {
    for (int c = gap_begin + thread; c < gap_end; c += group_threads) {
      const Element* const at = elements + element_index<Element>(picture, c);
      add_change<Element>(gap, gained < height ? *row_of(picture, at, gained) : 0,
                          lost >= 0 ? *row_of(picture, at, lost) : 0);
    }
  };

  // Running sums, at first only over the thread's own columns.
  Columns sums{};
  {
    constexpr int kBatch = sizeof(Element) == 1   ? (kColumns == 8 ? 20 : 8)
                           : kBlock               ? 4
                           : sizeof(Element) == 2 ? 8
                                                  : 9;
    const auto add = [&](int from, int to) {
      add_rows<kBatch>(sums, picture, columns, inside, max(from, 0), min(to, height));
      if (has_gap)
        for (int y = max(from, 0); y < min(to, height); ++y)
          move_gap(y, -1);
    };
    const int top = first - radius_y, bottom = first + radius_y + 1;
    if (kBlock && picture.table) {
      // Adds whole groups of rows from the table, and the rows by which groups and window differ.
      const int groups = (2 * radius_y + 1 + picture.band_rows / 2) / picture.band_rows;
      const int table_end = top + groups * picture.band_rows;
      add(min(table_end, bottom), max(table_end, bottom));
      if (table_end > bottom) {
#pragma unroll
        for (int i = 0; i < kColumns; ++i)
          sums.sums[i] = AnySums{} - sums.sums[i];
        gap = AnySums{} - gap;
      }
      if (inside)
        add_groups(sums, picture, band, groups, column);
      if (has_gap)
        for (int c = gap_begin + thread; c < gap_end; c += group_threads) {
          ColumnSums<AnySums, 1> one{};
          add_groups(one, picture, band, groups, c);
          gap += one.last();
        }
    } else {
      add(top, bottom);
    }
    sums.add_up();
  }
  AnySums left;  // sums of all columns to the left of the thread, or the change of these sums
  const auto publish = [&](int parity, const AnySums& total) {
    left = sums_to_the_left(total);
    if constexpr (kBlock) {
      AnySums inclusive = left;
      inclusive += total;
      warp_sums[0].publish(parity, inclusive, gap, has_gap);
    }
  };
  const auto add_left = [&](int parity) {
    if constexpr (kBlock)
      left += warp_sums[0].to_the_left(parity, has_gap);
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      sums.sums[i] += left;
  };
  // Rows alternate between two buffers, because other warps may still be reading the previous row.
  publish((first + 1) & 1, sums.last());
  sync();
  add_left((first + 1) & 1);

  Row gained, lost;
  // Loads the rows that the windows gain and lose when they move to row y. Reuses the registers of
  // `gained` and `lost`, because a copy would wait for the loads.
  const Element* next_gained = row_of(picture, columns, first + 1 + radius_y);
  const std::int64_t to_lost = static_cast<std::int64_t>(picture.pitch) * (-2 * radius_y - 1);
  const auto load = [&](int y, bool needed) {
    gained = Row::load(next_gained, half_pitch, needed && inside && y + radius_y < height);
    lost = Row::load(reinterpret_cast<const Element*>(
                         reinterpret_cast<const std::uint8_t*>(next_gained) + to_lost),
                     half_pitch, needed && inside && y > radius_y);
    next_gained = row_of(picture, next_gained, 1);
    prefetch_elements(next_gained, half_pitch, needed && inside && y + radius_y + 1 < height);
  };
  load(first + 1, first + 1 < end);

  // A warp writes sets of 128 results, four adjacent results per lane, where the edges do not clip
  // the windows. The other results are written one by one.
  const int warp_x = strip_x + (kBlock ? warp * 32 * kColumns : 0);
  const int lane = thread % 32, x = warp_x + 4 * lane;
  const int whole_begin = min(max(strip_x, rounded_down_to_4(radius_x + 3)), strip_end);
  const int whole_end = max(rounded_down_to_4(min(strip_end, width - radius_x)), whole_begin);
  const int left_singles = whole_begin - strip_x;
  const int singles = left_singles + strip_end - whole_end;
  const bool has_cut_windows = singles > 0;
  bool writes[kSets];
#pragma unroll
  for (int k = 0; k < kSets; ++k)
    writes[k] = x + 128 * k >= whole_begin && x + 128 * k < whole_end;
  const bool all_write = __all_sync(~0u, x >= whole_begin && x + 128 * (kSets - 1) < whole_end);

  const int to_left = -radius_x - 1 - (strip_x + picture.left);
  const int to_right = radius_x - (strip_x + picture.right) + half;
  // A window's end: the address of a column divisible by 4, plus an offset equal in all lanes.
  std::uint32_t left_address = running.address(x + rounded_down_to_4(to_left));
  std::uint32_t right_address = running.address(x + rounded_down_to_4(to_right));
  int left_offsets[4], right_offsets[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    left_offsets[j] = running.offset((to_left & 3) + j);
    right_offsets[j] = running.offset((to_right & 3) + j);
  }

  const int min_columns = min(radius_x + 1, width), max_columns = min(2 * radius_x + 1, width);
  // Constants of windows, indexed by width.
  auto* const windows =
      reinterpret_cast<Window*>(group_memory + Running::bytes(group_threads)) - min_columns;
  const auto window_of = [&](int rows, int columns) {
    return Pass::window_of(static_cast<std::uint32_t>(rows * columns), a.settings);
  };

  typename Pass::QuadPosition position(picture, x, first);
  typename Pass::QuadPosition::Samples samples[kSets], next_samples[kSets];
  const auto load_samples = [&](bool needed, int rows_below,
                                typename Pass::QuadPosition::Samples(&to)[kSets]) {
#pragma unroll
    for (int k = 0; k < kSets; ++k)
      to[k] = needed && writes[k] ? position.samples(rows_below, 128 * k)
                                  : typename Pass::QuadPosition::Samples{};
  };
  load_samples(true, 0, samples);
  // Waits for the first samples here. Otherwise, the compiler would wait for all loads in each row,
  // because any row of the loop could be the first one.
#pragma unroll
  for (int k = 0; k < kSets; ++k)
    samples[k].wait_for_loads(lane);
  Window whole_window;
  int rows_of_windows = 0;

  for (int y = first, row = 0; y < end; ++y, row = kBlock ? running.odd_rows() - row : 0) {
    if constexpr (!kBlock)
      sync();  // other lanes may still be reading the previous row
    running.store(row, sums);
    const bool moves = y + 1 < end;
    const auto change = [&] {
      const AnySums total = add_changes<Element>(sums, gained, lost);
      if (has_gap) {
        gap = {};
        move_gap(y + 1 + radius_y, y - radius_y);
      }
      if constexpr (kBlock)
        load(y + 2, true);
      publish(y & 1, total);
    };
    if (kBlock && moves)
      change();
    const int rows = min(y + radius_y + 1, height) - max(y - radius_y, 0);
    const bool other_windows = rows != rows_of_windows;
    rows_of_windows = rows;
    if (other_windows) {
      if (Pass::kWindowTable && has_cut_windows) {
        if constexpr (kBlock)
          sync();  // other warps may still be reading the previous constants
        for (int columns = min_columns + thread; columns <= max_columns; columns += group_threads)
          windows[columns] = window_of(rows, columns);
      } else {
        whole_window = window_of(rows, max_columns);
      }
    }
    load_samples(moves, 1, next_samples);
    sync();
    if (Pass::kWindowTable && has_cut_windows && other_windows)
      whole_window = windows[max_columns];

    typename Pass::QuadPosition::Quad quads[kSets];
    unsigned in_doubt = 0;  // one bit per result
    const auto make_quad = [&](auto number) {
      constexpr int k = decltype(number)::value;
      std::uint32_t results[4];
      bool decided[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        decided[j] = true;
        results[j] =
            Pass::result(samples[k].at(j),
                         Running::template load<32 * k>(right_address + right_offsets[j]) -
                             Running::template load<32 * k>(left_address + left_offsets[j]),
                         whole_window, a.settings, decided[j]);
      }
      quads[k] = position.quad_of(results);
      if (!(decided[0] && decided[1] && decided[2] && decided[3]))
#pragma unroll
        for (int j = 0; j < 4; ++j)
          in_doubt |= static_cast<unsigned>(!decided[j] && writes[k]) << (4 * k + j);
    };
    // If all lanes of a warp write, the sets need no branches, so the compiler can interleave them.
    const auto make_quads = [&]<int... k>(auto all, std::integer_sequence<int, k...>) {
      ((decltype(all)::value || writes[k] ? make_quad(std::integral_constant<int, k>()) : void()),
       ...);
    };
    if (!kBlock || all_write)
      make_quads(std::true_type(), std::make_integer_sequence<int, kSets>());
    else
      make_quads(std::false_type(), std::make_integer_sequence<int, kSets>());
    if (!kBlock && moves) {
      change();
      add_left(y & 1);
    }
#pragma unroll
    for (int k = 0; k < kSets; ++k) {
      if (writes[k])
        position.store(128 * k, quads[k]);
      samples[k] = next_samples[k];
    }
    const auto write_single = [&](int one_x, bool exact) {
      const int columns = min(one_x + radius_x + 1, width) - max(one_x - radius_x, 0);
      const AnySums window_sums =
          Running::template load<0>(row + running.address(min(one_x + to_right, 2 * half - 1))) -
          Running::template load<0>(row + running.address(max(one_x + to_left, -1)));
      Window window;
      if constexpr (Pass::kWindowTable)
        window = windows[columns];
      else
        window = window_of(rows, columns);
      const typename Pass::ResultPosition single(picture, one_x, y);
      bool decided = !exact;
      std::uint32_t result = 0;
      if constexpr (!Pass::kExactAtEdges)
        result = Pass::result(single.sample(), window_sums, window, a.settings, decided);
      if constexpr (Pass::kEstimates || Pass::kExactAtEdges)
        if (Pass::kExactAtEdges || !decided)
          result = Pass::exact_result(single.sample(), window_sums, window, a.settings);
      single.store(result);
    };
#pragma unroll 1
    for (int i = thread; i < singles; i += group_threads)
      write_single(i < left_singles ? strip_x + i : whole_end + i - left_singles, false);
    if constexpr (Pass::kEstimates)
#pragma unroll 1
      for (; in_doubt != 0; in_doubt &= in_doubt - 1) {
        const int i = __ffs(static_cast<int>(in_doubt)) - 1;
        write_single(x + i / 4 * 128 + i % 4, true);
      }
    position.next_row();
    if constexpr (!kBlock) {
      load(y + 2, y + 2 < end);
    } else {
      if (moves)
        add_left(y & 1);
      const int to_next_row = row == 0 ? running.odd_rows() : -running.odd_rows();
      left_address += to_next_row;
      right_address += to_next_row;
    }
  }
}

}  // namespace cudavision::windows
