// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histequalize/histequalize_definition.h"

#include <algorithm>

#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/rounding.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

int blend(int in, int equalized, int weight) {
  // Negative sums round down as well, as an arithmetic shift does.
  const int sum = weight * (equalized - in) + 128;
  return in + (sum >= 0 ? sum / 256 : -((255 - sum) / 256));
}

std::vector<std::uint32_t> channel_histogram(const FrameLayout& layout, const Channel& channel,
                                             const ConstFrame& in) {
  std::vector<std::uint32_t> histogram(std::size_t{1} << layout.bits, 0);
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x)
      ++histogram[static_cast<std::size_t>(defined_sample(layout, in, channel, x, y))];
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
  while (histogram[static_cast<std::size_t>(first)] == 0)
    ++first;
  const std::uint32_t rest = total - histogram[static_cast<std::size_t>(first)];
  if (rest == 0) {
    for (int j = 0; j < bins; ++j)
      table[static_cast<std::size_t>(j)] = j;
    return table;
  }

  const float scale = static_cast<float>(high - low) / static_cast<float>(rest);
  std::uint32_t sum = 0;
  for (int j = 0; j < bins; ++j) {
    if (j <= first) {
      table[static_cast<std::size_t>(j)] = low;
      continue;
    }
    sum += histogram[static_cast<std::size_t>(j)];
    // The product of two binary32 numbers is exact in binary64, so only the conversion rounds.
    const auto product = static_cast<float>(static_cast<double>(static_cast<float>(sum)) *
                                            static_cast<double>(scale));
    table[static_cast<std::size_t>(j)] = std::min(high, low + static_cast<int>(nearest(product)));
  }
  return table;
}

void defined_equalization(const FrameLayout& layout, const histequalize::Parameters& parameters,
                          const ConstFrame& in, const Frame& out) {
  copy_rows(layout, in, out);

  const auto apply = [&](const Channel& channel, const auto& equalized) {
    for (int y = 0; y < layout.height; ++y)
      for (int x = 0; x < layout.width; ++x) {
        const int value = defined_sample(layout, in, channel, x, y);
        put_sample(layout, out, channel, x, y,
                   blend(value, equalized(value, x, y), parameters.blend));
      }
  };

  if (layout.find(Role::luma) >= 0) {
    const auto table =
        defined_table(defined_histogram(layout, in), parameters.low, parameters.high);
    apply(channel_of(layout, Role::luma),
          [&](int value, int, int) { return table[static_cast<std::size_t>(value)]; });
  } else if (parameters.channels == histequalize::Parameters::Channels::each) {
    for (const Role role : rgb_roles) {
      const Channel& channel = channel_of(layout, role);
      const auto table = defined_table(channel_histogram(layout, channel, in), 0, 255);
      apply(channel, [&](int value, int, int) { return table[static_cast<std::size_t>(value)]; });
    }
  } else {
    const auto table = defined_table(defined_histogram(layout, in), 0, 255);
    const DefinedLuminance luminance(layout, in);
    for (const Role role : rgb_roles)
      apply(channel_of(layout, role), [&](int value, int x, int y) {
        const int u = static_cast<int>(luminance.at(x, y));
        return std::clamp(value + table[static_cast<std::size_t>(u)] - u, 0, 255);
      });
  }
}

}  // namespace cudavision::test
