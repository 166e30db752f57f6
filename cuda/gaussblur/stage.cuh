// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How the blur's kernels bring the picture, with what lies beyond its edges, into shared memory,
// and how they write it. For .cu files.

#include <cuda_runtime.h>

#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/mma.cuh"

namespace cudavision::gaussblur {

constexpr int chunk_bytes = 16;  ///< what a thread loads at a time

/// Chunks that hold the windows of all warps: their tiles and the lead on both sides.
CUDAVISION_HOST_DEVICE constexpr int chunks_for(int bytes, int lead) {
  return (bytes + 2 * ((lead + chunk_bytes - 1) / chunk_bytes * chunk_bytes)) / chunk_bytes;
}

/// From one row of a stage to the next: an odd number of chunks, so that the rows 2g that the lanes
/// of half a warp load at once lie in different banks.
CUDAVISION_HOST_DEVICE constexpr int stage_pitch(int chunks) {
  return chunk_bytes * (chunks | 1);
}

/// An address in shared memory. (With pointers the compiler computes where shared memory begins
/// again and again.)
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
/// The same from any memory.
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

/// Begins copying kBytes to shared memory.
template <int kBytes>
__device__ inline void copy_async(SharedAddress to, const std::uint8_t* from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
#else
  if constexpr (kBytes == 16) {
    const uint4 quad = *reinterpret_cast<const uint4*>(from);
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(quad.x), "r"(quad.y),
                 "r"(quad.z), "r"(quad.w)
                 : "memory");
  } else {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to),
                 "r"(*reinterpret_cast<const std::uint32_t*>(from))
                 : "memory");
  }
#endif
}

/// Ends a batch of copies.
__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all of this thread's batches but the last kLeft.
template <int kLeft>
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

/// The byte of a constant border that belongs at a position of a row.
__device__ inline std::uint8_t border_byte(const BlurPicture& picture, int position) {
  int phase = position % picture.period;
  if (phase < 0)
    phase += picture.period;
  return static_cast<std::uint8_t>(picture.border_value >> (8 * phase));
}

/// The byte at a position beyond the end of a row: which one of the row's stands there, −1 for the
/// constant.
__device__ inline int source_of_edge(const BlurPicture& picture, Border border, int position) {
  const SampleGrid& grid = picture.grids[position & 3];
  int sample = position / grid.step;
  if (sample * grid.step > position)
    --sample;
  const int inside = border_index(sample, grid.width, border);
  return inside < 0 ? -1 : inside * grid.step + (position - sample * grid.step);
}

/// A part of the picture that is staged: `chunks` chunks from the position `first` of its rows on.
/// Rows are needed from begin to end only, and bytes as far as they have an influence on the
/// picture.
struct StagedPart {
  int first;
  int chunks;
  int begin;
  int end;

  __device__ int last() const { return first + chunks * chunk_bytes; }

  /// How many bytes beyond the left and the right end of a row are needed.
  __device__ int left_edge(const BlurPicture& picture) const {
    return max(0, min(0, last()) - max(first, -picture.row_radius));
  }
  __device__ int right_edge(const BlurPicture& picture) const {
    return max(
        0, min(last(), picture.row_bytes + picture.row_radius) - max(first, picture.inner_bytes));
  }
  __device__ int edge_bytes(const BlurPicture& picture) const {
    return left_edge(picture) + right_edge(picture);
  }
  /// The position of byte number i of these.
  __device__ int edge_position(const BlurPicture& picture, int i) const {
    const int left = left_edge(picture);
    return i < left ? max(first, -picture.row_radius) + i
                    : max(first, picture.inner_bytes) + i - left;
  }
  /// Whether what stands at a position of the row is staged as it is.
  __device__ bool has(const BlurPicture& picture, int position) const {
    return position >= max(first, 0) && position < min(last(), picture.inner_bytes);
  }
};

/// Whether the chunk at a position is a row's as it is, and aligned.
__device__ inline bool is_whole_chunk(const BlurPicture& picture, int position) {
  return picture.load_bytes == 16 && position >= 0 && position + chunk_bytes <= picture.inner_bytes;
}

/// Whether a chunk has bytes of the row.
__device__ inline bool is_inner_chunk(const BlurPicture& picture, int position) {
  return position + chunk_bytes > 0 && position < picture.inner_bytes;
}

/// Whether a chunk has an influence on the picture.
__device__ inline bool is_needed_chunk(const BlurPicture& picture, int position) {
  return position < picture.row_bytes + picture.row_radius &&
         position + chunk_bytes > -picture.row_radius;
}

/// Whether code that only few tiles need is called, which keeps a kernel small and in need of fewer
/// registers, or inlined, which spares all other tiles what they pay for a kernel that has calls.
enum class RareCode { called, inlined };

/// Stages a chunk of any row, wherever it lies. What lies beyond the row's ends is left out.
__device__ inline void stage_any_chunk(const BlurPicture& picture, Border border, SharedAddress to,
                                       int y, int position) {
  if (!is_needed_chunk(picture, position))
    return;
  const int source = border_index(y, picture.rows, border);
  const std::uint8_t* const row = picture.in + static_cast<std::int64_t>(source) * picture.in_pitch;
  const int end = picture.inner_bytes;
  if (source < 0) {
#pragma unroll 1
    for (int b = 0; b < chunk_bytes; ++b)
      store_byte(to + b, border_byte(picture, position + b));
  } else if (is_whole_chunk(picture, position)) {
    copy_async<16>(to, row + position);
  } else if (picture.load_bytes >= 4 && end % 4 == 0) {
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

__device__ inline __noinline__ void call_stage_any_chunk(const BlurPicture& picture, Border border,
                                                         SharedAddress to, int y, int position) {
  stage_any_chunk(picture, border, to, y, position);
}

/// Adds what is beyond the ends of `count` staged rows that have arrived; most of it mirrors bytes
/// that are there already. worker, workers: of those warps that share the rows.
__device__ inline void add_edges(const BlurPicture& picture, Border border, StagedPart part,
                                 SharedAddress stage, int pitch, int y, int count, int worker,
                                 int workers) {
  const int edges = part.edge_bytes(picture);
#pragma unroll 1
  for (int i = threadIdx.x % 32; i < edges; i += 32) {
    const int position = part.edge_position(picture, i);
    const int from = source_of_edge(picture, border, position);
    const SharedAddress to = stage + position - part.first;
    if (part.has(picture, from)) {
#pragma unroll 4
      for (int r = worker; r < count; r += workers)
        store_byte(to + r * pitch, load_byte(stage + from - part.first + r * pitch));
      continue;
    }
#pragma unroll 1
    for (int r = worker; r < count; r += workers) {
      const int source = border_index(y + r, picture.rows, border);
      if (y + r < part.begin || y + r >= part.end || source < 0)
        continue;  // not needed, or a row of constants, which is complete
      store_byte(to + r * pitch,
                 from < 0 ? border_byte(picture, position)
                 : from >= picture.row_bytes
                     ? 0
                     : picture.in[static_cast<std::int64_t>(source) * picture.in_pitch + from]);
    }
  }
}

__device__ inline __noinline__ void call_add_edges(const BlurPicture& picture, Border border,
                                                   StagedPart part, SharedAddress stage, int pitch,
                                                   int y, int count, int worker, int workers) {
  add_edges(picture, border, part, stage, pitch, y, count, worker, workers);
}

/// 8 bytes of a row, sample by sample: beside samples that are copied or sharpened, and at the end
/// of the row.
template <class Depth>
__device__ inline void store_samples(const BlurArguments& a, const BlurPicture& picture, int y,
                                     int position, uint2 blurred) {
  const std::uint8_t* in = picture.in + static_cast<std::int64_t>(y) * picture.in_pitch + position;
  std::uint8_t* out = picture.out + static_cast<std::int64_t>(y) * picture.out_pitch + position;
  const std::uint64_t result = blurred.x | static_cast<std::uint64_t>(blurred.y) << 32;
  const int left = picture.row_bytes - position;
  const int largest = (1 << a.bits) - 1;
#pragma unroll 1
  for (int b = 0; b < 8 && b < left; b += Depth::sample_bytes) {
    const SampleGrid& grid = picture.grids[(position + b) & 3];
    const bool keep = (picture.copied >> ((position + b) % picture.period) & 1) != 0 ||
                      (position + b) / grid.step >= grid.width;
    int value = Depth::sample_bytes == 1 ? result >> (8 * b) & 0xff : result >> (8 * b) & 0xffff;
    if (a.sharpen && !keep) {
      int source = in[b];
      if (Depth::sample_bytes == 2)
        source = min((source | in[b + 1] << 8) >> a.shift, largest);
      value = min(max(2 * source - (value >> a.shift), 0), largest) << a.shift;
    }
    for (int i = 0; i < Depth::sample_bytes && b + i < left; ++i)
      out[b + i] = keep ? in[b + i] : static_cast<std::uint8_t>(value >> (8 * i));
  }
}

template <class Depth>
__device__ __noinline__ void call_store_samples(const BlurArguments& a, const BlurPicture& picture,
                                                int y, int position, uint2 blurred) {
  store_samples<Depth>(a, picture, y, position, blurred);
}

/// saturate(2·source − blurred), of the bytes in a word.
__device__ inline std::uint32_t sharpened_bytes(std::uint32_t source, std::uint32_t blurred) {
  // One of the two differences is zero.
  return __vsubus4(__vaddus4(source, __vsubus4(source, blurred)), __vsubus4(blurred, source));
}

/// The same, of samples.
template <class Depth>
__device__ inline std::uint32_t sharpened(const SampleRules<Depth>& rules, std::uint32_t source,
                                          std::uint32_t blurred) {
  if constexpr (Depth::sample_bytes == 1)
    return sharpened_bytes(source, blurred);
  const std::uint32_t value = rules.read(source);
  return __vminu2(__vsubus2(__vaddus2(value, __vsubus2(value, blurred)), __vsubus2(blurred, value)),
                  rules.limit & rules.mask);
}

/// The source's bits where `copied` has ones, else those of the result.
__device__ inline std::uint32_t chosen(std::uint32_t source, std::uint32_t blurred,
                                       std::uint32_t copied) {
  return (source & copied) | (blurred & ~copied);
}

template <class Depth>
__device__ inline std::uint32_t combined(const BlurArguments& a, const SampleRules<Depth>& rules,
                                         std::uint32_t source, std::uint32_t blurred,
                                         std::uint32_t copied) {
  if (a.sharpen)
    blurred = sharpened(rules, source, blurred);
  return chosen(source, blurred, copied);
}

/// Writes a lane's 8 bytes of the rows of tiles: kTiles of them beside each other, more below.
template <class Depth, RareCode kRare, int kTiles = 1>
class Storer {
 public:
  /// position: of the bytes in their rows. y: the first of the rows.
  __device__ Storer(const BlurArguments& a, const BlurPicture& picture, int position, int y)
      : a_(a),
        picture_(picture),
        out_(picture.out + static_cast<std::int64_t>(y) * picture.out_pitch + position),
        half_step_(static_cast<std::int64_t>(tile_rows / 2) * picture.out_pitch),
        y_(y),
        position_(position),
        plain_(picture.stores_words && !a.sharpen && picture.copied == 0
                   ? picture.inner_bytes - 8 - position
                   : -1) {}

  /// Rows y and y + 8 of a tile. rows_left: how many there are, counted from y on.
  __device__ void store(const SampleRules<Depth>& rules, int tile, uint2 upper, uint2 lower,
                        int rows_left) const {
    const int x = tile * tile_bytes;
    if (plain_ >= x) {
      if (rows_left > 0)
        *reinterpret_cast<uint2*>(out_ + x) = upper;
      if (rows_left > tile_rows / 2)
        *reinterpret_cast<uint2*>(out_ + half_step_ + x) = lower;
    } else if (position_ + x < picture_.row_bytes) {
      if (rows_left > 0)
        store_other(rules, y_, position_ + x, out_ + x, upper);
      if (rows_left > tile_rows / 2)
        store_other(rules, y_ + tile_rows / 2, position_ + x, out_ + half_step_ + x, lower);
    }
  }

  /// To the tiles below.
  __device__ void advance() {
    out_ += 2 * half_step_;
    y_ += tile_rows;
  }

 private:
  __device__ void store_other(const SampleRules<Depth>& rules, int y, int position,
                              std::uint8_t* out, uint2 blurred) const {
    if (!picture_.stores_words || position + 8 > picture_.inner_bytes) {
      if constexpr (kRare == RareCode::called)
        call_store_samples<Depth>(a_, picture_, y, position, blurred);
      else
        store_samples<Depth>(a_, picture_, y, position, blurred);
      return;
    }
    const auto source = *reinterpret_cast<const uint2*>(
        picture_.in + static_cast<std::int64_t>(y) * picture_.in_pitch + position);
    const std::uint64_t copied = picture_.copied_of_eight;
    blurred.x = combined(a_, rules, source.x, blurred.x, static_cast<std::uint32_t>(copied));
    blurred.y = combined(a_, rules, source.y, blurred.y, static_cast<std::uint32_t>(copied >> 32));
    *reinterpret_cast<uint2*>(out) = blurred;
  }

  const BlurArguments& a_;
  const BlurPicture& picture_;
  std::uint8_t* out_;
  const std::int64_t half_step_;
  int y_;
  const int position_;
  const int plain_;  // tiles that begin up to here, behind the first one, are simply written
};

}  // namespace cudavision::gaussblur
