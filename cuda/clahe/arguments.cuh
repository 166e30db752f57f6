// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// All kernels of this folder take these arguments, and spread their threads over packs in this way.

#include "cuda/clahe/arithmetic.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/copy_pieces.cuh"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::clahe {
namespace {

enum class Action {
  map,    ///< luma gets its level
  shift,  ///< red, green and blue are changed as much as the luminance
  each,   ///< red, green and blue get their levels
};

template <Action kAction>
constexpr int grids_of = kAction == Action::each ? 3 : 1;

template <class Pack>
constexpr bool is_words = false;
template <bool kAllBits>
constexpr bool is_words<LumaWords<kAllBits>> = true;
template <>
constexpr bool is_words<ScatteredLuma<2>> = true;

/// Tables are numbered by grid (one, or red, green and blue), then by tile.
struct Arguments {
  PackedImage picture;
  Tiling tiling;
  CellBegins cells_x, cells_y;
  int bits;
  std::uint32_t* counts;  // 2^bits for each table, all zero between frames
  std::uint16_t* tables;  // 2^bits for each table

  std::uint32_t* arrivals;    // the state of the TableArrivals, with a table for each tile
  std::uint32_t* launches;    // the state of the LaunchEpoch
  std::uint64_t* range_sums;  // for each tile and range of bins

  int counting_parts;  // blocks that count a tile, or one of its ranges of bins
  int range_bins;      // bins that a block counts; divides 2^bits
  bool make_tables;    // when a tile is counted

  int table_count;
  std::uint32_t clip_count;
  float scale;
  int low, high;
  CopyPieces copies[FrameLayout::max_planes];
  int copy_count;

  Patches patches;     // that blocks equalise
  int columns;         // packs side by side that a block equalises
  int chunks;          // blocks side by side in a patch
  int applying_parts;  // blocks below each other in a patch
  int blend;

  __device__ int bins() const { return 1 << bits; }
  __device__ std::uint32_t* counts_of(int grid, int tile) const {
    return counts + (static_cast<std::int64_t>(grid * tiling.tiles() + tile) << bits);
  }
  __device__ std::uint16_t* table_of(int grid, int tile) const {
    return tables + (static_cast<std::int64_t>(grid * tiling.tiles() + tile) << bits);
  }
};

/// Copies planes that stay unchanged, by blocks of which this one has the number `block`.
__device__ void copy_planes(const Arguments& a, std::uint32_t block, std::uint32_t blocks) {
  copy_pieces(a.copies, a.copy_count, block * blockDim.x + threadIdx.x, blocks * blockDim.x);
}

/// Part `number` of `parts` equal parts of the rows from begin to end.
struct RowRange {
  int begin, end;

  __device__ RowRange(int first, int last, int number, int parts)
      : begin(first + (last - first) * number / parts),
        end(first + (last - first) * (number + 1) / parts) {}
};

}  // namespace
}  // namespace cudavision::clahe
