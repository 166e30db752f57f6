// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The rectangle of the picture that a block equalises, and the block's tables.

#include "cuda/clahe/arguments.cuh"

namespace cudavision::clahe {
namespace {

struct CellTables {
  const std::uint16_t *upper_left, *upper_right, *lower_left, *lower_right;

  __device__ CellTables(const Arguments& a, int grid, int cell_x, int cell_y) {
    const int upper = a.tiling.y.tile_before(cell_y) * a.tiling.x.tiles;
    const int lower = a.tiling.y.tile_after(cell_y) * a.tiling.x.tiles;
    const int left = a.tiling.x.tile_before(cell_x);
    const int right = a.tiling.x.tile_after(cell_x);
    upper_left = a.table_of(grid, upper + left);
    upper_right = a.table_of(grid, upper + right);
    lower_left = a.table_of(grid, lower + left);
    lower_right = a.table_of(grid, lower + right);
  }

  __device__ BiasedLevels levels(std::uint32_t value) const {
    return {
        level_bias_bits | __ldg(upper_left + value), level_bias_bits | __ldg(upper_right + value),
        level_bias_bits | __ldg(lower_left + value), level_bias_bits | __ldg(lower_right + value)};
  }
};

/// The four entries of one value in the tables of a cell: upper left, upper right, lower left,
/// lower right. An entry has 8 bits or, with kWords, 16 bits.
template <bool kWords>
using Quad = std::conditional_t<kWords, uint2, std::uint32_t>;

template <bool kWords>
__device__ Quad<kWords> quad_of(const CellTables& tables, int value) {
  const std::uint32_t upper = tables.upper_left[value] | tables.upper_right[value]
                                                             << (kWords ? 16 : 8);
  const std::uint32_t lower = tables.lower_left[value] | tables.lower_right[value]
                                                             << (kWords ? 16 : 8);
  if constexpr (kWords)
    return make_uint2(upper, lower);
  else
    return upper | lower << 16;
}

__device__ BiasedLevels levels_of(std::uint32_t quad) {
  return {select_bytes(quad, level_bias_bits, 0x7440), select_bytes(quad, level_bias_bits, 0x7441),
          select_bytes(quad, level_bias_bits, 0x7442), select_bytes(quad, level_bias_bits, 0x7443)};
}
__device__ BiasedLevels levels_of(const uint2& quad) {
  return {
      select_bytes(quad.x, level_bias_bits, 0x7410), select_bytes(quad.x, level_bias_bits, 0x7432),
      select_bytes(quad.y, level_bias_bits, 0x7410), select_bytes(quad.y, level_bias_bits, 0x7432)};
}

/// Returns the first pack that begins at or after a pixel. If the pixel is past the last column,
/// returns the number of packs in a row.
__device__ int first_pack_from(const Arguments& a, int pixel, int pack_pixels, int per_row) {
  return pixel < a.tiling.x.size ? (pixel + pack_pixels - 1) / pack_pixels : per_row;
}

/// The rectangle of a patch that a block equalises. All its packs begin in one cell.
struct BlockPatch {
  int cell_x, cell_y;
  int cell_end;        // first pixel of the next cell
  int first, columns;  // in packs
  int begin, end;      // in rows

  __device__ BlockPatch(const Arguments& a, int pack_pixels, int per_row) {
    const Share part(blockIdx.x, a.applying_parts);
    const Share chunk(part.whole, a.chunks);
    const Share patch(chunk.whole, a.patches_x);
    const int x = patch.part;
    const int y = patch.whole;
    cell_x = cell_of_patch(x, a.patches);
    cell_y = cell_of_patch(y, a.patches);
    const int x_end = patch_begin(a.tiling.x, a.cells_x, x + 1, a.patches);
    cell_end = a.patches == Patches::cells || x % 2 == 0 ? x_end : a.cells_x.pixels[cell_x + 1];
    first =
        first_pack_from(a, patch_begin(a.tiling.x, a.cells_x, x, a.patches), pack_pixels, per_row) +
        chunk.part * a.columns;
    columns = min(first_pack_from(a, x_end, pack_pixels, per_row) - first, a.columns);
    const RowRange range(patch_begin(a.tiling.y, a.cells_y, y, a.patches),
                         patch_begin(a.tiling.y, a.cells_y, y + 1, a.patches), part.part,
                         a.applying_parts);
    begin = range.begin;
    end = range.end;
  }

  /// Returns true in cells at an edge of the picture, except in the corners.
  __device__ bool has_two_tiles(const Arguments& a) const {
    const bool edge_x = cell_x == 0 || cell_x == a.tiling.x.tiles;
    const bool edge_y = cell_y == 0 || cell_y == a.tiling.y.tiles;
    return edge_x != edge_y;
  }

  __device__ bool empty() const { return columns <= 0 || begin >= end; }
};

/// Position of a thread in a block. The block covers as many rows of `columns` packs as fit.
struct Spread {
  int column, row, rows;

  __device__ explicit Spread(int columns) : Spread(ThreadDivision(columns)) {}

  __device__ bool idle() const { return row >= rows; }

 private:
  __device__ explicit Spread(const ThreadDivision& columns)
      : column(columns.remainder(threadIdx.x)),
        row(columns.quotient(threadIdx.x)),
        rows(columns.quotient(blockDim.x)) {}
};

}  // namespace
}  // namespace cudavision::clahe
