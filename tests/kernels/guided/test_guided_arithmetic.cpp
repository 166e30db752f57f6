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
using Wide = unsigned __int128;

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
  for (int i = 0; i < 3000000; ++i) {
    const auto v = static_cast<std::uint32_t>(random.log_uniform((1 << 30) - 1));
    const auto w = static_cast<std::uint32_t>(random.log_uniform((1 << 30) - 1));
    expect(v, w);
    // Shares that are whole, and just not.
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

/// All divisions by the areas of narrow windows: of the largest numbers, of those that just reach a
/// quotient, and of those just below.
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

/// The sums of a window, and what guided.h makes of them.
struct PlainWindow {
  PlainWindow(Random& random, std::uint64_t pixels, double real_epsilon, int sample_bits)
      : area(pixels), epsilon(real_epsilon), bits(sample_bits) {
    const int largest = (1 << bits) - 1;
    const bool extreme = random.one_in(4);
    const auto low = static_cast<std::uint64_t>(extreme ? 0 : random.between(0, largest));
    const auto high = static_cast<std::uint64_t>(extreme ? largest : random.between(0, largest));
    const std::uint64_t count = random.one_in(3) ? area / 2 : random.next() % (area + 1);
    sum = count * low + (area - count) * high;
    squares = count * low * low + (area - count) * high * high;
    sample = static_cast<std::uint32_t>(random.one_in(2) ? low : high);
    // Of the windows of its samples.
    slopes = area * (random.next() % 65536);
    offsets = random.one_in(3) ? 0 : (area * 65536 - slopes) * (random.next() % 65536) >> 16;
  }

  static Wide scaled(Wide number, int power) {
    return power >= 0 ? number << power : number >> -power;
  }
  int headroom() const {
    int e = 0;
    while (16384 + std::ceil(epsilon) >= std::ldexp(1.0, e))
      ++e;
    return e;
  }
  int size() const {
    int n = 0;
    while (Wide{1} << n <= area)
      ++n;
    return n;
  }
  Wide v() const {
    return scaled(Wide{area} * squares - Wide{sum} * sum,
                  31 - headroom() - 2 * (bits - 8) - 2 * size());
  }
  Wide w() const {
    const auto rounded = static_cast<std::uint64_t>(std::max(1.0, std::nearbyint(256 * epsilon)));
    return scaled(Wide{rounded} * area * area, 31 - headroom() - 2 * size() - 8);
  }
  /// Returns a, and 65535 − o.
  std::uint32_t word() const {
    const Wide slope = (v() << 16) / (v() + w());
    const Wide mean = (Wide{sum} << (16 - bits)) / area;
    const Wide offset = ((65536 - slope) * mean + 32767) >> 16;
    return static_cast<std::uint32_t>(slope | (65535 - offset) << 16);
  }
  std::uint32_t level() const {
    return static_cast<std::uint32_t>(
        (Wide{slopes} * sample + (Wide{offsets} << bits) + (Wide{area} << 15)) /
        (Wide{area} << 16));
  }

  std::uint64_t area;
  double epsilon;
  int bits;
  std::uint64_t sum, squares;
  std::uint32_t sample;
  std::uint64_t slopes, offsets;
};

/// Expects that windows give the same, with sums of a type.
template <bool kNarrow, class Sum, class WordSum>
void expect_plain(const PlainWindow& plain) {
  const Scale scale(plain.epsilon, plain.bits);
  const auto area = static_cast<std::uint32_t>(plain.area);
  SCOPED_TRACE(testing::Message() << "area " << area << ", epsilon " << plain.epsilon << ", bits "
                                  << plain.bits << ", sum " << plain.sum << ", squares "
                                  << plain.squares);
  ASSERT_GT(plain.w(), 0u);
  ASSERT_LT(plain.v() + plain.w(), Wide{1} << 31);
  const LineWindow<kNarrow, Sum> lines(area, scale);
  const auto sum = static_cast<Sum>(plain.sum), squares = static_cast<Sum>(plain.squares);
  ASSERT_EQ(lines.denominator_of(sum, squares), plain.v() + plain.w());
  ASSERT_EQ(lines.word_of(sum, squares), plain.word());
  const LevelWindow<kNarrow> levels(area, scale);
  ASSERT_EQ(levels.level_of(plain.sample << (32 - plain.bits), static_cast<WordSum>(plain.slopes),
                            static_cast<WordSum>(plain.offsets - plain.area * 65535)),
            plain.level());
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
    expect_plain<true, std::uint32_t, std::uint32_t>(PlainWindow(random, area, epsilon, 8));
    expect_plain<true, std::uint64_t, std::uint32_t>(
        PlainWindow(random, area, epsilon, random.between(9, 16)));
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
    expect_plain<false, std::uint64_t, std::uint64_t>(
        PlainWindow(random, area, random_epsilon(random), random.between(8, 16)));
    if (HasFatalFailure())
      return;
  }
}

}  // namespace
}  // namespace cudavision::test
