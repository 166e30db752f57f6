// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arguments of all kernels of this folder, and the distribution of threads over packs.

#include <type_traits>

#include "cuda/clahe/arithmetic.h"
#include "cuda/clahe/estimate.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/histequalize/pack_actions.cuh"
#include "cuda/pixels/access_pattern.h"

namespace cudavision::clahe {
namespace {

using histequalize::Action;

template <Action kAction>
constexpr int grids_of = kAction == Action::each ? 3 : 1;

template <class Pack>
constexpr bool is_bytes = std::is_same_v<Pack, LumaBytes<1, 0>>;

/// Element of an array in shared memory at the index in a byte of a word. One instruction selects
/// the byte and adds the address.
__device__ std::uint32_t* element_of_byte(std::uint32_t word, int byte, std::uint32_t array) {
  const std::uint32_t at = dot_bytes(word, 4u << (8 * byte), array);
  return static_cast<std::uint32_t*>(__cvta_shared_to_generic(at));
}
__device__ std::uint32_t shared_address(const void* array) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(array));
}

/// Tables are numbered by grid (one, or red, green and blue), then by tile.
struct Arguments {
  PackedImage picture;
  Tiling tiling;
  CellBegins cells_x, cells_y;
  int bits;
  std::uint32_t* counts;  // 2^bits for each table, all zero between frames
  std::uint16_t* tables;  // 2^bits for each table

  std::uint32_t* arrivals;    // state of the TableArrivals, with a table for each tile
  std::uint32_t* launches;    // state of the LaunchEpoch
  std::uint64_t* range_sums;  // for each tile and range of bins

  Division tiles_x;         // side by side
  Division counting_parts;  // blocks that count a tile, or one of its ranges of bins
  int range_bins;           // bins that a block counts; divides 2^bits
  bool make_tables;         // after counting a tile

  int table_count;
  std::uint32_t clip_count;
  float scale;
  int low, high;
  CopyPieces copies[FrameLayout::max_planes];
  int copy_count;

  Patches patches;          // equalised by the blocks
  Division patches_x;       // side by side
  int columns;              // packs side by side that a block equalises
  Division chunks;          // blocks side by side in a patch
  Division applying_parts;  // blocks below each other in a patch
  EstimateScale estimates;
  int blend;

  __device__ int bins() const { return 1 << bits; }
  __device__ std::uint32_t* counts_of(int grid, int tile) const {
    return counts + (static_cast<std::int64_t>(grid * tiling.tiles() + tile) << bits);
  }
  __device__ std::uint16_t* table_of(int grid, int tile) const {
    return tables + (static_cast<std::int64_t>(grid * tiling.tiles() + tile) << bits);
  }
};

/// Copies unchanged planes. This block is number `block` of `blocks`.
__device__ void copy_planes(const Arguments& a, std::uint32_t block, std::uint32_t blocks) {
  copy_pieces(a.copies, a.copy_count, block * blockDim.x + threadIdx.x, blocks * blockDim.x);
}

/// Splits a block's number into the number of a whole and the number of one of its parts.
struct Share {
  int whole, part;

  __device__ Share(std::uint32_t number, const Division& parts)
      : whole(static_cast<int>(quotient(number, parts))),
        part(static_cast<int>(number - whole * parts.divisor)) {}
};

/// Part `number` of equal parts of the rows from begin to end.
struct RowRange {
  int begin, end;

  __device__ RowRange(int first, int last) : begin(first), end(last) {}
  __device__ RowRange(int first, int last, int number, const Division& parts)
      : begin(first + static_cast<int>(quotient((last - first) * number, parts))),
        end(first + static_cast<int>(quotient((last - first) * (number + 1), parts))) {}
};

/// Divides thread numbers below 2^11 faster than integer division. Exact: a quotient plus a half
/// differs from every integer by at least 2^-12 of itself; the error is below 2^-21.
struct ThreadDivision {
  int divisor;
  float inverse;

  __device__ explicit ThreadDivision(int by)
      : divisor(by), inverse(approximate_reciprocal(static_cast<float>(by))) {}

  __device__ int quotient(unsigned number) const {
    return static_cast<int>((static_cast<float>(static_cast<int>(number)) + 0.5f) * inverse);
  }
  __device__ int remainder(unsigned number) const {
    return static_cast<int>(number) - quotient(number) * divisor;
  }
};

}  // namespace
}  // namespace cudavision::clahe
