// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The work of one CUDA thread on the distances from masks: four pixels, as the bytes of a word.

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

/// Minimum of each byte.
CUDAVISION_HOST_DEVICE inline std::uint32_t min_bytes(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __vminu4(a, b);
#else
  std::uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const std::uint32_t one = a >> shift & 255, other = b >> shift & 255;
    result |= (one < other ? one : other) << shift;
  }
  return result;
#endif
}

/// 255 for each byte of a that is at most that of b, and 0 for the others.
CUDAVISION_HOST_DEVICE inline std::uint32_t at_most_bytes(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __vcmpleu4(a, b);
#else
  std::uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 8)
    if ((a >> shift & 255) <= (b >> shift & 255))
      result |= 255u << shift;
  return result;
#endif
}

/// Distances of the pixels x to x + 3 of row y from the distances within rows. The distance is the
/// least k for which one of the rows y − k to y + k has a distance of at most k.
CUDAVISION_HOST_DEVICE inline std::uint32_t column_distances(View<const std::uint8_t> rows, int x,
                                                             int y, int radius) {
  const auto row = [&](int at) {
    return *reinterpret_cast<const std::uint32_t*>(rows.row(at) + x);
  };
  std::uint32_t nearest = row(y), missing = ~at_most_bytes(nearest, 0), result = missing;
  for (int k = 1; k <= radius && missing != 0; ++k) {
    if (y >= k)
      nearest = min_bytes(nearest, row(y - k));
    if (y + k < rows.height)
      nearest = min_bytes(nearest, row(y + k));
    const std::uint32_t distance = static_cast<std::uint32_t>(k) * 0x01010101u;
    const std::uint32_t found = at_most_bytes(nearest, distance) & missing;
    result = (result & ~found) | (distance & found);
    missing &= ~found;
  }
  return result;
}

}  // namespace cudavision::regions
