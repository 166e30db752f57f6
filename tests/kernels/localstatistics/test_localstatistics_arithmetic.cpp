// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the arithmetic of local statistics, which both devices share, with plain formulas, for
// windows that do not occur in the pictures of the other tests.

#include <gtest/gtest.h>

#include "cuda/localstatistics/arithmetic.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/common/rounding.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace cudavision::test {
namespace {

using namespace localstatistics;

using Wide = unsigned __int128;

TEST(LocalStatisticsArithmetic, RoundsWideNumbersOnce) {
  Random random(41);
  for (int bits = 0; bits <= 100; ++bits)
    for (int i = 0; i < 100; ++i) {
      const Wide high = Wide{random.next()} << 64 | random.next();
      const Wide value = bits == 0 ? 0 : high >> (128 - bits);
      // Also test ties between two numbers, and the integers next to them.
      const Wide half = bits > 53 ? Wide{1} << (bits - 54) : 1;
      const Wide tie = (value & ~(half - 1)) | half;
      for (const Wide number : {value, tie, tie + 1, tie - 1}) {
        ASSERT_EQ(to_double(number), rounded<double>(number)) << bits << " bits";
        const auto low = static_cast<std::uint64_t>(number);
        ASSERT_EQ(to_double(low), rounded<double>(Wide{low})) << bits << " bits";
      }
    }
}

/// Makes a window whose pixels have only two levels: white and one other, which is often black.
/// These give the largest sums and deviations.
DefinedWindow random_window(Random& random, std::uint64_t largest, std::uint64_t pixels) {
  const std::uint64_t area = 1 + random.next() % pixels;
  const std::uint64_t whites = random.one_in(3) ? area / 2 : random.next() % (area + 1);
  const std::uint64_t level = random.one_in(2) ? 0 : random.next() % (largest + 1);
  const std::uint64_t blacks = area - whites;
  return {area, whites * largest + blacks * level,
          whites * largest * largest + blacks * level * level};
}

template <class Window>
void expect_formulas(const DefinedWindow& window) {
  using Real = typename Window::Real;
  const auto area = static_cast<std::uint32_t>(window.area);
  const auto sum = static_cast<typename Window::Sum>(window.sum);
  const Real inverse = Real{1} / static_cast<Real>(area);
  ASSERT_EQ(rounded_mean<Window>(sum, area, inverse), defined_mean(window));
  ASSERT_EQ(
      rounded_stddev<Window>(scaled_variance<Window>(window.squared_sum, sum, area), area, inverse),
      defined_deviation(window));
}

TEST(LocalStatisticsArithmetic, IsTheFormulaForWindowsOfAnySize) {
  Random random(42);
  for (const int bits : {8, 9, 10, 12, 16}) {
    const std::uint64_t largest = (1u << bits) - 1;
    // `narrow` becomes the largest number of pixels of a narrow window.
    std::uint64_t narrow = (std::uint64_t{1} << 32) / (largest + 1);
    while (!is_narrow(narrow, bits))
      --narrow;
    for (int i = 0; i < 20000; ++i) {
      expect_formulas<NarrowWindow>(random_window(random, largest, narrow));
      expect_formulas<WideWindow>(random_window(random, largest, std::uint64_t{65535} * 65535));
      if (testing::Test::HasFailure())
        FAIL() << bits << " bits, window " << i;
    }
  }
}

TEST(LocalStatisticsArithmetic, ComparesTheLargestWindowsByBradley) {
  const std::uint64_t area = std::uint64_t{65535} * 65535;
  for (const std::uint64_t level : {0, 1, 55704, 55705, 65534, 65535})
    for (const double ratio : {0.0, 0.15, 0.5, 1.0}) {
      const DefinedWindow window{area, area * 65535, area * 65535 * 65535};
      EXPECT_EQ(is_black_by_bradley(static_cast<std::uint32_t>(level), window.sum,
                                    static_cast<std::uint32_t>(area), bradley_factor(ratio)),
                defined_bradley_black(window, level, ratio))
          << level << ", " << ratio;
    }
}

}  // namespace
}  // namespace cudavision::test
