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

/// The histogram of an automatic range.
struct RangeBins {
  static constexpr int maximum = 1024;

  int first = 0, last = 0;  ///< the numbers that may occur
  int shift = 0;            ///< a bin has 2^shift numbers
  int min_span = 1;         ///< of the range

  RangeBins() = default;
  RangeBins(int first_number, int last_number, int span)
      : first(first_number), last(last_number), min_span(span) {
    while ((last - first) >> shift >= maximum)
      ++shift;
  }

  bool operator==(const RangeBins&) const = default;

  /// Returns the bin of a number, or −1 if the number does not count.
  CUDAVISION_HOST_DEVICE int bin(int number) const {
    return number < first || number > last ? -1 : (number - first) >> shift;
  }
  CUDAVISION_HOST_DEVICE int min_in(int bin) const { return first + (bin << shift); }
  CUDAVISION_HOST_DEVICE int max_in(int bin) const {
    const int number = first + (bin << shift) + (1 << shift) - 1;
    return number < last ? number : last;
  }
};

/// Returns true if bin, which holds `count` numbers, is the first one that together with those
/// below it holds at least that percentage of all. up_to counts both.
CUDAVISION_HOST_DEVICE inline bool is_percentile(std::uint32_t up_to, std::uint32_t count,
                                                 std::uint32_t all, std::uint32_t percentage) {
  const std::uint64_t needed = std::uint64_t{percentage} * all;
  return std::uint64_t{100} * up_to >= needed && std::uint64_t{100} * (up_to - count) < needed;
}
constexpr std::uint32_t low_percentage = 2, high_percentage = 98;

/// An automatic range over time, in numbers of the map.
struct RangeState {
  std::int64_t low = 0, high = 0;  ///< times 2^16
  bool known = false;              ///< false until a frame has any number that counts

  /// Takes the percentiles of a frame with this weight, in 1/65536.
  CUDAVISION_HOST_DEVICE void take(int low_number, int high_number, int weight) {
    low = moved(low, low_number, weight);
    high = moved(high, high_number, weight);
    known = true;
  }

  CUDAVISION_HOST_DEVICE LevelRange range(const RangeBins& bins) const {
    LevelRange range{bins.first, bins.last};
    if (known)
      range = {rounded(low), rounded(high)};
    if (range.high < range.low + bins.min_span)
      range.high = range.low + bins.min_span;
    return range;
  }

 private:
  static constexpr int one = 1 << 16;

  CUDAVISION_HOST_DEVICE std::int64_t moved(std::int64_t from, int to, int weight) const {
    const std::int64_t target = std::int64_t{to} * one;
    return known ? from + (((target - from) * weight) >> 16) : target;
  }
  CUDAVISION_HOST_DEVICE static int rounded(std::int64_t number) {
    return static_cast<int>((number + one / 2) >> 16);
  }
};

}  // namespace cudavision::sgm
