// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Kernel arguments, and helpers that divide work among blocks and threads, for all kernels here.

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

/// Returns the element of a shared-memory array whose index is byte `byte` of word. One dot-product
/// instruction extracts the byte and computes the address.
__device__ std::uint32_t* element_of_byte(std::uint32_t word, int byte, std::uint32_t array) {
  const std::uint32_t at = dot_bytes(word, 4u << (8 * byte), array);
  return static_cast<std::uint32_t*>(__cvta_shared_to_generic(at));
}
__device__ std::uint32_t shared_address(const void* array) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(array));
}

/// Kernel arguments. Tables are numbered by grid (luma, or red, green and blue), then by tile.
struct Arguments {
  PackedImage picture;
  Tiling tiling;
  CellBegins cells_x, cells_y;
  int bits;
  std::uint32_t* counts;  // 2^bits per table, all zero between frames
  std::uint16_t* tables;  // 2^bits per table

  std::uint32_t* arrivals;    // for arrive_last(), one word per tile
  std::uint32_t* launches;    // state of LaunchEpoch
  std::uint64_t* range_sums;  // per tile and range of bins

  Division tiles_x;         // tiles per row
  Division counting_parts;  // blocks that count one tile, or one range of bins of a tile
  int range_bins;           // bins that a block counts, or loads at a time; divides 2^bits
  bool make_tables;         // count kernel: also make the tables

  int table_count;
  std::uint32_t clip_count;
  float scale;
  int low, high;
  PlaneCopy copies[FrameLayout::max_planes];
  int copy_count;

  Patches patches;          // how the picture is divided for the apply kernels
  Division patches_x;       // patches per row
  int columns;              // width of a block's rectangle, in packs
  Division chunks;          // blocks side by side in a patch
  Division applying_parts;  // blocks one below the other in a patch
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

/// Copies unchanged planes, divided among `blocks` blocks. `block` is the index of the caller.
__device__ void copy_planes(const Arguments& a, std::uint32_t block, std::uint32_t blocks) {
  copy_vectors(a.copies, a.copy_count, block * blockDim.x + threadIdx.x, blocks * blockDim.x);
}

/// Splits a block's number: the block processes part `part` of item `whole`.
struct Share {
  int whole, part;

  __device__ Share(std::uint32_t number, const Division& parts)
      : whole(static_cast<int>(quotient(number, parts))),
        part(static_cast<int>(number - whole * parts.divisor)) {}
};

/// A range of rows. The second constructor divides the rows evenly and takes part `number`.
struct RowRange {
  int begin, end;

  __device__ RowRange(int first, int last) : begin(first), end(last) {}
  __device__ RowRange(int first, int last, int number, const Division& parts)
      : begin(first + static_cast<int>(quotient((last - first) * number, parts))),
        end(first + static_cast<int>(quotient((last - first) * (number + 1), parts))) {}
};

/// Divides thread numbers below 2^11 faster than an integer division. The result is exact: the
/// relative distance of (number + 1/2) / divisor from any integer is at least 2^-12, and the
/// relative rounding error is below 2^-21.
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
