// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/view.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::integral {

constexpr int quad_pixels = 4;

/// Four adjacent samples, packed into registers. The term of a pixel is the value or, with
/// kSquared, the square of the value. Sum is the type of a tile's sum; 32-bit sums stay below 2^30.
template <class Value, bool kSquared>
struct Quad;

template <bool kSquared>
struct Quad<std::uint8_t, kSquared> {
  using Sum = std::uint32_t;
  std::uint32_t word;

  CUDAVISION_HOST_DEVICE static Quad of_words(const std::uint32_t* stored, int, std::uint32_t) {
    return {stored[0]};
  }
  CUDAVISION_HOST_DEVICE void set(int i, std::uint32_t stored, int, std::uint32_t) {
    word |= stored << (8 * i);
  }

  /// Returns base plus the terms of pixels 0 to i.
  CUDAVISION_HOST_DEVICE Sum sum_to(int i, Sum base) const {
    const std::uint32_t mask = 0xffffffffu >> (8 * (quad_pixels - 1 - i));
    return kSquared ? dot_bytes(word & mask, word, base)
                    : dot_bytes(word, 0x01010101u & mask, base);
  }
};

template <bool kSquared>
struct Quad<std::uint16_t, kSquared> {
  using Sum = std::conditional_t<kSquared, std::uint64_t, std::uint32_t>;
  std::uint32_t words[quad_pixels / 2];

  CUDAVISION_HOST_DEVICE static Quad of_words(const std::uint32_t* stored, int shift,
                                              std::uint32_t largest) {
    Quad quad{};
    CUDAVISION_UNROLL
    for (int i = 0; i < quad_pixels; ++i)
      quad.set(i, stored[i / 2] >> (16 * (i % 2)) & 0xffff, shift, largest);
    return quad;
  }
  CUDAVISION_HOST_DEVICE void set(int i, std::uint32_t stored, int shift, std::uint32_t largest) {
    words[i / 2] |= sample_value(stored, shift, largest) << (16 * (i % 2));
  }

  CUDAVISION_HOST_DEVICE std::uint32_t pixel(int i) const {
    return words[i / 2] >> (16 * (i % 2)) & 0xffff;
  }

  CUDAVISION_HOST_DEVICE Sum sum_to(int i, Sum base) const {
    CUDAVISION_UNROLL
    for (int j = 0; j < quad_pixels; ++j) {
      const std::uint32_t value = pixel(j);
      if (j <= i)
        base += kSquared ? static_cast<Sum>(value) * value : static_cast<Sum>(value);
    }
    return base;
  }
};

}  // namespace cudavision::integral
