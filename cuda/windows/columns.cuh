// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Tables of column sums over groups of rows, from which bands with large radii compute the sums of
// their first window. A warp of column_sums_kernel sums one or two groups in 128 adjacent columns.
// The block then accumulates the groups of its warps from top to bottom. Sums are not accumulated
// across blocks: add_groups() adds the last table row of each block that ends within the window.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/windows/sums.cuh"

namespace cudavision::windows {

constexpr int table_warps = 16;  // warps per block
/// Groups per warp, as many as the registers allow.
template <class AnySums>
constexpr int groups_of_table_warp = sizeof(AnySums) == 4 ? 2 : 1;
template <class AnySums>
constexpr int groups_of_table_block = groups_of_table_warp<AnySums>* table_warps;
constexpr int table_columns_of_lane = 4;
constexpr int table_columns_of_block = 32 * table_columns_of_lane;

/// Row g of the table holds the sums of a block's groups up to group g − 1; row 0 holds zeros.
template <class AnySums, int kColumns>
__device__ ColumnSums<AnySums, kColumns>& table_columns(const Picture& picture, int row,
                                                        int column) {
  return *reinterpret_cast<ColumnSums<AnySums, kColumns>*>(
      static_cast<AnySums*>(picture.table) + std::int64_t{picture.table_pitch} * row + column);
}

/// Adds the sums of the first `groups` groups of rows in the first window of a band.
template <class AnySums, int kColumns>
__device__ void add_groups(ColumnSums<AnySums, kColumns>& columns, const Picture& picture, int band,
                           int groups, int column) {
  const int top = picture.groups.before(band), bottom = picture.groups.before(band + groups);
  const auto above = table_columns<AnySums, kColumns>(picture, top, column);
  const auto below = table_columns<AnySums, kColumns>(picture, bottom, column);
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    columns.sums[i] += below.sums[i] - above.sums[i];
    // Adds the last table row of each block between `top` and `bottom`.
#pragma unroll 2
  for (int row = round_up(max(top, 1), groups_of_table_block<AnySums>); row < bottom;
       row += groups_of_table_block<AnySums>) {
    const auto sums = table_columns<AnySums, kColumns>(picture, row, column);
    columns += sums;
  }
}

/// kColumns is the number of columns per thread of windows_kernel.
template <class Arguments, class Element, class AnySums, int kColumns>
__global__ void __launch_bounds__(32 * table_warps, sizeof(AnySums) == 16 ? 1 : 2)
    column_sums_kernel(const __grid_constant__ Arguments a) {
  using Columns = ColumnSums<AnySums, table_columns_of_lane>;
  __shared__ Columns sums_of_warps[table_warps][32];
  launch_dependents();
  grid_dependency_wait();

  int block = static_cast<int>(blockIdx.x), number = 0, across = 0;
  for (;; ++number) {
    const Picture& one = a.pictures[number];
    across = divide_up(one.width, table_columns_of_block);
    const int blocks = across * divide_up(one.groups.count, groups_of_table_block<AnySums>);
    if (block < blocks)
      break;
    block -= blocks;
  }
  const Picture& picture = a.pictures[number];
  const RowGroups& groups = picture.groups;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int column = (block % across * 32 + lane) * table_columns_of_lane;
  constexpr int kGroups = groups_of_table_warp<AnySums>;
  const int group = block / across * groups_of_table_block<AnySums> + warp * kGroups;
  const bool inside = column < round_up(picture.width, kColumns);
  const Element* const elements =
      reinterpret_cast<const Element*>(picture.elements) + element_index<Element>(picture, column);

  constexpr int kBatch = sizeof(Element) > 1 ? 8 : kGroups > 1 ? 12 : 20;  // rows in flight
  Columns sums[kGroups]{};
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int top = groups.top + (groups.first + group + g) * groups.band_rows;
    add_rows<kBatch>(sums[g], picture, elements, inside, max(top, 0),
                     min(top + groups.band_rows, picture.height));
    if (g > 0)
      sums[g] += sums[g - 1];
  }
  sums_of_warps[warp][lane] = sums[kGroups - 1];
  __syncthreads();
  Columns before{};
#pragma unroll 4
  for (int w = 0; w < warp; ++w)
    before += sums_of_warps[w][lane];
  if (inside && group == 0)
    table_columns<AnySums, table_columns_of_lane>(picture, 0, column) = {};
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    sums[g] += before;
    if (inside && group + g < groups.count)
      table_columns<AnySums, table_columns_of_lane>(picture, group + g + 1, column) = sums[g];
  }
}

}  // namespace cudavision::windows
