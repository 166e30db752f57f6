// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/histogramstatistics.h"

#include <cmath>

namespace cudavision {

HistogramStatistics statistics_of(const std::uint32_t* counts, std::size_t size) {
  __extension__ using Wide = unsigned __int128;

  HistogramStatistics result;
  std::uint64_t total = 0;
  std::uint64_t sum = 0;
  Wide squares = 0;
  for (std::size_t v = 0; v < size; ++v) {
    if (counts[v] == 0)
      continue;
    if (total == 0)
      result.minimum = static_cast<unsigned>(v);
    result.maximum = static_cast<unsigned>(v);
    total += counts[v];
    sum += counts[v] * static_cast<std::uint64_t>(v);
    squares += static_cast<Wide>(counts[v]) * v * v;
  }
  if (total == 0)
    return result;

  const double count = static_cast<double>(total);
  result.mean = static_cast<double>(sum) / count;
  const Wide variance = total * squares - static_cast<Wide>(sum) * sum;  // times total²
  result.stddev = std::sqrt(static_cast<double>(variance)) / count;

  std::uint64_t so_far = 0;
  std::size_t next = 0;
  for (std::size_t v = result.minimum; v <= result.maximum; ++v) {
    if (counts[v] == 0)
      continue;
    const double share = counts[v] / count;
    if (share < 1)
      result.entropy -= share * std::log2(share);
    so_far += counts[v];
    for (; next < result.percents.size() && so_far * 100 >= total * result.percents[next]; ++next)
      result.percentiles[next] = static_cast<unsigned>(v);
  }
  return result;
}

}  // namespace cudavision
