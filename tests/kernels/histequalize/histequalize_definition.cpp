// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histequalize/histequalize_definition.h"

#include <algorithm>

#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/rounding.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Channels = histequalize::Parameters::Channels;

std::vector<std::uint32_t> channel_histogram(const FrameLayout& layout, const Channel& channel,
                                             const ConstFrame& in) {
  std::vector<std::uint32_t> histogram(std::size_t{1} << layout.bits, 0);
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x)
      ++histogram[defined_sample(layout, in, channel, x, y)];
  return histogram;
}

}  // namespace

std::vector<std::uint32_t> defined_histogram(const FrameLayout& layout, const ConstFrame& in) {
  std::vector<std::uint32_t> histogram(std::size_t{1} << layout.bits, 0);
  for (const std::uint16_t level : DefinedLuminance(layout, in).values)
    ++histogram[level];
  return histogram;
}

std::vector<int> defined_table(const std::vector<std::uint32_t>& histogram, int low, int high) {
  const int bins = static_cast<int>(histogram.size());
  std::vector<int> table(histogram.size());
  std::uint32_t total = 0;
  for (const std::uint32_t count : histogram)
    total += count;

  int first = 0;
  while (first < bins - 1 && histogram[first] == 0)
    ++first;
  const std::uint32_t rest = total - histogram[first];
  if (rest == 0) {
    for (int j = 0; j < bins; ++j)
      table[j] = j;
    return table;
  }

  const float scale = static_cast<float>(high - low) / static_cast<float>(rest);
  std::uint32_t sum = 0;
  for (int j = 0; j < bins; ++j) {
    if (j <= first) {
      table[j] = low;
      continue;
    }
    sum += histogram[j];
    // The product of two binary32 numbers is exact in binary64, so only the conversion rounds.
    const auto product = static_cast<float>(static_cast<double>(static_cast<float>(sum)) *
                                            static_cast<double>(scale));
    table[j] = std::min(high, low + static_cast<int>(nearest(product)));
  }
  return table;
}

std::vector<std::vector<std::uint32_t>> defined_histograms(const FrameLayout& layout,
                                                           Channels channels,
                                                           const ConstFrame& in) {
  if (channels == Channels::luminance)
    return {defined_histogram(layout, in)};
  std::vector<std::vector<std::uint32_t>> histograms;
  for (const Role role : rgb_roles)
    histograms.push_back(channel_histogram(layout, channel_of(layout, role), in));
  return histograms;
}

void defined_levels(const FrameLayout& layout, const histequalize::Parameters& parameters,
                    const ConstFrame& in, const Frame& out,
                    const std::function<int(std::size_t c, int value, int x, int y)>& level) {
  copy_rows(layout, in, out, parameters.copies_chroma);
  const auto apply = [&](Role role, const auto& equalized) {
    const Channel& channel = channel_of(layout, role);
    for (int y = 0; y < layout.height; ++y)
      for (int x = 0; x < layout.width; ++x) {
        const int value = defined_sample(layout, in, channel, x, y);
        put_sample(layout, out, channel, x, y,
                   blended(value, equalized(value, x, y), parameters.blend));
      }
  };
  if (!is_rgb(layout)) {
    apply(Role::luma, [&](int value, int x, int y) { return level(0, value, x, y); });
  } else if (parameters.channels == Channels::each) {
    for (std::size_t c = 0; c < std::size(rgb_roles); ++c)
      apply(rgb_roles[c], [&](int value, int x, int y) { return level(c, value, x, y); });
  } else {
    const DefinedLuminance luminance(layout, in);
    for (const Role role : rgb_roles)
      apply(role, [&](int value, int x, int y) {
        const int u = static_cast<int>(luminance.at(x, y));
        return std::clamp(value + level(0, u, x, y) - u, 0, 255);
      });
  }
}

void defined_mapping(const FrameLayout& layout, const histequalize::Parameters& parameters,
                     const std::vector<std::vector<int>>& tables, const ConstFrame& in,
                     const Frame& out) {
  defined_levels(layout, parameters, in, out,
                 [&](std::size_t c, int value, int, int) { return tables[c][value]; });
}

void defined_equalization(const FrameLayout& layout, const histequalize::Parameters& parameters,
                          const ConstFrame& in, const Frame& out) {
  std::vector<std::vector<int>> tables;
  for (const auto& histogram : defined_histograms(layout, parameters.channels, in))
    tables.push_back(defined_table(histogram, parameters.low, parameters.high));
  defined_mapping(layout, parameters, tables, in, out);
}

void DefinedSmoothedEqualize::next(const FrameLayout& layout,
                                   const histequalize::Parameters& parameters,
                                   const histogramaverage::Parameters& smoothing,
                                   const ConstFrame& in, const Frame& out) {
  const auto histograms = defined_histograms(layout, parameters.channels, in);
  std::vector<std::uint32_t> counts;
  for (const auto& histogram : histograms)
    counts.insert(counts.end(), histogram.begin(), histogram.end());
  auto entry =
      DefinedSmoothing::next(layout, in, counts, static_cast<int>(histograms.size()), smoothing,
                             parameters.low, parameters.high,
                             [&](auto begin, auto end) {
                               return defined_table({begin, end}, parameters.low, parameters.high);
                             })
          .begin();
  std::vector<std::vector<int>> tables;
  const std::ptrdiff_t bins = std::ptrdiff_t{1} << layout.bits;
  for (std::size_t t = 0; t < histograms.size(); ++t, entry += bins)
    tables.emplace_back(entry, entry + bins);
  defined_mapping(layout, parameters, tables, in, out);
}

}  // namespace cudavision::test
