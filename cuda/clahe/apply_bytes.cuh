// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Gives contiguous samples of 8 bits their levels. A thread works down some columns, so that all
// that depends on a column alone stays in its registers.

#include "cuda/clahe/patch.cuh"

namespace cudavision::clahe {
namespace {

constexpr int kBytesThreads = 128;
constexpr int kBytesBlocks = 5;  // on a multiprocessor
constexpr int kBytesPixels = 8;  // that a thread has side by side

/// Loads 8 bytes from a multiple of 8, of which `existing` are in the row.
__device__ uint2 load_bytes(const std::uint8_t* from, int existing) {
  if (existing >= kBytesPixels)
    return __ldg(reinterpret_cast<const uint2*>(from));
  std::uint32_t words[2] = {};
#pragma unroll
  for (int i = 0; i < kBytesPixels; ++i)
    if (i < existing)
      words[i / 4] |= static_cast<std::uint32_t>(from[i]) << (8 * (i % 4));
  return make_uint2(words[0], words[1]);
}

__device__ void store_bytes(std::uint8_t* to, int existing, const uint2& bytes) {
  if (existing >= kBytesPixels) {
    *reinterpret_cast<uint2*>(to) = bytes;
    return;
  }
#pragma unroll
  for (int i = 0; i < kBytesPixels; ++i)
    if (i < existing)
      to[i] = static_cast<std::uint8_t>(byte_of(i < 4 ? bytes.x : bytes.y, i % 4));
}

/// The columns of a thread.
struct ByteColumns {
  BiasedWeight left[kBytesPixels], right[kBytesPixels];
  std::uint32_t next_cell[3];  // a byte each for up to three columns: 1 in the next cell, else 0

  __device__ ByteColumns(const Arguments& a, int x, const BlockPatch& patch) : next_cell{} {
#pragma unroll
    for (int i = 0; i < kBytesPixels; ++i) {
      const bool next = x + i >= patch.cell_end;
      const float weight = a.tiling.x.weight_in_cell(x + i, patch.cell_x + (next ? 1 : 0));
      right[i] = BiasedWeight(weight);
      left[i] = BiasedWeight(1.0f - weight);
      next_cell[i / 3] |= static_cast<std::uint32_t>(next) << (8 * (i % 3));
    }
  }

  /// Equalises four neighbours, beginning at column kFirst.
  template <int kFirst>
  __device__ std::uint32_t equalised(std::uint32_t word, const std::uint32_t* quads, float upper,
                                     float lower) const {
    std::uint32_t levels[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int i = kFirst + b;
      // The value, and in the next byte the number of its cell.
      const std::uint32_t index =
          select_bytes(word, next_cell[i / 3], 0x7700u | (4u + i % 3) << 4 | b);
      levels[b] = rounded_in_low_bits(
          interpolated_sum(levels_of(quads[index]), left[i], right[i], upper, lower));
    }
    return select_bytes(select_bytes(levels[0], levels[1], 0x0040),
                        select_bytes(levels[2], levels[3], 0x0040), 0x5410);
  }
};

__device__ std::uint32_t blended_bytes(std::uint32_t values, std::uint32_t levels, int blend) {
  std::uint32_t result = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b)
    result |=
        static_cast<std::uint32_t>(histequalize::blended(
            static_cast<int>(byte_of(values, b)), static_cast<int>(byte_of(levels, b)), blend))
        << (8 * b);
  return result;
}

/// Writes the quads of a cell, two by each thread.
__device__ void take_quads(const CellTables& tables, uint2* quads) {
  for (int i = threadIdx.x; i < 256 / 2; i += static_cast<int>(blockDim.x)) {
    const auto two = [=](const std::uint16_t* table) {
      return reinterpret_cast<const std::uint32_t*>(table)[i];
    };
    const std::uint32_t upper =
        select_bytes(two(tables.upper_left), two(tables.upper_right), 0x6240);
    const std::uint32_t lower =
        select_bytes(two(tables.lower_left), two(tables.lower_right), 0x6240);
    quads[i] = make_uint2(select_bytes(upper, lower, 0x5410), select_bytes(upper, lower, 0x7632));
  }
}

/// Equalises some columns of a patch: from row y on, every `rows`-th. next has the first two of
/// them. With kWhole, every column exists, and there is no blend.
template <bool kWhole>
__device__ void equalise_columns(const Arguments& a, const BlockPatch& patch, int x, int y, int end,
                                 int rows, uint2 (&next)[2], const std::uint32_t* quads,
                                 const ByteColumns& columns) {
  const PlanePair& plane = a.picture.planes[0];
  const int existing = kWhole ? kBytesPixels : a.picture.width - x;
  const std::uint8_t* from = plane.in_row(y + 2 * rows) + x;
  std::uint8_t* to = plane.out_row(y) + x;
  const std::int64_t in_step = static_cast<std::int64_t>(rows) * plane.in_pitch;
  const std::int64_t out_step = static_cast<std::int64_t>(rows) * plane.out_pitch;
#pragma unroll 1
  for (; y < end; y += rows) {
    const uint2 data = next[0];
    next[0] = next[1];
    if (y + 2 * rows < end)
      next[1] = load_bytes(from, existing);
    from += in_step;
    const float lower = a.tiling.y.weight_in_cell(y, patch.cell_y);
    const float upper = 1.0f - lower;
    uint2 levels = make_uint2(columns.equalised<0>(data.x, quads, upper, lower),
                              columns.equalised<4>(data.y, quads, upper, lower));
    if (!kWhole && a.blend != 256)
      levels = make_uint2(blended_bytes(data.x, levels.x, a.blend),
                          blended_bytes(data.y, levels.y, a.blend));
    store_bytes(to, existing, levels);
    to += out_step;
  }
}

/// Equalises the block's patch.
__global__ void __launch_bounds__(kBytesThreads, kBytesBlocks)
    apply_bytes_kernel(const __grid_constant__ Arguments a) {
  __shared__ uint2 quads[2 * 256 / 2];  // of the cell and of the next one
  launch_dependents();
  const BlockPatch patch(a, kBytesPixels, (a.picture.width + kBytesPixels - 1) / kBytesPixels);
  if (patch.empty()) {
    grid_dependency_wait();
    return;
  }
  const Spread spread(patch.columns);
  const int end = spread.idle() ? 0 : patch.end;
  const int x = (patch.first + spread.column) * kBytesPixels;
  const int y = patch.begin + spread.row;
  // The launch before this one waited for whatever writes the picture, and only then let this one
  // start.
  uint2 next[2];
#pragma unroll
  for (int k = 0; k < 2; ++k)
    if (y + k * spread.rows < end)
      next[k] =
          load_bytes(a.picture.planes[0].in_row(y + k * spread.rows) + x, a.picture.width - x);
  const ByteColumns columns(a, x, patch);

  grid_dependency_wait();
  const int cells = patch.cell_end % kBytesPixels != 0 ? 2 : 1;
  for (int c = 0; c < cells; ++c)
    take_quads(CellTables(a, 0, min(patch.cell_x + c, a.tiling.x.tiles), patch.cell_y),
               quads + 128 * c);
  __syncthreads();

  const bool whole = (patch.first + patch.columns) * kBytesPixels <= a.picture.width;
  const std::uint32_t* words = reinterpret_cast<const std::uint32_t*>(quads);
  if (whole && a.blend == 256)
    equalise_columns<true>(a, patch, x, y, end, spread.rows, next, words, columns);
  else
    equalise_columns<false>(a, patch, x, y, end, spread.rows, next, words, columns);
}

}  // namespace
}  // namespace cudavision::clahe
