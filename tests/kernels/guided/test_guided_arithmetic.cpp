// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the arithmetic that the CPU and the GPU share with plain integers.

#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/guided/arithmetic.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace guided;

TEST(GuidedArithmetic, SlopesAreRoundedDown) {
  Random random(1);
  const auto expect = [](std::uint32_t v, std::uint32_t w) {
    ASSERT_EQ(slope_of(v, w), (std::uint64_t{v} << 16) / (std::uint64_t{v} + w)) << v << ' ' << w;
  };
  for (std::uint32_t v = 0; v < 300; ++v)
    for (std::uint32_t w = 1; w < 300; ++w)
      expect(v, w);
  for (int i = 0; i < 3000000; ++i) {
    const auto v = static_cast<std::uint32_t>(random.log_uniform((1 << 30) - 1));
    const auto w = static_cast<std::uint32_t>(random.log_uniform((1 << 30) - 1));
    expect(v, w);
    // Slopes that are whole, and just not.
    const std::uint32_t unit = std::max(1u, (v + w) >> 16);
    const std::uint32_t sum = unit << 16;
    const std::uint32_t part = unit * (w % 65536);
    if (sum < 1u << 31 && part > 0 && part < sum) {
      expect(part, sum - part);
      expect(part - 1, sum - part + 1);
      expect(part - 1, sum - part);
      expect(part, sum - part + 1 < (1u << 31) - part ? sum - part + 1 : 1);
    }
  }
}

/// All quotients of narrow windows: those of the largest numbers, of multiples of the area, and of
/// numbers just below them.
TEST(GuidedArithmetic, ReciprocalsDivide) {
  Random random(2);
  const Scale scale(100, 8);
  for (std::uint32_t area = 1; area < narrow_area; ++area) {
    const ReciprocalWindow window(area, scale);
    const auto expect = [&](std::uint32_t number) {
      ASSERT_EQ(window.quotient(number), number / area) << number << " div " << area;
    };
    const std::uint32_t largest = area * 65536 - 1;
    for (std::uint32_t back = 0; back < 20 && back <= largest; ++back)
      expect(largest - back);
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t multiple = area * static_cast<std::uint32_t>(random.between(1, 65535));
      expect(multiple);
      expect(multiple - 1);
      expect(multiple + area - 1);
    }
    expect(0);
  }
}

/// v + w must be less than 2^31, and w positive, for all windows and parameters.
TEST(GuidedArithmetic, ScaledVariancesFit) {
  for (const int bits : {8, 9, 10, 12, 16})
    for (const double epsilon :
         {1e-30, 0.01, 1.0, 650.25, 16383.0, 16383.01, 16384.0, 49151.0, 49151.5, 49152.0, 65025.0})
      for (std::uint64_t area : {1u, 2u, 3u, 4u, 255u, 256u, 257u, 16129u, 16383u, 16384u, 65535u,
                                 1u << 24, 4294836225u}) {
        const Scale scale(epsilon, bits);
        const Window<false> window(static_cast<std::uint32_t>(area), scale);
        const unsigned __int128 largest = (1u << bits) - 1;
        // Half of the window's samples are black, and the others white.
        const unsigned __int128 variance = area * area * largest * largest / 4;
        const auto v = variance >> window.down << window.up;
        SCOPED_TRACE(testing::Message() << bits << ' ' << epsilon << ' ' << area);
        EXPECT_GT(window.epsilon, 0u);
        EXPECT_LT(v + window.epsilon, std::uint64_t{1} << 31);
        if (area < narrow_area) {
          const ReciprocalWindow narrow(static_cast<std::uint32_t>(area), scale);
          EXPECT_EQ(narrow.epsilon, window.epsilon);
          EXPECT_EQ(narrow.down, window.down);
          EXPECT_EQ(narrow.up, window.up);
          EXPECT_LT(narrow.down, 32);
        }
      }
}

/// Narrow windows give the same in the types of wide ones.
TEST(GuidedArithmetic, NarrowWindowsGiveWhatWideOnesDo) {
  Random random(3);
  for (int i = 0; i < 300000; ++i) {
    const int bits = random.between(8, 16);
    const Scale scale(random.log_uniform(65025 * 16) / 16.0, bits);
    const auto area = static_cast<std::uint32_t>(random.log_uniform(narrow_area - 1));
    const ReciprocalWindow narrow(area, scale);
    const Window<false> wide(area, scale);
    // A window of two levels.
    const auto low = static_cast<std::uint64_t>(random.between(0, (1 << bits) - 1));
    const auto high = static_cast<std::uint64_t>(random.between(0, (1 << bits) - 1));
    const auto count = static_cast<std::uint64_t>(random.between(0, static_cast<int>(area)));
    const std::uint64_t sum = count * low + (area - count) * high;
    const std::uint64_t squares = count * low * low + (area - count) * high * high;
    ASSERT_EQ(line_of_window<true>(sum, squares, narrow, bits),
              line_of_window<false>(sum, squares, wide, bits));
    ASSERT_EQ(line_of_window<true>(sum, squares, Window<true>(area, scale), bits),
              line_of_window<false>(sum, squares, wide, bits));
    const std::uint64_t slopes = area * static_cast<std::uint64_t>(random.between(0, 65535));
    const std::uint64_t offsets = (area * std::uint64_t{65536} - slopes) >> 1;
    ASSERT_EQ(level_of<true>(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(slopes),
                             static_cast<std::uint32_t>(offsets), narrow, bits),
              level_of<false>(static_cast<std::uint32_t>(low), slopes, offsets, wide, bits));
  }
}

}  // namespace
}  // namespace cudavision::test
