// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Shared memory of a block of large.cuh. All warps of the block stage rows together.

#include <cuda_runtime.h>

#include "cuda/gaussblur/stage.cuh"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

constexpr int large_stages = 2;
constexpr int large_rows = 2 * tile_rows;  ///< per step: two tiles, one below the other
constexpr int large_warps = 12;            ///< maximum per block
// Shape of launches that keep the tables and the ring in scratch memory.
constexpr int scratch_warps = 4;
constexpr int scratch_blocks_per_multiprocessor = 2;

CUDAVISION_HOST_DEVICE constexpr int large_column_slices(int radius) {
  return (radius + slice_length / 2 - 1) / (slice_length / 2) + 1;
}

/// Slots of the ring: one per step, with two slices each. The lower tile ends with the newest
/// slice, the upper tile one slice earlier. Slices that a tile does not use have zero coefficients.
CUDAVISION_HOST_DEVICE constexpr int large_ring_slots(int column_slices) {
  return column_slices / 2 + 1;
}

/// Returns true if the first output step makes only the lower tile, as the ring lacks a slice.
CUDAVISION_HOST_DEVICE constexpr bool lower_tile_first(int column_slices) {
  return column_slices % 2 == 0;
}

CUDAVISION_HOST_DEVICE constexpr int large_warm_up_steps(int column_slices) {
  return (column_slices - 1) / 2;
}

/// Layout of the tables. A lane reads a quad at a time. Eight lanes read at once, from two lists:
/// every other quad along x, adjacent quads along y. Strides avoid bank conflicts in shared memory.
template <class Depth>
struct LargeTables {
  using Table = ToeplitzTable<Depth>;
  static constexpr int quad_bytes = 16;
  static constexpr int row_lists = Depth::row_sums * 2;
  static constexpr int column_lists = Depth::coefficient_bytes * 4;
  static constexpr int column_padding = 9;  // two slices of zeros and one word

  int row_slices, column_slices;
  int row_stride, column_stride;  // in quads

  CUDAVISION_HOST_DEVICE LargeTables(int row_slices, int column_slices)
      : row_slices(row_slices),
        column_slices(column_slices),
        row_stride((4 * row_slices + Table::row_padding) | 1),
        column_stride((4 * column_slices + column_padding + 3) / 8 * 8 + 4) {}

  CUDAVISION_HOST_DEVICE int row_bytes() const { return row_lists * row_stride * quad_bytes; }
  CUDAVISION_HOST_DEVICE int bytes() const {
    return row_bytes() + column_lists * column_stride * quad_bytes;
  }

  /// Byte offset of a lane's first quad for a sum along x. Add 8 · pair − group quads.
  __device__ int row_start(int sum, int g, int t) const {
    return ((sum * 2 + g % 2) * row_stride + Table::row_padding - byte_of_row<Depth>(0, g) / 4 +
            2 * t) *
           quad_bytes;
  }
  /// Like row_start(), for the lower tile's sum along y. Add 8 quads per older slot of the ring
  /// and, for the upper tile, the four quads of one slice.
  __device__ int column_start(int byte, int g, int t) const {
    const int slices_before = 2 * large_ring_slots(column_slices) - column_slices;
    return row_bytes() +
           ((byte * 4 + g % 4) * column_stride + column_padding - g / 4 + t - 4 * slices_before) *
               quad_bytes;
  }

  __device__ void fill(std::uint8_t* to, const std::uint32_t* row_table,
                       const std::uint32_t* column_table) const {
    auto* const quads = reinterpret_cast<uint4*>(to);
    for (int i = threadIdx.x; i < row_lists * row_stride; i += blockDim.x) {
      const int sum = i / row_stride / 2, odd = i / row_stride % 2;
      const int word = i % row_stride - Table::row_padding;
      const auto at = [&](int half, int second) {
        const int start = Table::row_start(row_slices, sum, 0, odd + 8 * half);
        const int skipped = byte_of_row<Depth>(0, odd + 8 * half) / 4;  // 0, or 1 for lower rows
        const int index = word + second - skipped;
        return index < -Table::row_padding || index >= 4 * row_slices
                   ? 0
                   : row_table[start + skipped + index];
      };
      quads[i] = make_uint4(at(0, 0), at(1, 0), at(0, 1), at(1, 1));
    }
    auto* const column_quads = quads + row_lists * row_stride;
    for (int i = threadIdx.x; i < column_lists * column_stride; i += blockDim.x) {
      const int byte = i / column_stride / 4, phase = i / column_stride % 4;
      const int word = i % column_stride - column_padding;
      const auto at = [&](int half, int second) {
        const int index = word - 2 * half + 4 * second;
        return index < -Table::column_padding || index >= 4 * column_slices
                   ? 0
                   : column_table[Table::column_start(column_slices, byte, phase) + index];
      };
      column_quads[i] = make_uint4(at(0, 0), at(1, 0), at(0, 1), at(1, 1));
    }
  }
};

CUDAVISION_HOST_DEVICE constexpr int window_parts(int row_slices, int chunk_pairs) {
  return (row_slices / 2 + chunk_pairs - 1) / chunk_pairs;
}

/// Returns true if the map of the edges fits. With more parts, it would be too large.
CUDAVISION_HOST_DEVICE constexpr bool maps_edges(int parts) {
  return parts <= 4;
}

/// Position of a byte outside the row and of its source in the row, relative to a part of a stage.
struct Mirrored {
  std::uint16_t from, to;
};

template <class Depth>
struct LargeMemory {
  int tables, stage, edges, ring;

  CUDAVISION_HOST_DEVICE LargeMemory(int row_slices, int column_slices, int chunk_pairs, int warps)
      : tables(LargeTables<Depth>(row_slices, column_slices).bytes()),
        stage(stage_pitch(chunks(chunk_pairs, warps)) * large_rows),
        edges(maps_edges(window_parts(row_slices, chunk_pairs))
                  ? window_parts(row_slices, chunk_pairs) * chunks(chunk_pairs, warps) *
                        chunk_bytes * static_cast<int>(sizeof(Mirrored))
                  : 0),
        ring(warps * large_ring_slots(column_slices) * 2 * Depth::ring_words * 32 * 4) {}

  CUDAVISION_HOST_DEVICE static constexpr int chunks(int chunk_pairs, int warps) {
    return 2 * (chunk_pairs + warps - 1);
  }
  /// `all` includes scratch(), which may be in global memory instead.
  CUDAVISION_HOST_DEVICE int shared(bool all) const {
    return large_stages * stage + edges + (all ? scratch() : 0);
  }
  CUDAVISION_HOST_DEVICE int scratch() const { return tables + ring; }
};

/// Starts loading the rows of one part of the window. At least eight adjacent threads load a row.
template <SlowPath kSlowPath>
class LargeLoader {
 public:
  __device__ LargeLoader()
      : row_(static_cast<int>(threadIdx.x) / per_row()),
        chunk_(static_cast<int>(threadIdx.x) % per_row()) {}

  __device__ void load(const Plane& plane, Border border, const StagedPart& part,
                       SharedAddress stage, int pitch, int y) const {
    const bool aligned = plane.load_bytes == 16;
    const unsigned whole_end = aligned ? max(plane.inner_bytes - chunk_bytes + 1, 0) : 0;
    const bool all_whole =
        aligned && (part.last() <= plane.inner_bytes || plane.inner_bytes % chunk_bytes == 0);
    const int first = part.first + chunk_ * chunk_bytes, step = per_row() * chunk_bytes;
#pragma unroll 1
    for (int r = row_; r < large_rows; r += rows_at_a_time()) {
      const int row = y + r;
      if (row < part.begin || row >= part.end)
        continue;
      const int source = border_index(row, plane.rows, border);
      const SharedAddress to = stage + r * pitch + chunk_ * chunk_bytes;
      if (source >= 0) {
        const std::uint8_t* const from =
            plane.in + static_cast<std::int64_t>(source) * plane.in_pitch + first;
        // Issues several copies at once: each one blocks its address register for some time.
        constexpr int copies = 3;
#pragma unroll 1
        for (int i = 0; chunk_ + i * per_row() < part.chunks; i += copies)
#pragma unroll
          for (int k = 0; k < copies; ++k) {
            const int distance = (i + k) * step;
            if (chunk_ + (i + k) * per_row() < part.chunks &&
                static_cast<unsigned>(first + distance) < whole_end)
              copy_async<16>(to + distance, from + distance);
          }
      }
      if (source < 0 || !all_whole)
        load_slowly(plane, border, part, to, row, whole_end);
    }
  }

 private:
  static constexpr int min_per_row = 8;

  __device__ static int per_row() {
    return max(static_cast<int>(blockDim.x) / large_rows, min_per_row);
  }
  __device__ static int rows_at_a_time() {
    return min(static_cast<int>(blockDim.x) / min_per_row, large_rows);
  }

  __device__ void load_slowly(const Plane& plane, Border border, const StagedPart& part,
                              SharedAddress to, int row, unsigned whole_end) const {
    const bool constant = border_index(row, plane.rows, border) < 0;
#pragma unroll 1
    for (int c = chunk_; c < part.chunks; c += per_row(), to += per_row() * chunk_bytes) {
      const int position = part.first + c * chunk_bytes;
      if (constant ||
          (is_inner_chunk(plane, position) && static_cast<unsigned>(position) >= whole_end))
        kSlowPath == SlowPath::called ? call_stage_any_chunk(plane, border, to, row, position)
                                      : stage_any_chunk(plane, border, to, row, position);
    }
  }

  const int row_;    // row of the thread's first chunk
  const int chunk_;  // index of the chunk in its row
};

/// Fills in the bytes beyond the ends of staged rows, from a map of their sources where possible.
template <SlowPath kSlowPath>
class LargeEdges {
 public:
  /// map has one element per byte of each part. part_at(p) returns part p.
  template <class PartAt>
  __device__ LargeEdges(const Plane& plane, Border border, Mirrored* map, int parts,
                        const PartAt& part_at)
      : map_(map) {
    bool mirrored = maps_edges(parts);
    for (int p = 0; p < parts; ++p) {
      const StagedPart part = part_at(p);
      const int edges = part.edge_bytes(plane);
      for (int i = threadIdx.x; i < edges && maps_edges(parts); i += blockDim.x) {
        const int to = part.edge_position(plane, i);
        const int from = source_of_edge(plane, border, to);
        mirrored = mirrored && part.has(plane, from);
        map[p * part.chunks * chunk_bytes + i] = {static_cast<std::uint16_t>(from - part.first),
                                                  static_cast<std::uint16_t>(to - part.first)};
      }
      any_ = any_ || edges > 0;
    }
    mirrored_ = !any_ || __syncthreads_and(mirrored);
  }

  __device__ bool any() const { return any_; }

  /// Completes a loaded stage whose first row is y.
  __device__ void pad(const Plane& plane, Border border, const StagedPart& part, int number,
                      SharedAddress stage, int pitch, int y) const {
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (!mirrored_) {
      if constexpr (kSlowPath == SlowPath::called)
        call_pad_edges(plane, border, part, stage, pitch, y, large_rows, warp, warps);
      else
        pad_edges(plane, border, part, stage, pitch, y, large_rows, warp, warps);
      return;
    }
    // A warp fills 32 adjacent bytes of every fourth row.
    constexpr int shares = 4, share_rows = large_rows / shares;
    const int edges = part.edge_bytes(plane);
#pragma unroll 1
    for (int n = warp; n / shares * 32 < edges; n += warps) {
      const int i = n / shares * 32 + threadIdx.x % 32;
      if (i >= edges)
        continue;
      const Mirrored byte = map_[number * part.chunks * chunk_bytes + i];
      const SharedAddress row = stage + n % shares * pitch;
      std::uint8_t bytes[share_rows];
#pragma unroll
      for (int r = 0; r < share_rows; ++r)
        bytes[r] = load_byte(row + byte.from + r * shares * pitch);
#pragma unroll
      for (int r = 0; r < share_rows; ++r)
        store_byte(row + byte.to + r * shares * pitch, bytes[r]);
    }
  }

 private:
  const Mirrored* map_;
  bool any_ = false;
  bool mirrored_;
};

}  // namespace cudavision::gaussblur
