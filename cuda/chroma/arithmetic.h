// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Per-sample arithmetic of chroma.h, shared by both backends.

#include <cstdint>

#include "cuda/chroma/chroma.h"
#include "cuda/core/division.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::chroma {

struct Range {
  int black = 0, neutral = 0;
  int low = 0, high = 0;  ///< legal range of chroma
  /// The floats 2^23 + black and (2^23 + black) / 4. Replacing the lowest byte of either float by a
  /// luma byte, then subtracting the float, gives the luma above black, divided by 1 or 4.
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

/// Returns r of chroma.h: 256 times the gain of the luma above black. Takes two luma samples.
CUDAVISION_HOST_DEVICE inline int growth(int before, int after, const Range& range) {
  const int from = before - range.black, to = after - range.black;
  if (from <= 0)
    return 256;
  const auto r =
      static_cast<unsigned>(256 * (to > 0 ? to : 0) + from / 2) / static_cast<unsigned>(from);
  return r < 1024 ? static_cast<int>(r) : 1024;
}

/// Returns growth() for byte `number` of the luma words before and after, without a division.
///
/// growth() rounds 256·to / from to the nearest integer. This quotient is at least 1/510 away from
/// any half-integer, because 0 < from < 256. Its error is smaller: the reciprocal and the product
/// have relative errors of up to 2^-23 each, and the quotient is at most 1024.
CUDAVISION_HOST_DEVICE inline int growth_of_byte(std::uint32_t before, std::uint32_t after,
                                                 int number, const Range& range) {
  // Replaces byte 0 of the bias. Bytes 1 and 2 of the bias are 0, so byte 1 can serve as both.
  const std::uint32_t selector = 0x7550u + static_cast<std::uint32_t>(number);
  const auto above_black = [=](std::uint32_t word, float bias) {
    return float_of_bits(select_bytes(word, bits_of_float(bias), selector)) - bias;
  };
  const float from = above_black(before, range.bias);
  const float quarter = above_black(after, range.quarter_bias);
  const float ratio = from > 0 ? saturated(quarter * approximate_reciprocal(from)) : 0.25f;
  // Adding 12288 rounds ratio to a multiple of 1/1024, the spacing of floats from 2^13 to 2^14.
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
