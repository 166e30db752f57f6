// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/guided/arithmetic.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/guided/guided_definition.h"

namespace cudavision::test {
namespace {

using namespace guided;
using windows::Reciprocal;

TEST(GuidedArithmetic, SharesAreRoundedUp) {
  Random random(1);
  const auto expect = [](std::uint32_t v, std::uint32_t w) {
    const std::uint64_t sum = std::uint64_t{v} + w;
    ASSERT_EQ(ShareDividend(w).share_of(v + w), ((std::uint64_t{w} << 16) + sum - 1) / sum)
        << v << ' ' << w;
  };
  for (std::uint32_t v = 0; v < 300; ++v)
    for (std::uint32_t w = 1; w < 300; ++w)
      expect(v, w);
  for (int i = 0; i < 1000000; ++i) {
    const auto v = static_cast<std::uint32_t>(random.log_uniform((1 << 30) - 1));
    const auto w = static_cast<std::uint32_t>(random.log_uniform((1 << 30) - 1));
    expect(v, w);
    // Test shares w / (v + w) that are multiples of 2^-16, and neighbouring shares.
    const std::uint32_t unit = std::max(1u, (v + w) >> 16);
    const std::uint32_t sum = unit << 16;
    const std::uint32_t part = unit * (w % 65536);
    if (sum < 1u << 31 && part > 1 && part < sum) {
      expect(sum - part, part);
      expect(sum - part + 1, part - 1);
      expect(sum - part, part - 1);
      expect(sum - part, part + 1);
    }
  }
}

/// For all areas below narrow_area, divides the largest dividends, and dividends near multiples.
TEST(GuidedArithmetic, ReciprocalsDivide) {
  Random random(2);
  for (std::uint32_t area = 1; area < narrow_area; ++area)
    for (const int power : {8, 1, 0, -1, -8}) {
      const Reciprocal reciprocal(area, power);
      const int up = std::max(power, 0), down = std::max(-power, 0);
      const auto expect = [&](std::uint64_t number) {
        ASSERT_EQ(reciprocal.divide(static_cast<std::uint32_t>(number)),
                  (number << up) / (std::uint64_t{area} << down))
            << number << " div " << area << ", " << power;
      };
      const std::uint64_t numbers = std::uint64_t{1} << (32 - up);
      for (std::uint64_t back = 1; back <= 20 && back <= numbers; ++back)
        expect(numbers - back);
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t divisor = std::uint64_t{area} << down;
        const std::uint64_t quotient = random.next() % ((numbers << up) / divisor);
        const std::uint64_t least = (quotient * divisor + (1u << up) - 1) >> up;
        expect(least);
        expect(std::max<std::uint64_t>(least, 1) - 1);
      }
      expect(0);
    }
}

/// Compares the arithmetic with the definition for a window with random counts of two levels.
template <bool kNarrow, class Sum, class WordSum>
void expect_defined(Random& random, std::uint64_t area, double epsilon, int bits) {
  const int largest = (1 << bits) - 1;
  const bool extreme = random.one_in(4);
  const auto low = static_cast<std::uint64_t>(extreme ? 0 : random.between(0, largest));
  const auto high = static_cast<std::uint64_t>(extreme ? largest : random.between(0, largest));
  const std::uint64_t count = random.one_in(3) ? area / 2 : random.next() % (area + 1);
  const DefinedGuidedWindow defined{area, count * low + (area - count) * high,
                                    count * low * low + (area - count) * high * high, epsilon,
                                    bits};
  SCOPED_TRACE(testing::Message() << "area " << area << ", epsilon " << epsilon << ", bits " << bits
                                  << ", sum " << defined.sum << ", squares " << defined.squares);
  ASSERT_GT(defined.w(), 0u);
  ASSERT_LT(defined.v() + defined.w(), WideNumber{1} << 31);
  const Scale scale(epsilon, bits);
  const auto pixels = static_cast<std::uint32_t>(area);
  const LineWindow<kNarrow, Sum> lines(pixels, scale);
  const auto sum = static_cast<Sum>(defined.sum), squares = static_cast<Sum>(defined.squares);
  ASSERT_EQ(lines.denominator_of(sum, squares), defined.v() + defined.w());
  ASSERT_EQ(lines.word_of(sum, squares), defined.slope() | (65535 - defined.offset()) << 16);

  // Draw the sums of slopes and offsets in a sample's window.
  const std::uint64_t slopes = area * (random.next() % 65536);
  const std::uint64_t offsets =
      random.one_in(3) ? 0 : (area * 65536 - slopes) * (random.next() % 65536) >> 16;
  const std::uint64_t sample = random.one_in(2) ? low : high;
  ASSERT_EQ(
      LevelWindow<kNarrow>(pixels, scale)
          .level_of(static_cast<std::uint32_t>(sample << (32 - bits)), static_cast<WordSum>(slopes),
                    static_cast<WordSum>(offsets - area * 65535)),
      defined_guided_level(area, bits, sample, slopes, offsets));
}

double random_epsilon(Random& random) {
  constexpr double ends[] = {1e-30,   0.01,    1.0,     650.25,  16383.0, 16383.01,
                             16384.0, 49151.0, 49151.5, 49152.0, 65025.0};
  return random.one_in(3) ? ends[random.between(0, 10)] : random.log_uniform(65025 * 16) / 16.0;
}

TEST(GuidedArithmetic, NarrowWindowsFollowTheDefinition) {
  Random random(3);
  for (int i = 0; i < 300000; ++i) {
    const auto area =
        static_cast<std::uint64_t>(random.one_in(3) ? random.between(1, narrow_area - 1)
                                                    : random.log_uniform(narrow_area - 1));
    const double epsilon = random_epsilon(random);
    expect_defined<true, std::uint32_t, std::uint32_t>(random, area, epsilon, 8);
    expect_defined<true, std::uint64_t, std::uint32_t>(random, area, epsilon,
                                                       random.between(9, 16));
    if (HasFatalFailure())
      return;
  }
}

TEST(GuidedArithmetic, WideWindowsFollowTheDefinition) {
  Random random(4);
  constexpr std::uint64_t ends[] = {1, 255, 256, 257, 16383, 16384, 65535, 1u << 24, 4294836225u};
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t area =
        random.one_in(4) ? ends[random.between(0, 8)]
                         : 1 + random.next() % (std::uint64_t{2} << random.between(0, 30));
    expect_defined<false, std::uint64_t, std::uint64_t>(random, area, random_epsilon(random),
                                                        random.between(8, 16));
    if (HasFatalFailure())
      return;
  }
}

}  // namespace
}  // namespace cudavision::test
