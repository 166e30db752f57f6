// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/repack/conversion.h"

namespace cudavision::test {
namespace {

/// Tests all values for all pairs of depths.
TEST(RepackArithmetic, RescalesWithoutDivisions) {
  for (int from = 1; from <= 16; ++from)
    for (int to = 1; to <= 16; ++to) {
      const std::uint32_t maximum = (1u << from) - 1, largest = (1u << to) - 1;
      const Division division = make_division(maximum);
      for (std::uint32_t value = 0; value <= maximum; ++value) {
        std::uint32_t scaled[] = {value};
        repack::rescale(scaled, division, largest);
        ASSERT_EQ(scaled[0], (std::uint64_t{value} * largest + maximum / 2) / maximum)
            << value << " of " << from << " bits to " << to;
      }
    }
}

/// Tests all 16-bit words, including words with bits set above the sample.
TEST(RepackArithmetic, ConvertsWords) {
  for (const auto& [bits, shift] :
       {std::pair(16, 0), std::pair(10, 6), std::pair(12, 3), std::pair(10, 0), std::pair(9, 1)})
    for (const bool swapped : {false, true}) {
      const repack::Field field{.rotation = swapped ? 8 : 0, .shift = shift};
      const std::uint32_t largest = (1u << bits) - 1;
      for (std::uint32_t number = 0; number < 65536; ++number) {
        const std::uint32_t stored = swapped ? number % 256 * 256 + number / 256 : number;
        ASSERT_EQ(repack::value_in(field, static_cast<std::uint16_t>(number), largest),
                  std::min(stored >> shift, largest));
        const std::uint32_t value = std::min(number, largest), written = value << shift;
        ASSERT_EQ(repack::word_of<std::uint16_t>(field, value),
                  swapped ? written % 256 * 256 + written / 256 : written);
      }
    }
}

}  // namespace
}  // namespace cudavision::test
