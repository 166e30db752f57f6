// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interpolation of pixels with contiguous samples, in 32-bit words. All samples of a pixel have the
// same source position and weights.

#include <cstdint>

#include "cuda/pixels/pixel_pack.h"
#include "cuda/remap/packed_map.h"

namespace cudavision::remap {

enum class PixelKind {
  byte,
  byte_pair,
  byte_triple,  ///< in the lower bytes of the word
  byte_quad,
  word,              ///< one sample of two bytes
  narrow_word_pair,  ///< two samples of two bytes, with values of at most 11 bits
  word_pair,
  word_quad,
};

template <PixelKind kKind>
constexpr int pixel_bytes = kKind == PixelKind::byte                                    ? 1
                            : kKind == PixelKind::byte_pair || kKind == PixelKind::word ? 2
                            : kKind == PixelKind::byte_triple                           ? 3
                            : kKind == PixelKind::word_quad                             ? 8
                                                                                        : 4;

template <PixelKind kKind>
constexpr bool has_words =
    kKind != PixelKind::byte&& kKind != PixelKind::byte_pair&& kKind != PixelKind::byte_quad;

/// A pixel in one or two words. Unused upper bytes are zero.
template <PixelKind kKind>
struct PixelWords {
  static constexpr int count = kKind == PixelKind::word_quad ? 2 : 1;
  std::uint32_t word[count];
};

/// Conversion of words of two bytes to values and back.
struct WordCoding {
  int shift;              ///< unused low bits of input words
  int out_shift;          ///< unused low bits of output words
  std::uint32_t mask;     ///< bits to keep after a shift, in each half
  std::uint32_t largest;  ///< maximum value, in each half
  bool clips;             ///< words may exceed the maximum and are clamped
};

inline WordCoding word_coding(int bits, int shift, int out_shift) {
  constexpr std::uint32_t each_half = 0x10001;
  return {shift, out_shift, (0xffffu >> shift) * each_half, ((1u << bits) - 1) * each_half,
          bits + shift < 16};
}

/// Column and row of a source position, relative to its segment. The offset must not be wide.
CUDAVISION_HOST_DEVICE inline int column_of(std::uint32_t offset) {
  return static_cast<int>((offset & 0xffff) >> 5);
}
CUDAVISION_HOST_DEVICE inline int row_of(std::uint32_t offset) {
  return static_cast<int>(offset >> 21);
}

/// The factors of the weights in remap.h: right is fx, left is 32 − fx, lower is fy, upper 32 − fy.
struct Weights {
  CUDAVISION_HOST_DEVICE explicit Weights(const Position& position)
      : Weights(static_cast<std::uint32_t>(position.x & 31),
                static_cast<std::uint32_t>(position.y & 31)) {}
  CUDAVISION_HOST_DEVICE explicit Weights(std::uint32_t offset)
      : Weights(offset & 31, offset >> 16 & 31) {}

  /// Returns upper in byte 0 and lower in byte 1.
  CUDAVISION_HOST_DEVICE std::uint32_t rows() const { return lower * 255 + 32; }

  std::uint32_t left, right, upper, lower;

 private:
  CUDAVISION_HOST_DEVICE Weights(std::uint32_t fraction_x, std::uint32_t fraction_y)
      : left(32 - fraction_x), right(fraction_x), upper(32 - fraction_y), lower(fraction_y) {}
};

/// Interpolates values of up to 16 bits.
CUDAVISION_HOST_DEVICE inline std::uint32_t blend_values(const Weights& weights,
                                                         std::uint32_t top_left,
                                                         std::uint32_t top_right,
                                                         std::uint32_t bottom_left,
                                                         std::uint32_t bottom_right) {
  const std::uint32_t top = weights.left * top_left + weights.right * top_right;
  const std::uint32_t bottom = weights.left * bottom_left + weights.right * bottom_right;
  return (weights.upper * top + weights.lower * bottom + 512) >> 10;
}

struct TwoValues {
  std::uint32_t low, high;
};
/// Interpolates values of up to 11 bits in both halves at once; 32 · 2047 fits into a half.
CUDAVISION_HOST_DEVICE inline TwoValues blend_halves(const Weights& weights, std::uint32_t top_left,
                                                     std::uint32_t top_right,
                                                     std::uint32_t bottom_left,
                                                     std::uint32_t bottom_right) {
  const std::uint32_t top = weights.left * top_left + weights.right * top_right;
  const std::uint32_t bottom = weights.left * bottom_left + weights.right * bottom_right;
  const std::uint32_t rows = weights.rows();
  return {dot_low_bytes(select_bytes(top, bottom, 0x5410), rows, 512) >> 10,
          dot_low_bytes(select_bytes(top, bottom, 0x7632), rows, 512) >> 10};
}

/// Converts two words to values, clamped if kClips.
template <bool kClips>
CUDAVISION_HOST_DEVICE inline std::uint32_t values_of_words(std::uint32_t words,
                                                            const WordCoding& coding) {
  const std::uint32_t values = words >> coding.shift & coding.mask;
  if constexpr (!kClips)
    return values;
#ifdef __CUDA_ARCH__
  return __vminu2(values, coding.largest);
#else
  const auto smaller = [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; };
  return smaller(values >> 16, coding.largest >> 16) << 16 |
         smaller(values & 0xffff, coding.largest & 0xffff);
#endif
}

/// Interpolates all samples of a pixel. kClips must be true if coding.clips is.
template <PixelKind kKind, bool kClips>
CUDAVISION_HOST_DEVICE inline PixelWords<kKind> blend_pixels(
    const WordCoding& coding, const Weights& weights, const PixelWords<kKind>& top_left,
    const PixelWords<kKind>& top_right, const PixelWords<kKind>& bottom_left,
    const PixelWords<kKind>& bottom_right) {
  if constexpr (kKind == PixelKind::byte) {
    // Both rows at once: the upper row in the lower halves, the lower row in the upper halves.
    const std::uint32_t rows =
        weights.left * select_bytes(top_left.word[0], bottom_left.word[0], 0x5410) +
        weights.right * select_bytes(top_right.word[0], bottom_right.word[0], 0x5410);
    return {{dot_low_bytes(rows, weights.rows(), 512) >> 10}};
  } else if constexpr (kKind == PixelKind::byte_pair) {
    const auto spread = [](const PixelWords<kKind>& pixel) {
      return select_bytes(pixel.word[0], 0, 0x4140);
    };
    const TwoValues values = blend_halves(weights, spread(top_left), spread(top_right),
                                          spread(bottom_left), spread(bottom_right));
    return {{values.low | values.high << 8}};
  } else if constexpr (kKind == PixelKind::byte_triple || kKind == PixelKind::byte_quad) {
    const auto even = [](const PixelWords<kKind>& pixel) { return pixel.word[0] & 0x00ff00ff; };
    const auto odd = [](const PixelWords<kKind>& pixel) {
      return select_bytes(pixel.word[0], 0, 0x4341);
    };
    const TwoValues evens = blend_halves(weights, even(top_left), even(top_right),
                                         even(bottom_left), even(bottom_right));
    const TwoValues odds =
        blend_halves(weights, odd(top_left), odd(top_right), odd(bottom_left), odd(bottom_right));
    return {{(evens.low | odds.low << 8) | (evens.high | odds.high << 8) << 16}};
  } else if constexpr (kKind == PixelKind::narrow_word_pair) {
    const auto values = [&](const PixelWords<kKind>& pixel) {
      return values_of_words<kClips>(pixel.word[0], coding);
    };
    const TwoValues blended = blend_halves(weights, values(top_left), values(top_right),
                                           values(bottom_left), values(bottom_right));
    return {{(blended.low | blended.high << 16) << coding.out_shift}};
  } else if constexpr (kKind == PixelKind::word) {
    const auto value = [&](const PixelWords<kKind>& pixel) {
      const std::uint32_t unclipped = pixel.word[0] >> coding.shift,
                          largest = coding.largest & 0xffff;
      return kClips && unclipped > largest ? largest : unclipped;
    };
    return {{blend_values(weights, value(top_left), value(top_right), value(bottom_left),
                          value(bottom_right))
             << coding.out_shift}};
  } else {
    PixelWords<kKind> blended;
    CUDAVISION_UNROLL
    for (int i = 0; i < PixelWords<kKind>::count; ++i) {
      const std::uint32_t values[4] = {values_of_words<kClips>(top_left.word[i], coding),
                                       values_of_words<kClips>(top_right.word[i], coding),
                                       values_of_words<kClips>(bottom_left.word[i], coding),
                                       values_of_words<kClips>(bottom_right.word[i], coding)};
      const std::uint32_t low = blend_values(weights, values[0] & 0xffff, values[1] & 0xffff,
                                             values[2] & 0xffff, values[3] & 0xffff);
      const std::uint32_t high =
          blend_values(weights, values[0] >> 16, values[1] >> 16, values[2] >> 16, values[3] >> 16);
      blended.word[i] = (low | high << 16) << coding.out_shift;
    }
    return blended;
  }
}

}  // namespace cudavision::remap
