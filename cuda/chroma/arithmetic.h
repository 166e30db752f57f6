// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arithmetic of chroma.h for one sample, for both backends.

#include <algorithm>
#include <cstdint>

#include "cuda/chroma/chroma.h"

namespace cudavision::chroma {

struct Range {
  int black = 0, neutral = 0;
  int low = 0, high = 0;  ///< legal chroma

  Range() = default;
  Range(int bits, bool limited)
      : black(limited ? 16 << (bits - 8) : 0),
        neutral(1 << (bits - 1)),
        low(black),
        high(limited ? 240 << (bits - 8) : (1 << bits) - 1) {}
};

/// Returns r: 256 times the factor by which luma above black has grown. divide(n, d) returns n div
/// d for n < 2^25 and 0 < d < 2^16; with samples of 8 bits, n < 2^16 and d < 2^8.
template <class Divide>
CUDAVISION_HOST_DEVICE inline int growth(int before, int after, const Range& range,
                                         const Divide& divide) {
  const int from = before - range.black, to = after - range.black;
  if (from <= 0)
    return 256;
  const int r = static_cast<int>(divide(static_cast<unsigned>(256 * (to > 0 ? to : 0) + from / 2),
                                        static_cast<unsigned>(from)));
  return r < 1024 ? r : 1024;
}
CUDAVISION_HOST_DEVICE inline int growth(int before, int after, const Range& range) {
  return growth(before, after, range, [](unsigned n, unsigned d) { return n / d; });
}

/// Divides numbers of samples of 8 bits by a multiplication: n div d is (2·n·multiplier) >> 32 with
/// multiplier = 2^31 / d, rounded up, because n·d < 2^31.
CUDAVISION_HOST_DEVICE inline std::uint32_t multiplier_of(std::uint32_t d) {
  return ((1u << 31) + d - 1) / d;
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
