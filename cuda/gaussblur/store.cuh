// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Writes results, 8 bytes of a row at a time: blurred, sharpened, or combined with copied bytes.

#include <cuda_runtime.h>

#include "cuda/gaussblur/mma.cuh"
#include "cuda/gaussblur/stage.cuh"

namespace cudavision::gaussblur {

/// General path: unaligned rows, ends of rows, and copied bytes whose period does not divide 8.
template <class Depth>
__device__ inline void store_samples(const Arguments& a, const Plane& plane, int y, int position,
                                     uint2 blurred) {
  const std::uint8_t* in = plane.in + static_cast<std::int64_t>(y) * plane.in_pitch + position;
  std::uint8_t* out = plane.out + static_cast<std::int64_t>(y) * plane.out_pitch + position;
  const std::uint64_t result = blurred.x | static_cast<std::uint64_t>(blurred.y) << 32;
  const int left = plane.row_bytes - position;
  const int largest = (1 << a.bits) - 1;
#pragma unroll 1
  for (int b = 0; b < 8 && b < left; b += Depth::sample_bytes) {
    const SampleGrid& grid = plane.grids[(position + b) & 3];
    const bool keep = (plane.copied >> ((position + b) % plane.period) & 1) != 0 ||
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
__device__ __noinline__ void call_store_samples(const Arguments& a, const Plane& plane, int y,
                                                int position, uint2 blurred) {
  store_samples<Depth>(a, plane, y, position, blurred);
}

/// saturate(2·source − blurred) for each byte of a word.
__device__ inline std::uint32_t sharpened_bytes(std::uint32_t source, std::uint32_t blurred) {
  // One of the saturated differences is zero, so the other steps saturate only if the result does.
  return __vsubus4(__vaddus4(source, __vsubus4(source, blurred)), __vsubus4(blurred, source));
}

template <class Depth>
__device__ inline std::uint32_t sharpened(const SampleRules<Depth>& rules, std::uint32_t source,
                                          std::uint32_t blurred) {
  if constexpr (Depth::sample_bytes == 1)
    return sharpened_bytes(source, blurred);
  const std::uint32_t value = rules.read(source);
  return __vminu2(__vsubus2(__vaddus2(value, __vsubus2(value, blurred)), __vsubus2(blurred, value)),
                  rules.limit & rules.mask);
}

__device__ inline std::uint32_t chosen(std::uint32_t source, std::uint32_t blurred,
                                       std::uint32_t copied) {
  return (source & copied) | (blurred & ~copied);
}

template <class Depth>
__device__ inline std::uint32_t combined(const Arguments& a, const SampleRules<Depth>& rules,
                                         std::uint32_t source, std::uint32_t blurred,
                                         std::uint32_t copied) {
  if (a.sharpen)
    blurred = sharpened(rules, source, blurred);
  return chosen(source, blurred, copied);
}

/// Writes a lane's 8 bytes of rows g and g + 8 of kTiles adjacent tiles, then of the tiles below.
template <class Depth, SlowPath kSlowPath, int kTiles = 1>
class Storer {
 public:
  __device__ Storer(const Arguments& a, const Plane& plane, int position, int y)
      : a_(a),
        plane_(plane),
        out_(plane.out + static_cast<std::int64_t>(y) * plane.out_pitch + position),
        half_step_(static_cast<std::int64_t>(tile_rows / 2) * plane.out_pitch),
        y_(y),
        position_(position),
        plain_(plane.stores_words && !a.sharpen && plane.copied == 0
                   ? plane.inner_bytes - 8 - position
                   : -1) {}

  /// Writes rows y and y + 8 of a tile. The item has rows_left rows from y on.
  __device__ void store(const SampleRules<Depth>& rules, int tile, uint2 upper, uint2 lower,
                        int rows_left) const {
    const int x = tile * tile_bytes;
    if (plain_ >= x) {
      if (rows_left > 0)
        *reinterpret_cast<uint2*>(out_ + x) = upper;
      if (rows_left > tile_rows / 2)
        *reinterpret_cast<uint2*>(out_ + half_step_ + x) = lower;
    } else if (position_ + x < plane_.row_bytes) {
      if (rows_left > 0)
        store_other(rules, y_, position_ + x, out_ + x, upper);
      if (rows_left > tile_rows / 2)
        store_other(rules, y_ + tile_rows / 2, position_ + x, out_ + half_step_ + x, lower);
    }
  }

  __device__ void advance() {
    out_ += 2 * half_step_;
    y_ += tile_rows;
  }

 private:
  __device__ void store_other(const SampleRules<Depth>& rules, int y, int position,
                              std::uint8_t* out, uint2 blurred) const {
    if (!plane_.stores_words || position + 8 > plane_.inner_bytes) {
      if constexpr (kSlowPath == SlowPath::called)
        call_store_samples<Depth>(a_, plane_, y, position, blurred);
      else
        store_samples<Depth>(a_, plane_, y, position, blurred);
      return;
    }
    const auto source = *reinterpret_cast<const uint2*>(
        plane_.in + static_cast<std::int64_t>(y) * plane_.in_pitch + position);
    const std::uint64_t copied = plane_.copied_of_eight;
    blurred.x = combined(a_, rules, source.x, blurred.x, static_cast<std::uint32_t>(copied));
    blurred.y = combined(a_, rules, source.y, blurred.y, static_cast<std::uint32_t>(copied >> 32));
    *reinterpret_cast<uint2*>(out) = blurred;
  }

  const Arguments& a_;
  const Plane& plane_;
  std::uint8_t* out_;
  const std::int64_t half_step_;
  int y_;
  const int position_;
  const int plain_;  // maximum offset in bytes of tiles that are stored directly; negative: none
};

}  // namespace cudavision::gaussblur
