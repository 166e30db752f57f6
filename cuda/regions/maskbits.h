// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The work of one CUDA thread on the distances from masks: four pixels, as the bytes of a word.

#include <algorithm>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::regions {

/// A row of a frame has at most 65535 pixels, one bit each.
constexpr int max_bit_words = 2048;

/// Position of the highest or lowest set bit of a word that is not 0.
CUDAVISION_HOST_DEVICE inline int highest_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(static_cast<int>(word));
#else
  return 31 - __builtin_clz(word);
#endif
}
CUDAVISION_HOST_DEVICE inline int lowest_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(word)) - 1;
#else
  return __builtin_ctz(word);
#endif
}

/// Distance of pixel x from the nearest set bit of its row, or 255 if it exceeds the radius.
CUDAVISION_HOST_DEVICE inline std::uint32_t row_distance(const std::uint32_t* bits, int words,
                                                         int x, int radius) {
  const int own = x / 32, bit = x % 32;
  int best = radius + 1;
  for (int word = own; word >= 0 && 32 * (own - word - 1) + bit + 1 < best; --word) {
    const std::uint32_t below = word == own ? bits[word] & (~0u >> (31 - bit)) : bits[word];
    if (below != 0) {
      best = x - 32 * word - highest_bit(below) < best ? x - 32 * word - highest_bit(below) : best;
      break;
    }
  }
  for (int word = own; word < words && 32 * (word - own) - bit < best; ++word) {
    const std::uint32_t above = word == own ? bits[word] & (~0u << bit) : bits[word];
    if (above != 0) {
      best = 32 * word + lowest_bit(above) - x < best ? 32 * word + lowest_bit(above) - x : best;
      break;
    }
  }
  return best <= radius ? static_cast<std::uint32_t>(best) : 255;
}

/// Distances of the pixels x to x + 3, of which the last ones may be beyond the row.
CUDAVISION_HOST_DEVICE inline std::uint32_t row_distances(const std::uint32_t* bits, int words,
                                                          int x, int radius) {
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= row_distance(bits, words, x + i, radius) << (8 * i);
  return result;
}

/// The minimum or maximum of each half of two words.
CUDAVISION_HOST_DEVICE inline std::uint32_t min_halves(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __vminu2(a, b);
#else
  const std::uint32_t low = std::min(a & 0xffff, b & 0xffff), high = std::min(a >> 16, b >> 16);
  return high << 16 | low;
#endif
}
CUDAVISION_HOST_DEVICE inline std::uint32_t max_halves(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __vmaxu2(a, b);
#else
  const std::uint32_t low = std::max(a & 0xffff, b & 0xffff), high = std::max(a >> 16, b >> 16);
  return high << 16 | low;
#endif
}

/// Distances of four pixels as halves of words. GPUs have instructions for halves, not for bytes.
struct FourDistances {
  std::uint32_t even, odd;  ///< pixels 0 and 2, pixels 1 and 3

  CUDAVISION_HOST_DEVICE explicit FourDistances(const std::uint8_t* bytes) {
    const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(bytes);
    even = word & 0x00ff00ff;
    odd = word >> 8 & 0x00ff00ff;
  }
  CUDAVISION_HOST_DEVICE std::uint32_t bytes() const { return odd << 8 | even; }
};

/// Distances of the pixels x to x + 3 of row y from the distances within rows: the least
/// max(|k|, distance within row y + k), or 255 if it exceeds the radius.
CUDAVISION_HOST_DEVICE inline std::uint32_t column_distances(View<const std::uint8_t> rows, int x,
                                                             int y, int radius) {
  const std::uint8_t *above = rows.row(y) + x, *below = above;
  FourDistances best(above);
  for (int k = 1; k <= radius; ++k) {
    const std::uint32_t step = static_cast<std::uint32_t>(k) * 0x00010001u;
    if (max_halves(max_halves(best.even, best.odd), step) == step)
      break;  // farther rows cannot be nearer
    // The outermost rows count for those beyond the frame, which changes no minimum.
    above -= y >= k ? rows.pitch : 0;
    below += y + k < rows.height ? rows.pitch : 0;
    const FourDistances a(above), b(below);
    best.even = min_halves(best.even, max_halves(min_halves(a.even, b.even), step));
    best.odd = min_halves(best.odd, max_halves(min_halves(a.odd, b.odd), step));
  }
  return best.bytes();
}

}  // namespace cudavision::regions
