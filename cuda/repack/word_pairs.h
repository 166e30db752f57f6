// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Samples of two neighbouring pixels, each in one half of a 32-bit number, and their arithmetic.
// It compiles for the host, too, where the tests compare it with plain code.

#include <cstdint>

#include "cuda/pixels/pixel_pack.h"
#include "cuda/repack/fields.h"

namespace cudavision::repack {

/// How words of two bytes become values, for two words at once. Selectors are those of
/// select_bytes(). They swap the bytes of each word where the stored frame has them swapped.
struct PairCoding {
  std::uint32_t both;       ///< both words of the first number
  std::uint32_t low, high;  ///< the lower words, or the upper ones, of two numbers
  int shift;
  std::uint32_t mask;  ///< the bits that stay in each half when words are shifted down
  std::uint32_t largest;
};

inline PairCoding pair_coding(bool swapped, int bits, int shift) {
  constexpr std::uint32_t each_half = 0x10001;
  PairCoding coding{};
  coding.both = swapped ? 0x2301 : 0x3210;
  coding.low = swapped ? 0x4501 : 0x5410;
  coding.high = swapped ? 0x6723 : 0x7632;
  coding.shift = shift;
  coding.mask = (0xffffu >> shift) * each_half;
  coding.largest = ((1u << bits) - 1) * each_half;
  return coding;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t low_half(std::uint32_t pair) {
  return pair & 0xffff;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t high_half(std::uint32_t pair) {
  return pair >> 16;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t pair_of(std::uint32_t low, std::uint32_t high) {
  return high << 16 | low;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t smaller_of_pairs(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __vminu2(a, b);
#else
  const auto smaller = [](std::uint32_t m, std::uint32_t n) { return m < n ? m : n; };
  return pair_of(smaller(low_half(a), low_half(b)), smaller(high_half(a), high_half(b)));
#endif
}

/// Returns the values of two words in the machine's byte order.
CUDAVISION_HOST_DEVICE inline std::uint32_t values_of_words(std::uint32_t words,
                                                            const PairCoding& coding) {
  return smaller_of_pairs(words >> coding.shift & coding.mask, coding.largest);
}

/// Returns the words of two values, which may be too large.
CUDAVISION_HOST_DEVICE inline std::uint32_t words_of_values(std::uint32_t values,
                                                            const PairCoding& coding) {
  return smaller_of_pairs(values, coding.largest) << coding.shift;
}

/// Sorts 16 stored bytes, in which kChannels channels alternate, by channels: the pairs of a
/// channel lie behind each other, in the machine's byte order.
template <int kChannels>
CUDAVISION_HOST_DEVICE inline void separate(const std::uint32_t (&stored)[4],
                                            const PairCoding& coding, std::uint32_t (&pairs)[4]) {
  if constexpr (kChannels == 1) {
    CUDAVISION_UNROLL
    for (int i = 0; i < 4; ++i)
      pairs[i] = select_bytes(stored[i], 0, coding.both);
  } else if constexpr (kChannels == 2) {
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i) {
      pairs[i] = select_bytes(stored[2 * i], stored[2 * i + 1], coding.low);
      pairs[2 + i] = select_bytes(stored[2 * i], stored[2 * i + 1], coding.high);
    }
  } else {
    static_assert(kChannels == 4);
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i) {
      pairs[2 * i] = select_bytes(stored[i], stored[2 + i], coding.low);
      pairs[2 * i + 1] = select_bytes(stored[i], stored[2 + i], coding.high);
    }
  }
}

/// The inverse of separate().
template <int kChannels>
CUDAVISION_HOST_DEVICE inline void interleave(const std::uint32_t (&pairs)[4],
                                              const PairCoding& coding,
                                              std::uint32_t (&stored)[4]) {
  if constexpr (kChannels == 1) {
    separate<1>(pairs, coding, stored);
  } else if constexpr (kChannels == 2) {
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i) {
      stored[2 * i] = select_bytes(pairs[i], pairs[2 + i], coding.low);
      stored[2 * i + 1] = select_bytes(pairs[i], pairs[2 + i], coding.high);
    }
  } else {
    static_assert(kChannels == 4);
    CUDAVISION_UNROLL
    for (int i = 0; i < 2; ++i) {
      stored[i] = select_bytes(pairs[2 * i], pairs[2 * i + 1], coding.low);
      stored[2 + i] = select_bytes(pairs[2 * i], pairs[2 * i + 1], coding.high);
    }
  }
}

/// Returns a pixel's luminance. Channels that are no colour have a weight of 0.
template <int kChannels>
CUDAVISION_HOST_DEVICE inline std::uint32_t weighted_luminance(
    const std::uint32_t (&values)[kChannels], const std::uint32_t (&weights)[kChannels]) {
  std::uint32_t sum = 0;
  CUDAVISION_UNROLL
  for (int c = 0; c < kChannels; ++c)
    sum += weights[c] * values[c];
  return sum / luminance_divisor;
}

/// Returns the luminance of two pixels. pairs[c] are their values of channel c.
template <int kChannels>
CUDAVISION_HOST_DEVICE inline std::uint32_t luminance_of_pairs(
    const std::uint32_t (&pairs)[kChannels], const std::uint32_t (&weights)[kChannels]) {
  std::uint32_t low[kChannels], high[kChannels];
  CUDAVISION_UNROLL
  for (int c = 0; c < kChannels; ++c) {
    low[c] = low_half(pairs[c]);
    high[c] = high_half(pairs[c]);
  }
  return pair_of(weighted_luminance(low, weights), weighted_luminance(high, weights));
}

/// Changes the colours of a pixel by the difference of that luminance and their own.
template <int kChannels>
CUDAVISION_HOST_DEVICE inline void adjust(std::uint32_t luminance,
                                          const std::uint32_t (&weights)[kChannels],
                                          std::uint32_t largest,
                                          std::uint32_t (&values)[kChannels]) {
  const auto change = static_cast<std::int32_t>(luminance) -
                      static_cast<std::int32_t>(weighted_luminance(values, weights));
  CUDAVISION_UNROLL
  for (int c = 0; c < kChannels; ++c)
    values[c] =
        saturated(static_cast<std::int32_t>(values[c]) + (weights[c] ? change : 0), largest);
}

/// The same for two pixels.
template <int kChannels>
CUDAVISION_HOST_DEVICE inline void adjust_pairs(std::uint32_t luminances,
                                                const std::uint32_t (&weights)[kChannels],
                                                std::uint32_t largest,
                                                std::uint32_t (&pairs)[kChannels]) {
  std::uint32_t low[kChannels], high[kChannels];
  CUDAVISION_UNROLL
  for (int c = 0; c < kChannels; ++c) {
    low[c] = low_half(pairs[c]);
    high[c] = high_half(pairs[c]);
  }
  adjust(low_half(luminances), weights, largest, low);
  adjust(high_half(luminances), weights, largest, high);
  CUDAVISION_UNROLL
  for (int c = 0; c < kChannels; ++c)
    pairs[c] = pair_of(low[c], high[c]);
}

}  // namespace cudavision::repack
