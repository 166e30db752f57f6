// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Stages rows for small.cuh and pixels.cuh: each warp stages its own slices of 16 rows.

#include <cuda_runtime.h>

#include "cuda/gaussblur/stage.cuh"

namespace cudavision::gaussblur {

constexpr int small_warps = 4;
/// Stages of 16 rows each. One stage is in use while the others are loaded.
constexpr int small_stages = 4;

/// Index of the warp. The shuffle tells the compiler that all lanes have the same index.
__device__ inline int warp_number() {
  return __shfl_sync(~0u, threadIdx.x / 32, 0);
}

/// Starts loading slices of 16 rows for one warp. kLanes lanes share the chunks of a row.
template <int kChunks, int kPitch, int kLanes, SlowPath kSlowPath>
class SmallLoader {
 public:
  /// stages is the address of the first stage, y the first row of the first slice.
  __device__ SmallLoader(const Plane& plane, Border border, const StagedPart& part,
                         SharedAddress stages, int y)
      : plane_(plane), border_(border), part_(part), y_(y + lane() / kLanes) {
    const int c = lane() % kLanes;
    position_ = part.first + c * chunk_bytes;
    to_ = stages + lane() / kLanes * kPitch + c * chunk_bytes;
    from_ = plane.in + position_;
    in_pitch_ = plane.in_pitch;
    begin_ = max(part.begin, 0);
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      const int position = position_ + j * column_bytes;
      const bool staged = c + j * kLanes < kChunks, whole = is_whole_chunk(plane, position);
      count_[j] = staged && whole ? max(min(part.end, plane.rows) - begin_, 0) : 0;
      odd_ = odd_ || (staged && !whole && is_inner_chunk(plane, position));
    }
    outer_ = c < kChunks && (part.begin < 0 || part.end > plane.rows);
  }

  __device__ void load(int stage) {
    // Computes all addresses first: each copy blocks its address register for some time.
    const std::uint8_t* from[tile_rows / rows_at_a_time];
#pragma unroll
    for (int k = 0; k < tile_rows / rows_at_a_time; ++k)
      from[k] = from_ + static_cast<std::int64_t>(y_ + k * rows_at_a_time) * in_pitch_;
#pragma unroll
    for (int k = 0; k < tile_rows / rows_at_a_time; ++k)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        if (static_cast<unsigned>(y_ + k * rows_at_a_time - begin_) <
            static_cast<unsigned>(count_[j]))
          copy_async<16>(to_ + stage + k * rows_at_a_time * kPitch + j * column_bytes,
                         from[k] + j * column_bytes);
    // Some chunk or row cannot be loaded by aligned copies alone.
    if (odd_ || (outer_ && (y_ < 0 || y_ + tile_rows > plane_.rows)))
      load_slowly(to_ + stage);
    y_ += tile_rows;
  }

 private:
  static constexpr int rows_at_a_time = 32 / kLanes;
  static constexpr int columns = (kChunks + kLanes - 1) / kLanes;
  static constexpr int column_bytes = kLanes * chunk_bytes;
  static_assert(columns == 1 || kChunks % kLanes == 0, "all lanes have equally many chunks");

  __device__ static int lane() {
    return threadIdx.x % 32;
  }

  __device__ void load_slowly(SharedAddress to) const {
#pragma unroll 1
    for (int k = 0; k < tile_rows; k += rows_at_a_time) {
      const int y = y_ + k;
      const bool inside = static_cast<unsigned>(y) < static_cast<unsigned>(plane_.rows);
      if (y < part_.begin || y >= part_.end)
        continue;
#pragma unroll 1
      for (int b = 0; b < columns * column_bytes; b += column_bytes) {
        const int position = position_ + b;
        if (inside && (is_whole_chunk(plane_, position) || !is_inner_chunk(plane_, position)))
          continue;
        if constexpr (kSlowPath == SlowPath::called)
          call_stage_any_chunk(plane_, border_, to + k * kPitch + b, y, position);
        else
          stage_any_chunk(plane_, border_, to + k * kPitch + b, y, position);
      }
    }
  }

  const Plane& plane_;
  const Border border_;
  const StagedPart part_;
  const std::uint8_t* from_;  // address in row 0
  int in_pitch_;
  SharedAddress to_;
  int position_;
  int y_;
  int begin_, count_[columns];  // rows in which each chunk is copied unchanged
  bool odd_ = false;            // a chunk crosses an end of the row or is unaligned
  bool outer_;                  // some rows are outside the plane
};

/// Fills in the bytes beyond the ends of staged rows from the same rows, in units of kUnit bytes.
template <int kUnit>
class EdgeMirror {
 public:
  __device__ EdgeMirror(const Plane& plane, Border border, const StagedPart& part, int pitch)
      : edges_(part.edge_bytes(plane) / kUnit) {
    if (edges_ == 0)
      return;
    const int lane = threadIdx.x % 32;
    log_lanes_ = edges_ <= 8 ? 3 : edges_ <= 16 ? 4 : 5;
    const int first = lane & ((1 << log_lanes_) - 1);
    const int row = (lane >> log_lanes_) * pitch - part.first;
    bool mirrored = edges_ <= 32 * lists;
#pragma unroll
    for (int& to : to_)
      to = -1;
#pragma unroll
    for (int k = 0; k < lists; ++k) {
      const int i = first + 32 * k;
      if (!mirrored || i >= edges_)
        break;
      const int position = part.edge_position(plane, i * kUnit);
      const int from = source_of_edge(plane, border, position);
      mirrored = part.has(plane, from);
      to_[k] = row + position;
      from_[k] = row + from;
    }
    complete_ = __all_sync(~0u, mirrored);
  }

  __device__ bool any() const {
    return edges_ > 0;
  }
  /// Returns true if pad() has all sources. Otherwise, use pad_edges().
  __device__ bool complete() const {
    return complete_;
  }

  __device__ void pad(SharedAddress stage, int pitch) const {
    const int step = 32 >> log_lanes_;
#pragma unroll
    for (int k = 0; k < lists; ++k)
      if (to_[k] >= 0)
#pragma unroll 4
        for (int r = 0; r < tile_rows; r += step)
          if constexpr (kUnit == 1)
            store_byte(stage + to_[k] + r * pitch, load_byte(stage + from_[k] + r * pitch));
          else
            store_word(stage + to_[k] + r * pitch, load_word(stage + from_[k] + r * pitch));
  }

 private:
  static constexpr int lists = kUnit == 1 ? 2 : 1;

  int edges_;
  int from_[lists], to_[lists];  // per lane; to_ is negative if unused
  int log_lanes_ = 0;
  bool complete_ = true;
};

/// Fills in the bytes beyond the ends of the rows of a loaded stage, whose first row is y.
template <SlowPath kSlowPath, int kUnit>
__device__ inline void pad_stage(const EdgeMirror<kUnit>& mirror, const Plane& plane, Border border,
                                 const StagedPart& part, SharedAddress stage, int pitch, int y) {
  if (!mirror.any())
    return;
  if (mirror.complete())
    mirror.pad(stage, pitch);
  else if constexpr (kSlowPath == SlowPath::called)
    call_pad_edges(plane, border, part, stage, pitch, y, tile_rows, 0, 1);
  else
    pad_edges(plane, border, part, stage, pitch, y, tile_rows, 0, 1);
  __syncwarp();
}

/// Starts loading the first slices into all stages but the last. Returns the last stage's offset.
template <int kStageBytes, class Loader>
__device__ inline int load_first(Loader& loader, int slices) {
  int stage = 0;
#pragma unroll 1
  for (int s = 0; s < small_stages - 1; ++s, stage += kStageBytes) {
    if (s < slices)
      loader.load(stage);
    commit_copies();
  }
  return stage;
}

}  // namespace cudavision::gaussblur
