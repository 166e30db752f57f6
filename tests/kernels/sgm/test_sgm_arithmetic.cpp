// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the functions that the kernels and the CPU backend share, in cuda/sgm/arithmetic.h, with
// plain forms.

#include <algorithm>
#include <cmath>

#include "cuda/sgm/arithmetic.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {
namespace {

using namespace sgm;

TEST(SgmArithmetic, GradientFeatureIsTheDefinitions) {
  Random random(1);
  for (const int contrast : {2, 8, 40, 256})
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {40, 30}}) {
      StageConfig config;
      config.width = width;
      config.height = height;
      config.bits = 8;
      Luminances picture;
      for (std::int64_t i = 0; i < config.pixels(); ++i)
        picture.push_back(static_cast<std::uint16_t>(random.between(0, contrast - 1)));
      const auto defined = defined_census(config, picture);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const auto at = [&, w = width, h = height](int dx, int dy) -> int {
            return picture[static_cast<std::size_t>(std::clamp(y + dy, 0, h - 1) * w +
                                                    std::clamp(x + dx, 0, w - 1))];
          };
          ASSERT_EQ(gradient_feature(at), defined[static_cast<std::size_t>(y * width + x)])
              << x << ", " << y << " of " << width << "×" << height;
        }
    }
}

/// The bits of a code that differ count how many thresholds lie between two values.
TEST(SgmArithmetic, CodesCountDistances) {
  const auto bits = [](int code) { return __builtin_popcount(static_cast<unsigned>(code)); };
  for (int a = -30; a <= 30; ++a)
    for (int b = a; b <= 30; ++b) {
      EXPECT_EQ(bits(gradient_code(a) ^ gradient_code(b)),
                bits(gradient_code(b)) - bits(gradient_code(a)));
      EXPECT_EQ(bits(curvature_code(a, b) ^ curvature_code(b, b)),
                bits(curvature_code(b, b)) - bits(curvature_code(a, b)));
      EXPECT_EQ(bits(curvature_code(b, a) ^ curvature_code(b, b)),
                bits(curvature_code(b, b)) - bits(curvature_code(b, a)));
    }
  EXPECT_EQ(gradient_code(-20), 0);
  EXPECT_EQ(gradient_code(20), 0xff);
  EXPECT_EQ(curvature_code(-9, -12), 0);
  EXPECT_EQ(curvature_code(10, 13), 0xff);
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

TEST(SgmArithmetic, WeightsHalveEveryEightLevels) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const int weight = static_cast<int>(64 * std::pow(0.5, std::abs(a - b) / 8));
      ASSERT_EQ(refine_weight(a, b), weight) << a << ", " << b;
    }
}

TEST(SgmArithmetic, WeightedMedianIsTheLeastThatHalfTheWeightReaches) {
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const int disparities = 32 * random.between(1, 32), largest = 16 * (disparities - 1) + 8;
    const int range = random.one_in(2) ? largest : random.between(0, 40);
    const int base = random.between(0, largest - range);
    int numbers[refine_samples], weights[refine_samples], total = 0;
    for (int s = 0; s < refine_samples; ++s) {
      const bool is_known = s == refine_samples / 2 || !random.one_in(4);
      numbers[s] = is_known ? base + random.between(0, range) : unknown;
      weights[s] = !is_known ? 0 : s == refine_samples / 2 ? 64 : 64 >> random.between(0, 7);
      total += weights[s];
    }
    const auto reaches = [&](int v) {
      int sum = 0;
      for (int s = 0; s < refine_samples; ++s)
        sum += numbers[s] <= v ? weights[s] : 0;
      return 2 * sum >= total;
    };
    int expected = unknown;
    for (const int number : numbers)
      if (number < expected && reaches(number))
        expected = number;
    ASSERT_EQ(weighted_median(numbers, weights, total, number_bits(disparities)), expected);
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
