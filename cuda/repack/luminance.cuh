// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Kernels that make the luminance of red, green and blue, and that adjust these colours to another
// luminance.

#include <cstdint>
#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/repack/chunks.cuh"
#include "cuda/repack/packed_pixels.h"

namespace cudavision::repack {

/// The frames of one launch. If kAdjusts, it reads the luminance and the stored planes, which are
/// part of the unpacked frame, and writes adjusted ones. Otherwise it writes the luminance and, if
/// wanted, copies of the stored planes.
template <bool kAdjusts>
struct LuminanceFrames {
  View<std::conditional_t<kAdjusts, const std::uint8_t, std::uint8_t>> luminance;
  View<const std::uint8_t> in[FrameLayout::max_planes];
  View<std::uint8_t> out[FrameLayout::max_planes];
  bool keeps;  ///< Stored planes are copied.
  int height;
  Units units;
};

/* Words of two bytes */

/// How the colours lie in planes, as far as the kernels distinguish it.
enum class ColorShape {
  planar,       ///< There are three planes, one for each colour.
  interleaved,  ///< Four channels alternate in one plane.
};

struct WordColor {
  int plane, offset, step;  ///< in bytes
  std::uint32_t weight;     ///< 0 for alpha
};

template <bool kAdjusts>
struct WordLuminance {
  LuminanceFrames<kAdjusts> frames;
  PairCoding coding;
  std::uint32_t largest;
  WordColor channel[FrameLayout::max_channels];
  int count;
  /// Those of the planes, or of the samples of a pixel. Only used with chunks.
  std::uint32_t weights[FrameLayout::max_channels];
};

template <ColorShape kShape>
constexpr int color_planes = kShape == ColorShape::planar ? 3 : 1;
template <ColorShape kShape>
constexpr int color_channels = kShape == ColorShape::planar ? 3 : 4;
/// Pixels of a chunk.
template <ColorShape kShape>
constexpr int color_chunk = kShape == ColorShape::planar ? 8 : 2;
/// Converts the words of the stored planes, which become the adjusted ones. luminance are pairs,
/// which are read if kAdjusts, or else written.
template <ColorShape kShape, bool kAdjusts>
__device__ void convert_words(const WordLuminance<kAdjusts>& a,
                              std::uint32_t (&planes)[color_planes<kShape>][4],
                              std::uint32_t* luminance) {
  constexpr int channels = color_channels<kShape>;
  std::uint32_t weights[channels];
#pragma unroll
  for (int c = 0; c < channels; ++c)
    weights[c] = a.weights[c];
  // pairs[k][c] are the values of two pixels.
  constexpr int groups = color_chunk<kShape> / 2;
  std::uint32_t pairs[groups][channels];
#pragma unroll
  for (int p = 0; p < color_planes<kShape>; ++p) {
    std::uint32_t sorted[4];
    separate<kShape == ColorShape::planar ? 1 : 4>(planes[p], a.coding, sorted);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t values = values_of_words(sorted[i], a.coding);
      if constexpr (kShape == ColorShape::planar)
        pairs[i][p] = values;
      else
        pairs[0][i] = values;
    }
  }
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    if constexpr (kAdjusts)
      adjust_pairs(luminance[k], weights, a.largest, pairs[k]);
    else
      luminance[k] = luminance_of_pairs(pairs[k], weights);
  }
  if constexpr (kAdjusts) {
#pragma unroll
    for (int p = 0; p < color_planes<kShape>; ++p) {
      std::uint32_t sorted[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sorted[i] = words_of_values(
            kShape == ColorShape::planar ? pairs[i % groups][p % channels] : pairs[0][i % channels],
            a.coding);
      interleave<kShape == ColorShape::planar ? 1 : 4>(sorted, a.coding, planes[p]);
    }
  }
}

template <ColorShape kShape, bool kAdjusts>
__device__ void convert_chunk(const WordLuminance<kAdjusts>& a, int chunk, int y) {
  constexpr int planes = color_planes<kShape>;
  constexpr int luminance_words = color_chunk<kShape> / 2;
  const LuminanceFrames<kAdjusts>& frames = a.frames;
  const std::ptrdiff_t in_plane = std::ptrdiff_t{16} * chunk;
  auto* const luminance_at = frames.luminance.row(y) + std::ptrdiff_t{4} * luminance_words * chunk;
  std::uint32_t words[planes][4], luminance[luminance_words];
#pragma unroll
  for (int p = 0; p < planes; ++p)
    load_words(frames.in[p].row(y) + in_plane, words[p]);
  if constexpr (kAdjusts)
    load_chunk<luminance_words>(luminance_at, luminance);
  convert_words<kShape>(a, words, luminance);
  if (frames.keeps) {
#pragma unroll
    for (int p = 0; p < planes; ++p)
      store_words(frames.out[p].row(y) + in_plane, words[p]);
  }
  if constexpr (!kAdjusts)
    store_chunk<luminance_words>(luminance_at, luminance);
}

template <bool kAdjusts>
__device__ void convert_pixel(const WordLuminance<kAdjusts>& a, int x, int y) {
  const LuminanceFrames<kAdjusts>& frames = a.frames;
  auto* const luminance = frames.luminance.row(y) + std::ptrdiff_t{2} * x;
  const auto address = [x](const WordColor& channel) {
    return channel.offset + std::ptrdiff_t{channel.step} * x;
  };
  std::uint32_t sum = 0;
  for (int c = 0; c < a.count; ++c) {
    const WordColor& channel = a.channel[c];
    const std::uint8_t* const from = frames.in[channel.plane].row(y) + address(channel);
    if (channel.weight > 0)
      sum += channel.weight * load_value(a.coding, from);
    if (!kAdjusts && frames.keeps)
      store_unaligned<std::uint16_t>(frames.out[channel.plane].row(y) + address(channel),
                                     load_unaligned<std::uint16_t>(from));
  }
  if constexpr (kAdjusts) {
    const auto change = static_cast<std::int32_t>(load_unaligned<std::uint16_t>(luminance)) -
                        static_cast<std::int32_t>(sum / luminance_divisor);
    for (int c = 0; c < a.count; ++c) {
      const WordColor& channel = a.channel[c];
      const auto value = static_cast<std::int32_t>(
          load_value(a.coding, frames.in[channel.plane].row(y) + address(channel)));
      store_value(a.coding, frames.out[channel.plane].row(y) + address(channel),
                  saturated(value + (channel.weight > 0 ? change : 0), a.largest));
    }
  } else {
    store_unaligned<std::uint16_t>(luminance, sum / luminance_divisor);
  }
}

template <ColorShape kShape, bool kAdjusts>
__global__ void __launch_bounds__(max_threads)
    word_luminance_kernel(const __grid_constant__ WordLuminance<kAdjusts> a) {
  launch_dependents();
  grid_dependency_wait();
  const Units& units = a.frames.units;
  const auto [unit, y] = find_unit(units, blockIdx.x);
  if (unit < units.chunks)
    convert_chunk<kShape>(a, unit, y);
  else if (const int x = units.pixel(unit); x < units.width)
    convert_pixel(a, x, y);
}

/* Words of four bytes, one for each pixel */

template <bool kAdjusts>
struct PackedLuminance {
  LuminanceFrames<kAdjusts> frames;
  PackedColors colors;
};

/// Pixels of 16 stored bytes.
constexpr int packed_color_chunk = 4;

template <bool kAdjusts, bool kScales>
__device__ void convert_chunk(const PackedLuminance<kAdjusts>& a, int chunk, int y) {
  const LuminanceFrames<kAdjusts>& frames = a.frames;
  auto* const luminance = frames.luminance.row(y) + std::ptrdiff_t{8} * chunk;
  std::uint32_t pixels[packed_color_chunk], pairs[2];
  load_words(frames.in[0].row(y) + std::ptrdiff_t{16} * chunk, pixels);
  if constexpr (kAdjusts) {
    load_chunk<2>(luminance, pairs);
#pragma unroll
    for (int i = 0; i < packed_color_chunk; ++i)
      pixels[i] = adjusted<kScales>(a.colors, pixels[i],
                                    i % 2 == 0 ? low_half(pairs[i / 2]) : high_half(pairs[i / 2]));
  } else {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      pairs[i] = pair_of(luminance_of<kScales>(a.colors, pixels[2 * i]),
                         luminance_of<kScales>(a.colors, pixels[2 * i + 1]));
    store_chunk<2>(luminance, pairs);
  }
  if (frames.keeps)
    store_words(frames.out[0].row(y) + std::ptrdiff_t{16} * chunk, pixels);
}

template <bool kAdjusts, bool kScales>
__device__ void convert_pixel(const PackedLuminance<kAdjusts>& a, int x, int y) {
  const LuminanceFrames<kAdjusts>& frames = a.frames;
  auto* const luminance = frames.luminance.row(y) + std::ptrdiff_t{2} * x;
  std::uint32_t pixel = load_unaligned<std::uint32_t>(frames.in[0].row(y) + std::ptrdiff_t{4} * x);
  if constexpr (kAdjusts)
    pixel = adjusted<kScales>(a.colors, pixel, load_unaligned<std::uint16_t>(luminance));
  else
    store_unaligned<std::uint16_t>(luminance, luminance_of<kScales>(a.colors, pixel));
  if (frames.keeps)
    store_unaligned<std::uint32_t>(frames.out[0].row(y) + std::ptrdiff_t{4} * x, pixel);
}

template <bool kAdjusts, bool kScales>
__global__ void __launch_bounds__(max_threads)
    packed_luminance_kernel(const __grid_constant__ PackedLuminance<kAdjusts> a) {
  launch_dependents();
  grid_dependency_wait();
  const Units& units = a.frames.units;
  const auto [unit, y] = find_unit(units, blockIdx.x);
  if (unit < units.chunks)
    convert_chunk<kAdjusts, kScales>(a, unit, y);
  else if (const int x = units.pixel(unit); x < units.width)
    convert_pixel<kAdjusts, kScales>(a, x, y);
}

}  // namespace cudavision::repack
