// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arithmetic of chroma.h for one sample, for both backends.

#include <cstdint>

#include "cuda/chroma/chroma.h"
#include "cuda/core/division.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::chroma {

struct Range {
  int black = 0, neutral = 0;
  int low = 0, high = 0;  ///< legal chroma
  /// 2^23 + black and a quarter of it, in binary32. A byte of luma replaces their low mantissa
  /// bits.
  float bias = 0, quarter_bias = 0;

  Range() = default;
  Range(int bits, bool limited)
      : black(limited ? 16 << (bits - 8) : 0),
        neutral(1 << (bits - 1)),
        low(black),
        high(limited ? 240 << (bits - 8) : (1 << bits) - 1),
        bias(0x1p23f + static_cast<float>(black)),
        quarter_bias(bias / 4) {}
};

/// Returns r: 256 times the factor by which luma above black has grown.
CUDAVISION_HOST_DEVICE inline int growth(int before, int after, const Range& range) {
  const int from = before - range.black, to = after - range.black;
  if (from <= 0)
    return 256;
  const auto r =
      static_cast<unsigned>(256 * (to > 0 ? to : 0) + from / 2) / static_cast<unsigned>(from);
  return r < 1024 ? static_cast<int>(r) : 1024;
}

/// growth() of byte `number` of the words before and after, without a division.
///
/// r is 256·to / from, rounded to the nearest integer. It is at least 1/510 away from every half,
/// because a half needs a `from` that 512 divides. The reciprocal and the product move it by less:
/// each by up to 2^-23 of at most 1024.
CUDAVISION_HOST_DEVICE inline int growth_of_byte(std::uint32_t before, std::uint32_t after,
                                                 int number, const Range& range) {
  // Byte 1 of the bias also takes the place of its byte 2; both are 0.
  const std::uint32_t selector = 0x7550u + static_cast<std::uint32_t>(number);
  const auto above_black = [=](std::uint32_t word, float bias) {
    return float_of_bits(select_bytes(word, bits_of_float(bias), selector)) - bias;
  };
  const float from = above_black(before, range.bias);
  const float quarter = above_black(after, range.quarter_bias);
  const float ratio = from > 0 ? saturated(quarter * approximate_reciprocal(from)) : 0.25f;
  // Between 2^13 and 2^14, the last place is 1/1024.
  return static_cast<int>(bits_of_float(ratio + 12288.0f) - bits_of_float(12288.0f));
}

CUDAVISION_HOST_DEVICE inline int scaled(int chroma, int growth, const Range& range) {
  const int result = range.neutral + (((chroma - range.neutral) * growth + 128) >> 8);
  const int low = chroma < range.low ? chroma : range.low;
  const int high = chroma > range.high ? chroma : range.high;
  return result < low ? low : result > high ? high : result;
}

/// The channels of a layout that ChromaScale reads and writes.
struct Channels {
  Channel luma, chroma[2];

  explicit Channels(const FrameLayout& layout) {
    int count = 0;
    for (int c = 0; c < layout.channel_count; ++c) {
      if (layout.channels[c].role == Role::luma)
        luma = layout.channels[c];
      else if (layout.channels[c].role == Role::chroma && count < 2)
        chroma[count++] = layout.channels[c];
    }
  }
};

}  // namespace cudavision::chroma
