// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// All kernels of this folder take these arguments, and spread their threads over packs in this way.

#include "cuda/clahe/arithmetic.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/pixels/access_pattern.h"
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
  int bits;
  std::uint32_t* counts;  // 2^bits for each table, all zero between frames
  std::uint16_t* tables;  // 2^bits for each table

  int counting_parts;  // blocks that count a tile

  int table_count;
  std::uint32_t clip_count;
  float scale;
  int low, high;
  CopyPieces copies[FrameLayout::max_planes];
  int copy_count;

  int columns;         // packs side by side that a block equalises
  int chunks;          // blocks side by side in a cell
  int applying_parts;  // blocks below each other in a cell
  int blend;

  __device__ int bins() const { return 1 << bits; }
  __device__ std::uint32_t* counts_of(int grid, int tile) const {
    return counts + (static_cast<std::int64_t>(grid * tiling.tiles() + tile) << bits);
  }
  __device__ std::uint16_t* table_of(int grid, int tile) const {
    return tables + (static_cast<std::int64_t>(grid * tiling.tiles() + tile) << bits);
  }
};

constexpr int kThreads = 256;  // of the blocks that count and of those that equalise

/// The widest rectangle of packs over which a block is spread as a whole. A wider one is cut into
/// chunks, so that few threads of the last row are idle.
constexpr int kMaxColumns = 64;
constexpr int kChunkColumns = 32;

inline CUDAVISION_HOST_DEVICE int columns_at_once(int packs) {
  return packs <= kMaxColumns ? packs : kChunkColumns;
}

/// The place of a thread where a block works on as many rows of `columns` packs as it has threads
/// for.
struct Spread {
  int column, row, rows;

  __device__ explicit Spread(int columns)
      : column(static_cast<int>(threadIdx.x) % columns),
        row(static_cast<int>(threadIdx.x) / columns),
        rows(kThreads / columns) {}

  __device__ bool idle() const { return row >= rows; }
};

/// Part `number` of `parts` equal parts of the rows from begin to end.
struct RowRange {
  int begin, end;

  __device__ RowRange(int first, int last, int number, int parts)
      : begin(first + (last - first) * number / parts),
        end(first + (last - first) * (number + 1) / parts) {}
};

}  // namespace
}  // namespace cudavision::clahe
