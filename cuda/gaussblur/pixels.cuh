// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blur of pixels with four 8-bit channels that share a kernel. A warp transposes staged pixels,
// so that a word holds four adjacent samples of one channel, and transposes the results back. All
// channels share the factors. In small.cuh, the factors would have zeros between the samples.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/mma.cuh"
#include "cuda/gaussblur/small.cuh"
#include "cuda/gaussblur/small_stage.cuh"
#include "cuda/gaussblur/store.cuh"
#include "cuda/gaussblur/tables.h"
#include "cuda/gaussblur/work_item.cuh"

namespace cudavision::gaussblur {

/// With this pitch, the two adjacent rows that eight lanes load at once are in different banks.
CUDAVISION_HOST_DEVICE constexpr int pixel_pitch(int row_slices) {
  return (pixel_window_bytes(row_slices) + 63) / 128 * 128 + 64;
}

/// Along an axis that is not blurred, identity_of_pixels makes the sums too small by a factor of
/// 2^8, which this class corrects. To save registers, some values are derived where they are used.
class PixelRules {
 public:
  __device__ explicit PixelRules(const Plane& plane)
      : low_bytes_(plane.row_identity ? 0x7351 : 0x6240),
        rounding_(plane.column_identity ? 1 << 7 : 1 << 15) {
    keep_in_register(low_bytes_);
    keep_in_register(rounding_);
  }

  // Selectors: low_bytes() for the low bytes of sums along x, low_bytes() ^ other_bytes for the
  // high bytes, results() for the result bytes of sums along y.
  __device__ std::uint32_t low_bytes() const { return hidden(low_bytes_); }
  static constexpr std::uint32_t other_bytes = 0x1111;

  __device__ std::uint32_t rounding() const { return rounding_; }
  __device__ std::uint32_t results() const { return 0x51 + (hidden(rounding_) >> 15) * 0x11; }

 private:
  __device__ static std::uint32_t hidden(std::uint32_t value) {
    keep_in_register(value);
    return value;
  }

  std::uint32_t low_bytes_;
  std::uint32_t rounding_;
};

template <int kRowSlices, int kColumnSlices>
using PixelFactors = SmallFactors<PixelDepth, kRowSlices, kColumnSlices>;

template <int kColumnSlices>
using PixelRing = SmallRing<kColumnSlices, pixel_bytes, 2>;

__device__ inline Sums scaled(const Sums& sums, std::uint32_t factor, std::uint32_t addend) {
  Sums result;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    result.v[i] = static_cast<int>(sums.v[i] * factor + addend);
  return result;
}

/// Sums 16 staged rows along x. from is the address of this lane's first pixels of the window.
template <int kRowSlices, int kColumnSlices>
__device__ inline void sum_rows(const PixelFactors<kRowSlices, kColumnSlices>& factors,
                                const PixelRules& rules, SharedAddress from, int pitch,
                                PixelRing<kColumnSlices>& ring) {
  const auto left = [&](int slice, int half) { return factors.row(0, 0, slice, half); };
  // A word holds two 16-bit sums: q = 1 uses the upper halves, q = 0 the lower halves.
  Sums sums[pixel_bytes]{};
#pragma unroll
  for (int q = 1; q >= 0; --q) {
    std::uint32_t right[kRowSlices][pixel_bytes];
#pragma unroll
    for (int k = 0; k < kRowSlices; ++k) {
      const uint4 pixels =
          load_quad(from + pixel_row_of_column(q, 0) * pitch + k * slice_length * pixel_bytes);
      transpose_bytes({pixels.x, pixels.y, pixels.z, pixels.w}, right[k]);
    }
#pragma unroll
    for (int c = 0; c < pixel_bytes; ++c) {
      sums[c] = multiply<kRowSlices>(
          left, [&](int slice) { return right[slice][c]; }, sums[c]);
      if (q == 1)
        sums[c] = scaled(sums[c], 0x10000, 0);
    }
  }
  const std::uint32_t low = rules.low_bytes(), high = low ^ PixelRules::other_bytes;
#pragma unroll
  for (int c = 0; c < pixel_bytes; ++c)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = sums[c].v[2 * half], second = sums[c].v[2 * half + 1];
      ring.word[kColumnSlices - 1][c][half][0] = __byte_perm(first, second, low);
      ring.word[kColumnSlices - 1][c][half][1] = __byte_perm(first, second, high);
    }
}

/// Returns the first two (half = 0) or last two (1) of a lane's four pixels, in rows g and g + 8.
template <int kRowSlices, int kColumnSlices>
__device__ inline uint4 sum_columns(const PixelFactors<kRowSlices, kColumnSlices>& factors,
                                    const PixelRules& rules, const PixelRing<kColumnSlices>& ring,
                                    int half) {
  const auto left = [&](int slice, int half) { return factors.column(0, slice, half); };
  Sums sums[pixel_bytes]{};
#pragma unroll
  for (int c = 0; c < pixel_bytes; ++c) {
    const auto multiply_byte = [&](int b) {
      sums[c] = multiply<kColumnSlices>(
          left, [&](int slice) { return ring.word[slice][c][half][b]; }, sums[c]);
    };
    multiply_byte(1);
    sums[c] = scaled(sums[c], 0x100, rules.rounding());
    multiply_byte(0);
  }
  const std::uint32_t results = rules.results();
  const auto pixel = [&](int i) {
    return __byte_perm(__byte_perm(sums[0].v[i], sums[1].v[i], results),
                       __byte_perm(sums[2].v[i], sums[3].v[i], results), 0x5410);
  };
  return make_uint4(pixel(0), pixel(1), pixel(2), pixel(3));
}

/// Writes the pixels inside the row, which has `left` more bytes.
__device__ inline __noinline__ void call_store_pixels(std::uint8_t* out, int left, bool words,
                                                      uint4 pixels) {
  const std::uint32_t of_lane[] = {pixels.x, pixels.y, pixels.z, pixels.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i * pixel_bytes >= left)
      return;
    if (words) {
      reinterpret_cast<std::uint32_t*>(out)[i] = of_lane[i];
      continue;
    }
#pragma unroll
    for (int b = 0; b < pixel_bytes; ++b)
      out[i * pixel_bytes + b] = static_cast<std::uint8_t>(of_lane[i] >> (8 * b));
  }
}

__device__ inline __noinline__ uint4 call_sharpened(uint4 source, uint4 blurred) {
  return make_uint4(sharpened_bytes(source.x, blurred.x), sharpened_bytes(source.y, blurred.y),
                    sharpened_bytes(source.z, blurred.z), sharpened_bytes(source.w, blurred.w));
}

class PixelStorer {
 public:
  __device__ PixelStorer(const Arguments& a, const Plane& plane, int position)
      : a_(a),
        plane_(plane),
        position_(position),
        whole_(plane.store_bytes == 16 && position + 16 <= plane.row_bytes) {}

  /// Writes rows y and y + 8. The item has rows_left rows from y on. of_upper and of_lower are the
  /// addresses of the staged input pixels.
  __device__ void store(int y, int rows_left, uint4 upper, uint4 lower, SharedAddress of_upper,
                        SharedAddress of_lower) const {
    if (a_.sharpen || plane_.copied != 0) {
      upper = combined_with(of_upper, upper);
      lower = combined_with(of_lower, lower);
    }
    if (rows_left > 0)
      store_row(y, upper);
    if (rows_left > tile_rows / 2)
      store_row(y + tile_rows / 2, lower);
  }

 private:
  __device__ void store_row(int y, const uint4& pixels) const {
    std::uint8_t* const out =
        plane_.out + static_cast<std::int64_t>(y) * plane_.out_pitch + position_;
    if (whole_)
      *reinterpret_cast<uint4*>(out) = pixels;
    else
      call_store_pixels(out, plane_.row_bytes - position_, plane_.store_bytes >= pixel_bytes,
                        pixels);
  }

  __device__ uint4 combined_with(SharedAddress staged, uint4 blurred) const {
    const uint4 source = load_quad(staged);
    if (a_.sharpen)
      blurred = call_sharpened(source, blurred);
    const auto copied = static_cast<std::uint32_t>(plane_.copied_of_eight);
    return make_uint4(chosen(source.x, blurred.x, copied), chosen(source.y, blurred.y, copied),
                      chosen(source.z, blurred.z, copied), chosen(source.w, blurred.w, copied));
  }

  const Arguments& a_;
  const Plane& plane_;
  const int position_;
  const bool whole_;
};

/// Minimum number of blocks per multiprocessor. Four fit only on Hopper: earlier GPUs have shared
/// memory for at most three, and on newer GPUs, four would spill registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
constexpr int pixel_blocks = 3;
#else
constexpr int pixel_blocks = 4;
#endif

template <int kRowSlices, int kColumnSlices>
__global__ void __launch_bounds__(32 * small_warps, pixel_blocks)
    blur_pixels(const __grid_constant__ Arguments a) {
  constexpr int halo = pixel_bytes * column_halo(kRowSlices);
  constexpr int chunks = pixel_window_bytes(kRowSlices) / chunk_bytes;
  constexpr int lanes = chunks % 8 == 0 ? 8 : 4;  // lanes that share a row
  constexpr int pitch = pixel_pitch(kRowSlices);
  constexpr int stage_bytes = pitch * tile_rows;
  constexpr int last_stage = (small_stages - 1) * stage_bytes;
  extern __shared__ __align__(16) std::uint8_t shared[];

  // The work item is computed again below, which saves a register.
  if (!is_needed(a, blockIdx.x * small_warps + warp_number(), pixel_tile_bytes, a.everywhere)) {
    take_over();
    return;
  }
  const int warp = warp_number(), g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const WorkItem item(a, blockIdx.x * small_warps + warp, pixel_tile_bytes, a.everywhere);
  const Plane& plane = a.planes[item.plane];
  const PixelFactors<kRowSlices, kColumnSlices> factors(a.tables + plane.factors);
  const SharedAddress stages = shared_address(shared) + warp * (small_stages * stage_bytes);
  const int slices = (item.end - item.begin + tile_rows - 1) / tile_rows + kColumnSlices - 1;
  const int first_row = item.begin - column_halo(kColumnSlices);
  const StagedPart part{item.x - halo, chunks, item.begin - plane.column_radius,
                        item.end + plane.column_radius};
  SmallLoader<chunks, pitch, lanes, SlowPath::called> loader(plane, a.border, part, stages,
                                                             first_row);
  const EdgeMirror<pixel_bytes> mirror(plane, a.border, part, pitch);
  const PixelRules rules(plane);
  PixelStorer storer(a, plane, item.x + 16 * t);
  SharedAddress window = stages + pixel_row_of_column(0, g) * pitch + 16 * t;
  keep_in_register(window);
  int rows_left = item.end - item.begin - g;  // from this lane's next row on
  PixelRing<kColumnSlices> ring;

  begin_item(a.everywhere);
  int stage = 0, next_stage = load_first<stage_bytes>(loader, slices);
#pragma unroll 1
  for (int s = 0; s < slices; ++s) {
    wait_for_copies<small_stages - 2>();
    __syncwarp();
    pad_stage<SlowPath::called>(mirror, plane, a.border, part, stages + stage, pitch,
                                first_row + s * tile_rows);
    ring.advance();
    sum_rows(factors, rules, window + stage, pitch, ring);
    if (s >= kColumnSlices - 1) {
      const uint4 first = sum_columns(factors, rules, ring, 0);
      const uint4 last = sum_columns(factors, rules, ring, 1);
      // The upper rows' input is in the previous slice. The lower rows' slice depends on the halo.
      constexpr int upper = tile_rows - column_halo(kColumnSlices);
      const SharedAddress staged = stages + (g * pitch + halo + 16 * t);
      storer.store(item.end - rows_left, rows_left, make_uint4(first.x, first.y, last.x, last.y),
                   make_uint4(first.z, first.w, last.z, last.w),
                   staged + next_stage + upper * pitch,
                   staged + (kColumnSlices == 2 ? stage : next_stage + tile_rows / 2 * pitch));
      rows_left -= tile_rows;
    }
    // All lanes must have read the previous slice before the next slice overwrites it.
    __syncwarp();
    if (s + small_stages - 1 < slices)
      loader.load(next_stage);
    commit_copies();
    next_stage = stage;
    stage = stage == last_stage ? 0 : stage + stage_bytes;
  }
  launch_dependents();
}

}  // namespace cudavision::gaussblur
