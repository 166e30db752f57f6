// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the functions that the kernels and the CPU backend share, in cuda/sgm/arithmetic.h, with
// plain forms.

#include <algorithm>
#include <cmath>

#include "cuda/sgm/arithmetic.h"
#include "tests/kernels/common/gtest_support.h"

namespace cudavision::test {
namespace {

using namespace sgm;

/// The bits in which two codes differ then count the thresholds between their numbers.
TEST(SgmArithmetic, ThresholdsOfACodeFall) {
  for (const auto& [first, end] : {std::pair{0, 8}, {8, 12}, {12, 16}})
    for (int i = first + 1; i < end; ++i)
      EXPECT_LT(gradient_threshold(i), gradient_threshold(i - 1)) << i;
}

/// Rounds to the nearest, and halves away from 0.
int rounded(double number) {
  return static_cast<int>(std::lround(number));
}

TEST(SgmArithmetic, OffsetsAreVertices) {
  for (int c = 0; c < 40; c += 3)
    for (int l = c; l < c + 90; ++l)
      for (int r = c; r < c + 90; ++r) {
        const double height = std::max(l, r) - c, den = l - 2 * c + r;
        const int equiangular = height == 0 ? 0 : rounded(16 * (l - r) / (2 * height));
        const int parabola = den == 0 ? 0 : rounded(16 * (l - r) / (2 * den));
        ASSERT_EQ(offset_of(Subpixel::equiangular, l, c, r), equiangular) << l << c << r;
        ASSERT_EQ(offset_of(Subpixel::parabola, l, c, r), parabola) << l << c << r;
        ASSERT_EQ(offset_of(Subpixel::none, l, c, r), 0);
        ASSERT_LE(std::abs(equiangular), 8);
      }
}

TEST(SgmArithmetic, ConfidenceIsScaledBySupport) {
  for (int a = 0; a < 256; ++a)
    for (int n = 1; n <= refine_samples; ++n)
      ASSERT_EQ(supported_confidence(a, n), static_cast<int>(std::floor(a * (n + 1) / 26.0 + 0.5)));
  for (const int largest : {0, 16, 16376})
    EXPECT_FALSE(supports(unknown, static_cast<std::uint16_t>(largest)));
  EXPECT_TRUE(supports(100, 116));
  EXPECT_TRUE(supports(116, 100));
  EXPECT_FALSE(supports(100, 117));
  EXPECT_FALSE(supports(117, 100));
}

}  // namespace
}  // namespace cudavision::test
