// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudavision {

/// Statistics of the values that a histogram counts. They are all 0 for an empty histogram.
struct HistogramStatistics {
  static constexpr std::array<int, 5> percents = {1, 5, 50, 95, 99};

  double mean = 0;
  double stddev = 0;   ///< of the population
  double entropy = 0;  ///< Shannon's, in bits
  unsigned minimum = 0;
  unsigned maximum = 0;
  /// percentiles[i] is the smallest value that at least percents[i] percent of the values do not
  /// exceed.
  std::array<unsigned, percents.size()> percentiles{};
};

/// counts[v] is how often the value v occurs, for v from 0 to size − 1. There must be fewer than
/// 2^32 values in all, and size must be at most 65536. The sums are exact integers, so the variance
/// does not suffer from cancellation.
HistogramStatistics statistics_of(const std::uint32_t* counts, std::size_t size);

}  // namespace cudavision
