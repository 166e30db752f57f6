// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Applies the tables. In apply_kernel, a load from shared memory reads the entries of one value in
// four tables, a quad. If quads do not fit or do not pay off (quads_are_worth_it()),
// apply_directly_kernel reads device memory. apply_bytes.cuh replaces apply_kernel for contiguous
// 8-bit samples; apply_ranges.cuh replaces apply_directly_kernel for deep samples in large tiles.

#include "cuda/clahe/patch.cuh"

namespace cudavision::clahe {
namespace {

constexpr int kThreads = 256;

/// level(grid, pixel, value) returns the equalised level of `value` at the given pixel of the pack.
template <class Pack, Action kAction, class Level>
__device__ void equalise_pack(std::uint32_t* data, int existing, const Arguments& a,
                              const Level& level) {
  histequalize::apply_levels<Pack, kAction>(
      data, existing, a.picture, a.blend, [&](int grid, int pixel, std::uint32_t value) {
        const std::uint32_t equalised = level(grid, pixel, value);
        return kAction == Action::shift
                   ? equalised
                   : static_cast<std::uint32_t>(histequalize::blended(
                         static_cast<int>(value), static_cast<int>(equalised), a.blend));
      });
}

/// A block equalises packs that begin in its cell. Their last pixels may be in the next cell.
template <class Pack, Action kAction>
__global__ void __launch_bounds__(kThreads, Pack::words > 4    ? 1
                                            : Pack::pixels > 8 ? 2
                                                               : 3)
    apply_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  using CellQuad = Quad<is_words<Pack>>;
  CellQuad* quads = reinterpret_cast<CellQuad*>(shared_words);  // indexed by grid, cell and value
  const BlockPatch patch(a, Pack::pixels, a.picture.per_row);
  launch_dependents();
  grid_dependency_wait();
  if (patch.empty())
    return;

#pragma unroll
  for (int grid = 0; grid < grids_of<kAction>; ++grid)
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const CellTables tables(a, grid, min(patch.cell_x + c, a.tiling.x.tiles), patch.cell_y);
      CellQuad* to = quads + ((grid * 2 + c) << a.bits);
      for (int value = threadIdx.x; value < a.bins(); value += kThreads)
        to[value] = quad_of<is_words<Pack>>(tables, value);
    }
  __syncthreads();

  const Spread spread(patch.columns);
  if (spread.idle())
    return;
  PackCursor<Rows::ragged> at(a.picture, 0);
  at.x = patch.first + spread.column;
  const int x = at.x * Pack::pixels;
  float right[Pack::pixels];
#pragma unroll
  for (int i = 0; i < Pack::pixels; ++i)
    right[i] = a.tiling.x.weight(x + i);
  const int own_pixels = patch.cell_end - x;  // the remaining pixels belong to the next cell
  const int existing = pixels_in<Pack, Rows::ragged>(a.picture, at);

  at.y = patch.begin + spread.row;
  if (at.y >= patch.end)
    return;
  std::uint32_t next[Pack::words];
  Pack::template load<Rows::ragged>(a.picture, at, next);
  for (int y = at.y; y < patch.end; y += spread.rows) {
    std::uint32_t data[Pack::words];
#pragma unroll
    for (int w = 0; w < Pack::words; ++w)
      data[w] = next[w];
    at.y = y + spread.rows;
    if (at.y < patch.end)
      Pack::template load<Rows::ragged>(a.picture, at, next);
    const float lower = a.tiling.y.weight(y);
    equalise_pack<Pack, kAction>(data, existing, a, [&](int grid, int pixel, std::uint32_t value) {
      const int c = pixel < own_pixels ? 0 : 1;
      float weight = right[pixel];
      // Keeps the compiler from holding four values derived from each weight in registers.
      if constexpr (Pack::words > 4)
        asm volatile("" : "+f"(weight));
      return level_between(levels_of(quads[((grid * 2 + c) << a.bits) + value]), weight, lower);
    });
    at.y = y;
    Pack::template store<Rows::ragged>(a.picture, at, data);
  }
}

template <class Pack, Action kAction>
__global__ void __launch_bounds__(kThreads)
    apply_directly_kernel(const __grid_constant__ Arguments a) {
  launch_dependents();
  grid_dependency_wait();
  const std::uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= a.picture.count)
    return;
  const PackCursor<Rows::ragged> at(a.picture, number);
  std::uint32_t data[Pack::words];
  Pack::template load<Rows::ragged>(a.picture, at, data);
  const int cell_y = a.tiling.y.cell_of(at.y);
  const float lower = a.tiling.y.weight(at.y);
  const int existing = pixels_in<Pack, Rows::ragged>(a.picture, at);
  equalise_pack<Pack, kAction>(data, existing, a, [&](int grid, int pixel, std::uint32_t value) {
    const int x = at.x * Pack::pixels + pixel;
    const CellTables tables(a, grid, a.tiling.x.cell_of(x), cell_y);
    return level_between(tables.levels(value), a.tiling.x.weight(x), lower);
  });
  Pack::template store<Rows::ragged>(a.picture, at, data);
}

}  // namespace
}  // namespace cudavision::clahe
