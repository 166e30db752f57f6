// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Kernels that convert each channel by itself.

#include <cstdint>
#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/repack/chunks.cuh"
#include "cuda/repack/packed_pixels.h"

namespace cudavision::repack {

template <bool kPacks>
using StoredPlane = View<std::conditional_t<kPacks, std::uint8_t, const std::uint8_t>>;
template <bool kPacks>
using UnpackedPlane = View<std::conditional_t<kPacks, const std::uint8_t, std::uint8_t>>;

/// Channels of two-byte words that alternate in one stored plane.
template <bool kPacks>
struct WordPlane {
  StoredPlane<kPacks> stored;
  int step;    ///< samples from one of a channel to its next
  int height;  ///< rows of the channels
  int count;
  int offset[FrameLayout::max_channels];  ///< of the channels' first samples
  /// Of these channels. With chunks, number k is that of offset k, or has no data where that
  /// channel is not wanted.
  UnpackedPlane<kPacks> unpacked[FrameLayout::max_channels];
  Units units;
  unsigned first_block;
};

template <bool kPacks, int kMaxPlanes>
struct WordChannels {
  WordPlane<kPacks> plane[kMaxPlanes];
  int count;
  PairCoding coding;
};

template <int kChannels, bool kPacks>
__device__ void convert_chunk(const WordPlane<kPacks>& plane, const PairCoding& coding, int chunk,
                              int y) {
  constexpr int words = 4 / kChannels;  // of four bytes, for each channel
  const std::ptrdiff_t in_unpacked = std::ptrdiff_t{4} * words * chunk;
  auto* const stored = plane.stored.row(y) + std::ptrdiff_t{16} * chunk;
  std::uint32_t in[4], out[4];
  if constexpr (kPacks) {
#pragma unroll
    for (int k = 0; k < kChannels; ++k)
      load_chunk<words>(plane.unpacked[k].row(y) + in_unpacked, in + words * k);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      in[i] = words_of_values(in[i], coding);
    interleave<kChannels>(in, coding, out);
    store_words(stored, out);
  } else {
    load_words(stored, in);
    separate<kChannels>(in, coding, out);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      out[i] = values_of_words(out[i], coding);
#pragma unroll
    for (int k = 0; k < kChannels; ++k)
      if (kChannels == 1 || plane.unpacked[k])
        store_chunk<words>(plane.unpacked[k].row(y) + in_unpacked, out + words * k);
  }
}

template <bool kPacks>
__device__ void convert_pixel(const WordPlane<kPacks>& plane, const PairCoding& coding, int x,
                              int y) {
  for (int k = 0; k < plane.count; ++k) {
    if (!plane.unpacked[k])
      continue;
    auto* const stored =
        plane.stored.row(y) + 2 * (plane.offset[k] + std::ptrdiff_t{plane.step} * x);
    auto* const unpacked = plane.unpacked[k].row(y) + std::ptrdiff_t{2} * x;
    if constexpr (kPacks)
      store_value(coding, stored, load_unaligned<std::uint16_t>(unpacked));
    else
      store_unaligned<std::uint16_t>(unpacked, load_value(coding, stored));
  }
}

/// Planes are few arguments if there is one of them, and the compiler knows where they are. Then a
/// launch begins earlier, and the kernel's first load does not wait for them (2.33 instead of
/// 2.46 µs for GRAY16_BE of 1920×1080 on an H200).
template <bool kPacks, int kMaxPlanes>
__global__ void __launch_bounds__(max_threads)
    word_channels_kernel(const __grid_constant__ WordChannels<kPacks, kMaxPlanes> a) {
  launch_dependents();
  grid_dependency_wait();
  int number = 0;
#pragma unroll
  for (int i = 1; i < kMaxPlanes; ++i)
    if (i < a.count && blockIdx.x >= a.plane[i].first_block)
      number = i;
  const WordPlane<kPacks>& plane = a.plane[number];
  const auto [unit, y] = find_unit(plane.units, blockIdx.x - plane.first_block);
  if (unit < plane.units.chunks) {
    if (plane.step == 1)
      convert_chunk<1>(plane, a.coding, unit, y);
    else if (plane.step == 2)
      convert_chunk<2>(plane, a.coding, unit, y);
    else
      convert_chunk<4>(plane, a.coding, unit, y);
  } else if (const int x = plane.units.pixel(unit); x < plane.units.width) {
    convert_pixel(plane, a.coding, x, y);
  }
}

/// Channels whose samples share words of four bytes.
template <bool kPacks>
struct PackedChannels {
  StoredPlane<kPacks> stored;
  UnpackedPlane<kPacks> unpacked[FrameLayout::max_channels];
  PackedField field[FrameLayout::max_channels];
  int count, height;
  std::uint32_t largest;
  Units units;
};

/// Pixels of 16 stored bytes.
constexpr int packed_chunk = 4;

/// Which channels have fewer bits than the unpacked frame. Scaling the others changes nothing.
enum class Scaled {
  last,  ///< none but the last of four, as alpha is
  any,
};

template <Scaled kScaled>
CUDAVISION_HOST_DEVICE constexpr bool scales(int channel) {
  return kScaled == Scaled::any || channel == FrameLayout::max_channels - 1;
}

template <Scaled kScaled>
__device__ void unpack_chunk(const PackedChannels<false>& a, int chunk, int y) {
  std::uint32_t pixels[packed_chunk];
  load_words(a.stored.row(y) + std::ptrdiff_t{16} * chunk, pixels);
#pragma unroll
  for (int c = 0; c < FrameLayout::max_channels; ++c) {
    if (c >= a.count)
      continue;
    std::uint32_t values[packed_chunk];
#pragma unroll
    for (int i = 0; i < packed_chunk; ++i)
      values[i] = scales<kScaled>(c) ? value_in<true>(a.field[c], pixels[i])
                                     : value_in<false>(a.field[c], pixels[i]);
    const std::uint32_t pairs[2] = {pair_of(values[0], values[1]), pair_of(values[2], values[3])};
    store_chunk<2>(a.unpacked[c].row(y) + std::ptrdiff_t{8} * chunk, pairs);
  }
}

template <Scaled kScaled>
__device__ void pack_chunk(const PackedChannels<true>& a, int chunk, int y) {
  std::uint32_t pairs[FrameLayout::max_channels][2] = {};
#pragma unroll
  for (int c = 0; c < FrameLayout::max_channels; ++c)
    if (c < a.count)
      load_chunk<2>(a.unpacked[c].row(y) + std::ptrdiff_t{8} * chunk, pairs[c]);
  std::uint32_t pixels[packed_chunk] = {};
#pragma unroll
  for (int c = 0; c < FrameLayout::max_channels; ++c) {
    if (c >= a.count)
      continue;
#pragma unroll
    for (int i = 0; i < packed_chunk; ++i) {
      const std::uint32_t pair = pairs[c][i / 2];
      const std::uint32_t value = i % 2 == 0 ? low_half(pair) : high_half(pair);
      pixels[i] |= scales<kScaled>(c) ? bits_of<true>(a.field[c], min(value, a.largest))
                                      : bits_of<false>(a.field[c], min(value, a.largest));
    }
  }
  store_words(a.stored.row(y) + std::ptrdiff_t{16} * chunk, pixels);
}

template <bool kPacks>
__device__ void convert_pixel(const PackedChannels<kPacks>& a, int x, int y) {
  auto* const stored = a.stored.row(y) + std::ptrdiff_t{4} * x;
  std::uint32_t pixel = 0;
  if constexpr (!kPacks)
    pixel = load_unaligned<std::uint32_t>(stored);
  for (int c = 0; c < a.count; ++c) {
    auto* const unpacked = a.unpacked[c].row(y) + std::ptrdiff_t{2} * x;
    if constexpr (kPacks)
      pixel |= bits_of<true>(a.field[c], min(load_unaligned<std::uint16_t>(unpacked), a.largest));
    else
      store_unaligned<std::uint16_t>(unpacked, value_in<true>(a.field[c], pixel));
  }
  if constexpr (kPacks)
    store_unaligned<std::uint32_t>(stored, pixel);
}

template <bool kPacks, Scaled kScaled>
__global__ void __launch_bounds__(max_threads)
    packed_channels_kernel(const __grid_constant__ PackedChannels<kPacks> a) {
  launch_dependents();
  grid_dependency_wait();
  const auto [unit, y] = find_unit(a.units, blockIdx.x);
  if (unit < a.units.chunks) {
    if constexpr (kPacks)
      pack_chunk<kScaled>(a, unit, y);
    else
      unpack_chunk<kScaled>(a, unit, y);
  } else if (const int x = a.units.pixel(unit); x < a.units.width) {
    convert_pixel(a, x, y);
  }
}

}  // namespace cudavision::repack
