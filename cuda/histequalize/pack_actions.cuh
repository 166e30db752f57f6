// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts and changes the pixels of a pack, for the kernels of histequalize/ and clahe/.

#include "cuda/histequalize/arithmetic.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::histequalize {
namespace {

enum class Action {
  histogram,  ///< count the luminance only
  map,        ///< look up luma in the table
  shift,      ///< change red, green and blue by the same amount as the luminance
  each,       ///< look up red, green and blue in their tables
};

/// counts has 256 bins each for red, green and blue, or the bins of the luminance.
template <class Pack, Action kAction>
__device__ void count_pixel(const std::uint32_t* data, int number, const PackedImage& picture,
                            std::uint32_t* counts) {
  if constexpr (kAction == Action::each) {
    const std::uint32_t pixel = Pack::pixel(data, number);
#pragma unroll
    for (int b = 0; b < Pack::bytes; ++b)
      if (byte_of(picture.keep, b) == 0)
        atomicAdd(counts + picture.table_of[b] * 256 + byte_of(pixel, b), 1u);
  } else if constexpr (Pack::colour) {
    atomicAdd(counts + packed_luminance(Pack::pixel(data, number), picture), 1u);
  } else {
    atomicAdd(counts + Pack::value(data, number, picture), 1u);
  }
}

/// level(table, pixel, value) returns the new level of a pixel's value; table is 0, or 0 to 2 for
/// red, green and blue. For Action::shift, this function blends; otherwise, level() must blend.
template <class Pack, Action kAction, class Level>
__device__ void apply_levels(std::uint32_t* data, int existing, const PackedImage& picture,
                             int blend, const Level& level) {
#pragma unroll
  for (int i = 0; i < Pack::pixels; ++i) {
    // Bytes after the last pixel are copied, because the plane contains the whole last macropixel.
    if (i >= existing)
      break;
    if constexpr (kAction == Action::map) {
      Pack::set(data, i, level(0, i, Pack::value(data, i, picture)), picture);
    } else {
      const std::uint32_t pixel = Pack::pixel(data, i);
      int difference = 0;
      if constexpr (kAction == Action::shift) {
        const std::uint32_t u = packed_luminance(pixel, picture);
        difference = static_cast<int>(level(0, i, u)) - static_cast<int>(u);
      }
      std::uint32_t changed = 0;
#pragma unroll
      for (int b = 0; b < Pack::bytes; ++b) {
        const std::uint32_t value = byte_of(pixel, b);
        const auto own = static_cast<int>(value);
        changed |= (kAction == Action::shift ? static_cast<std::uint32_t>(blended(
                                                   own, clamp_level(own + difference, 255), blend))
                                             : level(picture.table_of[b], i, value))
                   << (8 * b);
      }
      Pack::set(data, i, (pixel & picture.keep) | (changed & ~picture.keep));
    }
  }
}

}  // namespace
}  // namespace cudavision::histequalize
