// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/scenecut/scenecut_definition.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

/// Divides a side into areas. Returns the first sample of each area, and the end of the last area.
std::vector<int> borders(int size) {
  const int parts = size < 16 ? 1 : size >= 128 ? 16 : size / 8;
  std::vector<int> all;
  for (int part = 0; part <= parts; ++part)
    all.push_back(static_cast<int>(static_cast<long long>(part) * size / parts));
  return all;
}

}  // namespace

int DefinedAreas::change(const FrameLayout& layout, const ConstFrame& in) {
  const int luma = layout.find(Role::luma);
  const auto number = static_cast<std::size_t>(luma >= 0 ? luma : layout.find(Role::green));
  const Channel& channel = layout.channels[number];
  const std::vector<int> columns = borders(channel.width), rows = borders(channel.height);
  std::vector<long long> means;
  for (std::size_t j = 0; j + 1 < rows.size(); ++j)
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      long long sum = 0, samples = 0;
      const int height = rows[j + 1] - rows[j], counted = std::min(height, 16);
      for (int k = 0; k < counted; ++k)
        for (int x = columns[i]; x < columns[i + 1]; ++x, ++samples)
          sum += static_cast<long long>(defined_sample(
              layout, in, channel, x, rows[j] + (2 * k + 1) * height / (2 * counted)));
      means.push_back(16 * sum / (samples << (layout.bits - 8)));
    }
  std::vector<long long> before = std::exchange(means_, means);
  before.resize(means.size());  // before the first frame, all means are 0
  const auto areas = static_cast<long long>(means.size());
  const auto deviations = [&](std::vector<long long> of) {
    const long long sum = std::accumulate(of.begin(), of.end(), 0ll);
    for (long long& mean : of)
      mean = areas * mean - sum;
    return of;
  };
  const std::vector<long long> now = deviations(means), then = deviations(before);
  long long difference = 0, structure = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    difference += std::llabs(now[i] - then[i]);
    structure += std::llabs(now[i]) + std::llabs(then[i]);
  }
  if (difference <= 10 * 16 * areas * areas)
    return 0;
  return static_cast<int>(2 * difference * 65536 / (3 * structure));
}

}  // namespace cudavision::test
