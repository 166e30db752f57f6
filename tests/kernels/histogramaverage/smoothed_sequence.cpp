// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histogramaverage/smoothed_sequence.h"

#include <algorithm>

namespace cudavision::test {

histogramaverage::Parameters random_smoothing(Random& random) {
  return {random.one_in(8) ? 65536 * random.between(0, 1) : random.log_uniform(65536),
          random.one_in(2) ? 65536 : random.between(0, 65536)};
}

void change_bytes(std::vector<std::uint8_t>& block, bool parts, Random& random) {
  const int brighter = random.one_in(2) ? random.between(-20, 20) : 0;
  const int rarity = 1 << random.between(0, 8);
  const auto size = static_cast<int>(block.size());
  const int begin = !parts || random.one_in(2) ? 0 : random.between(0, size - 1);
  const int end = !parts || random.one_in(2) ? size : random.between(begin, size);
  for (int i = begin; i < end; ++i) {
    auto& byte = block[i];
    byte = static_cast<std::uint8_t>(std::clamp(byte + brighter, 0, 255));
    if (random.one_in(rarity))
      byte = static_cast<std::uint8_t>(byte ^ random.between(0, 15));
  }
}

std::string describe(const histogramaverage::Parameters& smoothing) {
  return "weight " + std::to_string(smoothing.weight) + ", threshold " +
         std::to_string(smoothing.cut_threshold);
}

}  // namespace cudavision::test
