// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/histogramstatistics.h"

#include <cmath>

namespace cudavision {
namespace {

// Returns c·log2(c). The table saves time: most counts of a 16-bit frame's 65536 bins are small.
double weighted_log(std::uint32_t count) {
  static const std::array<double, 1024> small = [] {
    std::array<double, 1024> values{};
    for (std::size_t c = 1; c < values.size(); ++c)
      values[c] = static_cast<double>(c) * std::log2(static_cast<double>(c));
    return values;
  }();
  return count < small.size() ? small[count] : count * std::log2(static_cast<double>(count));
}

}  // namespace

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
    squares += counts[v] * static_cast<std::uint64_t>(v) * v;  // the addend is below 2^64
  }
  if (total == 0)
    return result;

  const double count = static_cast<double>(total);
  result.mean = static_cast<double>(sum) / count;
  const Wide variance =
      total * squares - static_cast<Wide>(sum) * sum;  // the variance times total²
  result.stddev = std::sqrt(static_cast<double>(variance)) / count;

  double logs = 0;
  std::uint64_t so_far = 0;
  std::size_t next = 0;
  for (std::size_t v = result.minimum; v <= result.maximum; ++v) {
    if (counts[v] == 0)
      continue;
    logs += weighted_log(counts[v]);
    so_far += counts[v];
    for (; next < result.percents.size() && so_far * 100 >= total * result.percents[next]; ++next)
      result.percentiles[next] = static_cast<unsigned>(v);
  }
  // The entropy −Σ c/n·log2(c/n), which stays exactly 0 if all pixels have the same value.
  if (result.minimum < result.maximum)
    result.entropy = std::log2(count) - logs / count;
  return result;
}

}  // namespace cudavision
