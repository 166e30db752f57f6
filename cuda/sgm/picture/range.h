// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::sgm {

/// The values that become levels 1 and 255 or, reversed, 255 and 1. high is above low.
struct LevelRange {
  int low = 0, high = 1;

  /// Returns the level of a value. If reversed, the smallest value becomes 255.
  CUDAVISION_HOST_DEVICE std::uint8_t level(int value, bool reversed = false) const {
    const int clamped = value < low ? low : value > high ? high : value;
    const int n = reversed ? high - clamped : clamped - low, span = high - low;
    return static_cast<std::uint8_t>(1 + (254 * n + span / 2) / span);
  }
};

struct RangeState {
  std::int64_t low, high;  ///< map values, times 2^16
  bool known;              ///< false until a frame has a value in the bins
};

struct RangeBins {
  static constexpr int count = 1024;

  int first = 0, last = 0, shift = 0;
  int min_span = 1;  ///< smallest high − low

  bool operator==(const RangeBins&) const = default;

  /// Updates the state with a frame's histogram and weight, in 1/65536. Returns the range.
  CUDAVISION_HOST_DEVICE LevelRange next(RangeState& state, const std::uint32_t* histogram,
                                         int weight, bool first_frame) const {
    if (first_frame)
      state = {std::int64_t{65536} * first, std::int64_t{65536} * last, false};
    std::uint32_t all = 0, up_to = 0;
    for (int bin = 0; bin < count; ++bin)
      all += histogram[bin];
    const auto low_count = static_cast<std::uint32_t>((std::uint64_t{2} * all + 99) / 100);
    const auto high_count = static_cast<std::uint32_t>((std::uint64_t{98} * all + 99) / 100);
    int low_bin = 0, high_bin = 0;  // number of bins whose cumulative count is too small
    for (int bin = 0; bin < count; ++bin) {
      up_to += histogram[bin];
      low_bin += up_to < low_count;
      high_bin += up_to < high_count;
    }
    if (all > 0) {
      const int end = first + ((high_bin + 1) << shift) - 1;
      const std::int64_t low = first + (low_bin << shift), high = end < last ? end : last;
      const int a = state.known ? weight : 65536;
      state.low += ((65536 * low - state.low) * a) >> 16;
      state.high += ((65536 * high - state.high) * a) >> 16;
      state.known = true;
    }
    const int low = static_cast<int>((state.low + 32768) >> 16);
    const int high = static_cast<int>((state.high + 32768) >> 16);
    return {low, high < low + min_span ? low + min_span : high};
  }
};

}  // namespace cudavision::sgm
