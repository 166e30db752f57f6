// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/noise/noise_definition.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

/// Returns the square of the sum in the middle of the bin up to which there is a fiftieth of the
/// blocks.
std::int64_t square_of_quietest(std::vector<int> bins) {
  std::sort(bins.begin(), bins.end());
  const std::int64_t middle = std::min(1023, bins[bins.size() / 50]) * 16 + 8;
  return middle * middle;
}

}  // namespace

std::optional<std::uint32_t> defined_noise(const FrameLayout& layout, const Channel& channel,
                                           const ConstFrame& in) {
  const auto level = [&](int x, int y) {
    const std::int64_t value =
        defined_sample(layout, in, channel, std::clamp(x, 0, channel.width - 1),
                       std::clamp(y, 0, channel.height - 1));
    return static_cast<int>(value / (1 << (layout.bits - 8)));
  };
  const auto difference = [&](int x, int y, int spacing) {
    const int weights[3] = {1, -2, 1};
    int sum = 0;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        sum += weights[i + 1] * weights[j + 1] * level(x + spacing * i, y + spacing * j);
    return std::abs(sum);
  };
  const int step = 1 + static_cast<int>(std::int64_t{channel.width} * channel.height / 524288);
  struct Sums {
    std::vector<int> near, far;
  };
  std::map<int, Sums> sums_by_class;
  int constant = 0, others = 0;
  for (int top = 0; top + 8 <= channel.height; top += 8 * step)
    for (int left = 0; left + 8 <= channel.width; left += 8) {
      int extremes = 0, levels = 0, near = 0, far = 0;
      bool equal = true;
      for (int y = top; y < top + 8; ++y)
        for (int x = left; x < left + 8; ++x) {
          extremes += level(x, y) < 8 || level(x, y) > 247;
          levels += level(x, y);
          equal = equal && level(x, y) == level(left, top);
          near += difference(x, y, 1);
          far += difference(x, y, 3);
        }
      if (extremes > 4)
        continue;
      if (equal) {
        ++constant;
        continue;
      }
      ++others;
      sums_by_class[levels / 2048].near.push_back(near / 16);
      sums_by_class[levels / 2048].far.push_back(far / 16);
    }
  if (constant > others)
    return constant >= 32 ? std::optional<std::uint32_t>(0) : std::nullopt;
  std::uint64_t total = 0, blocks = 0;
  for (const auto& [number, sums] : sums_by_class) {
    const std::size_t count = sums.near.size();
    if (count < 16)
      continue;
    const std::int64_t near = square_of_quietest(sums.near) / 185,
                       far = square_of_quietest(sums.far) / 200;
    total += count * static_cast<std::uint64_t>(std::max(near, (far - near) * 3 / 2));
    blocks += count;
  }
  if (blocks < 32)
    return std::nullopt;
  return static_cast<std::uint32_t>(total / blocks);
}

void DefinedNoise::take(std::optional<std::uint32_t> variance) {
  if (!variance)
    return;
  measured = *variance;
  const std::int64_t more = 256 * measured - average;
  average = any ? average + (more >= 0 ? more / 8 : -((-more + 7) / 8)) : 256 * measured;
  const std::int64_t mean = (average + 128) / 256;
  if (!any || std::abs(mean - used) > 64 + used / 4)
    used = mean;
  any = true;
}

}  // namespace cudavision::test
