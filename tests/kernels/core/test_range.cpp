// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda/core/range.h"

namespace cudavision {
namespace {

TEST(Ranges, ContainBothEnds) {
  constexpr Range<int> numbers{-2, 5};
  for (int number = -4; number <= 7; ++number)
    EXPECT_EQ(numbers.contains(number), number >= -2 && number <= 5) << number;
  constexpr Range<double> shares{0.25, 1};
  EXPECT_TRUE(shares.contains(0.25));
  EXPECT_TRUE(shares.contains(1));
  EXPECT_FALSE(shares.contains(std::nextafter(0.25, 0)));
  EXPECT_FALSE(shares.contains(std::nextafter(1, 2)));
  EXPECT_FALSE(shares.contains(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(shares.contains(std::nan("")));
}

TEST(Ranges, AreWrittenWithTheirOwnNumbers) {
  EXPECT_EQ(text_of(Range<int>{-2047, 2015}), "-2047 to 2015");
  EXPECT_EQ(text_of(Range<double>{0, 127}), "0 to 127");
  EXPECT_EQ(text_of(Range<double>{0.001, 65535}), "0.001 to 65535");
}

}  // namespace
}  // namespace cudavision
