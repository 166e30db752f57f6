// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/repack/conversion.h"

namespace cudavision::test {
namespace {

/// All values of all pairs of depths, in both directions.
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

/// Every depth comes back from every larger one.
TEST(RepackArithmetic, RescalingGivesBackEveryValue) {
  for (int depth = 1; depth <= 16; ++depth)
    for (int bits = std::max(depth, 9); bits <= 16; ++bits) {
      const std::uint32_t maximum = (1u << depth) - 1, largest = (1u << bits) - 1;
      const Division widening = make_division(maximum), narrowing = make_division(largest);
      for (std::uint32_t value = 0; value <= maximum; ++value) {
        std::uint32_t scaled[] = {value};
        repack::rescale(scaled, widening, largest);
        ASSERT_LE(scaled[0], largest);
        repack::rescale(scaled, narrowing, maximum);
        ASSERT_EQ(scaled[0], value) << depth << " of " << bits;
      }
    }
}

/// All words, also those with bits above the sample.
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
