// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudavision {

/// All members are 0 for an empty histogram.
struct HistogramStatistics {
  static constexpr std::array<int, 5> percents = {1, 5, 50, 95, 99};

  double mean = 0;
  double stddev = 0;   ///< population standard deviation
  double entropy = 0;  ///< Shannon entropy in bits
  unsigned minimum = 0;
  unsigned maximum = 0;
  /// The smallest value that at least percents[i] percent of the values do not exceed.
  std::array<unsigned, percents.size()> percentiles{};
};

/// counts[v] is the count of value v. size is at most 65536, and the sum of counts below 2^32.
/// Exact integer sums keep the variance free of cancellation.
HistogramStatistics statistics_of(const std::uint32_t* counts, std::size_t size);

}  // namespace cudavision
