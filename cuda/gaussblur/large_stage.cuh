// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Stages rows for large.cuh, with all warps of a block.

#include <cuda_runtime.h>

#include "cuda/gaussblur/large_memory.cuh"
#include "cuda/gaussblur/stage.cuh"

namespace cudavision::gaussblur {

/// Starts loading the rows of a part of the window. As few adjacent threads load a row as suffice
/// for all rows at once, but at least eight.
template <SlowPath kSlowPath>
class LargeLoader {
 public:
  __device__ LargeLoader()
      : row_(static_cast<int>(threadIdx.x) / per_row()),
        chunk_(static_cast<int>(threadIdx.x) % per_row()) {}

  /// Loads 32 rows from row y on.
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
        // Several copies at a time, each with its own address register, because a register cannot
        // be overwritten until its copy has read it.
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

  /// Loads the chunks that need more than an aligned copy.
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

  const int row_;    // of the first chunk
  const int chunk_;  // in its row
};

/// Fills in the bytes beyond the ends of staged rows. For each part of the window, a map holds the
/// positions of the repeated bytes, which all rows share.
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

  /// Completes a loaded stage that holds the rows from y on.
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
