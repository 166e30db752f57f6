// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The range of values that the levels of a DisparityPicture stand for: its arithmetic, which both
// backends share. disparitypicture.h has the definition.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::sgm {

/// The values that become level 1 and level 255, or the other way round. high is above low.
struct LevelRange {
  int low = 0, high = 1;

  /// Returns the level of a value, which is clamped to the range.
  CUDAVISION_HOST_DEVICE std::uint8_t level(int value) const {
    const int n = clamped(value) - low, span = high - low;
    return static_cast<std::uint8_t>(1 + (254 * n + span / 2) / span);
  }
  /// Returns the level if the smallest value is to become 255.
  CUDAVISION_HOST_DEVICE std::uint8_t reversed_level(int value) const {
    const int n = high - clamped(value), span = high - low;
    return static_cast<std::uint8_t>(1 + (254 * n + span / 2) / span);
  }

 private:
  CUDAVISION_HOST_DEVICE int clamped(int value) const {
    return value < low ? low : value > high ? high : value;
  }
};

/// The smoothed percentiles of an automatic range.
struct RangeState {
  std::int64_t low, high;  ///< numbers of the map, times 2^16
  bool known;              ///< false until a frame has any number that counts
};

/// An automatic range counts the numbers from first to last in bins of 2^shift.
struct RangeBins {
  static constexpr int count = 1024;

  int first = 0, last = 0, shift = 0;
  int min_span = 1;  ///< of the range

  bool operator==(const RangeBins&) const = default;

  /// Takes the histogram of a frame with this weight, in 1/65536, and returns the next range.
  CUDAVISION_HOST_DEVICE LevelRange next(RangeState& state, const std::uint32_t* histogram,
                                         int weight, bool first_frame) const {
    if (first_frame)
      state = {std::int64_t{65536} * first, std::int64_t{65536} * last, false};
    std::uint32_t all = 0, up_to = 0;
    for (int bin = 0; bin < count; ++bin)
      all += histogram[bin];
    const auto low_count = static_cast<std::uint32_t>((std::uint64_t{2} * all + 99) / 100);
    const auto high_count = static_cast<std::uint32_t>((std::uint64_t{98} * all + 99) / 100);
    int low_bin = 0, high_bin = 0;  // the numbers of bins whose cumulative counts are too small
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
