// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Loads rows of a plane into shared memory, including the bytes beyond its edges.

#include <cuda_runtime.h>

#include "cuda/gaussblur/arguments.h"

namespace cudavision::gaussblur {

constexpr int chunk_bytes = 16;  ///< of one asynchronous copy, if aligned

/// Number of chunks for `bytes` bytes of a row and a halo of whole chunks on either side.
CUDAVISION_HOST_DEVICE constexpr int chunks_for(int bytes, int halo) {
  return (bytes + 2 * ((halo + chunk_bytes - 1) / chunk_bytes * chunk_bytes)) / chunk_bytes;
}

/// An odd number of chunks puts the rows 2g, which half a warp loads at once, in different banks.
CUDAVISION_HOST_DEVICE constexpr int stage_pitch(int chunks) {
  return chunk_bytes * (chunks | 1);
}

/// An address in shared memory. With pointers, the compiler recomputes the base address repeatedly.
using SharedAddress = std::uint32_t;

__device__ inline SharedAddress shared_address(const void* pointer) {
  auto address = static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
  asm volatile("" : "+r"(address));
  return address;
}

__device__ inline std::uint32_t load_word(SharedAddress from) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}
__device__ inline uint2 load_pair(SharedAddress from) {
  uint2 pair;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(pair.x), "=r"(pair.y)
               : "r"(from)
               : "memory");
  return pair;
}
__device__ inline uint4 load_quad(SharedAddress from) {
  uint4 quad;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w)
               : "r"(from)
               : "memory");
  return quad;
}
__device__ inline uint4 load_quad(const std::uint8_t* from) {
  return *reinterpret_cast<const uint4*>(from);
}
__device__ inline std::uint8_t load_byte(SharedAddress from) {
  std::uint32_t byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(from) : "memory");
  return static_cast<std::uint8_t>(byte);
}
__device__ inline void store_byte(SharedAddress to, std::uint8_t byte) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(to), "r"(static_cast<std::uint32_t>(byte))
               : "memory");
}

__device__ inline void store_word(SharedAddress to, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}
__device__ inline void store_quad(SharedAddress to, uint4 quad) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(quad.x), "r"(quad.y),
               "r"(quad.z), "r"(quad.w)
               : "memory");
}

/// Starts copying kBytes to shared memory. GPUs before Ampere copy synchronously.
template <int kBytes>
__device__ inline void copy_async(SharedAddress to, const std::uint8_t* from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
#else
  if constexpr (kBytes == 16)
    store_quad(to, *reinterpret_cast<const uint4*>(from));
  else
    store_word(to, *reinterpret_cast<const std::uint32_t*>(from));
#endif
}

__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all of this thread's copy batches except the last kLeft.
template <int kLeft>
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

__device__ inline std::uint8_t border_byte(const Plane& plane, int position) {
  int phase = position % plane.period;
  if (phase < 0)
    phase += plane.period;
  return static_cast<std::uint8_t>(plane.border_value >> (8 * phase));
}

/// Position of the byte that replaces a position outside the row; −1 for the constant border.
__device__ inline int source_of_edge(const Plane& plane, Border border, int position) {
  const SampleGrid& grid = plane.grids[position & 3];
  int sample = position / grid.step;
  if (sample * grid.step > position)
    --sample;
  const int inside = border_index(sample, grid.width, border);
  return inside < 0 ? -1 : inside * grid.step + (position - sample * grid.step);
}

/// A staged part of a plane: `chunks` chunks, starting at position `first`, of the rows `begin` to
/// `end`. Only bytes within the halo around the plane are needed.
struct StagedPart {
  int first;
  int chunks;
  int begin;
  int end;

  __device__ int last() const { return first + chunks * chunk_bytes; }

  /// Number of needed bytes beyond the left or the right end of a row.
  __device__ int left_edge(const Plane& plane) const {
    return max(0, min(0, last()) - max(first, -plane.row_radius));
  }
  __device__ int right_edge(const Plane& plane) const {
    return max(0, min(last(), plane.row_bytes + plane.row_radius) - max(first, plane.inner_bytes));
  }
  __device__ int edge_bytes(const Plane& plane) const {
    return left_edge(plane) + right_edge(plane);
  }
  /// Position of byte i of all needed bytes beyond the ends.
  __device__ int edge_position(const Plane& plane, int i) const {
    const int left = left_edge(plane);
    return i < left ? max(first, -plane.row_radius) + i : max(first, plane.inner_bytes) + i - left;
  }
  /// Returns true if the part contains the byte at `position` of the row.
  __device__ bool has(const Plane& plane, int position) const {
    return position >= max(first, 0) && position < min(last(), plane.inner_bytes);
  }
};

/// Returns true if one aligned copy loads the whole chunk.
__device__ inline bool is_whole_chunk(const Plane& plane, int position) {
  return plane.load_bytes == 16 && position >= 0 && position + chunk_bytes <= plane.inner_bytes;
}

__device__ inline bool is_inner_chunk(const Plane& plane, int position) {
  return position + chunk_bytes > 0 && position < plane.inner_bytes;
}

__device__ inline bool is_needed_chunk(const Plane& plane, int position) {
  return position < plane.row_bytes + plane.row_radius &&
         position + chunk_bytes > -plane.row_radius;
}

/// How rarely executed code is compiled: calls save registers; inlining speeds up the fast path.
enum class SlowPath { called, inlined };

/// Stages a chunk. Only constant rows get bytes beyond the row's ends. y may be outside the plane.
__device__ inline void stage_any_chunk(const Plane& plane, Border border, SharedAddress to, int y,
                                       int position) {
  if (!is_needed_chunk(plane, position))
    return;
  const int source = border_index(y, plane.rows, border);
  const std::uint8_t* const row = plane.in + static_cast<std::int64_t>(source) * plane.in_pitch;
  const int end = plane.inner_bytes;
  if (source < 0) {
#pragma unroll 1
    for (int b = 0; b < chunk_bytes; ++b)
      store_byte(to + b, border_byte(plane, position + b));
  } else if (is_whole_chunk(plane, position)) {
    copy_async<16>(to, row + position);
  } else if (plane.load_bytes >= 4 && end % 4 == 0) {
#pragma unroll
    for (int i = 0; i < chunk_bytes; i += 4)
      if (position >= 0 && position + i < end)
        copy_async<4>(to + i, row + position + i);
  } else {
#pragma unroll
    for (int b = 0; b < chunk_bytes; ++b)
      if (position + b >= 0 && position + b < end)
        store_byte(to + b, row[position + b]);
  }
}

__device__ inline __noinline__ void call_stage_any_chunk(const Plane& plane, Border border,
                                                         SharedAddress to, int y, int position) {
  stage_any_chunk(plane, border, to, y, position);
}

/// Fills in the bytes beyond the ends of `count` loaded rows, mostly from the same stage. Each of
/// `workers` warps fills in every `workers`-th row, starting at row `worker`.
__device__ inline void pad_edges(const Plane& plane, Border border, StagedPart part,
                                 SharedAddress stage, int pitch, int y, int count, int worker,
                                 int workers) {
  const int edges = part.edge_bytes(plane);
#pragma unroll 1
  for (int i = threadIdx.x % 32; i < edges; i += 32) {
    const int position = part.edge_position(plane, i);
    const int from = source_of_edge(plane, border, position);
    const SharedAddress to = stage + position - part.first;
    if (part.has(plane, from)) {
#pragma unroll 4
      for (int r = worker; r < count; r += workers)
        store_byte(to + r * pitch, load_byte(stage + from - part.first + r * pitch));
      continue;
    }
#pragma unroll 1
    for (int r = worker; r < count; r += workers) {
      const int source = border_index(y + r, plane.rows, border);
      if (y + r < part.begin || y + r >= part.end || source < 0)
        continue;  // not needed, or in a row of constants, which stage_any_chunk() has completed
      store_byte(to + r * pitch,
                 from < 0 ? border_byte(plane, position)
                 : from >= plane.row_bytes
                     ? 0
                     : plane.in[static_cast<std::int64_t>(source) * plane.in_pitch + from]);
    }
  }
}

__device__ inline __noinline__ void call_pad_edges(const Plane& plane, Border border,
                                                   StagedPart part, SharedAddress stage, int pitch,
                                                   int y, int count, int worker, int workers) {
  pad_edges(plane, border, part, stage, pitch, y, count, worker, workers);
}

}  // namespace cudavision::gaussblur
