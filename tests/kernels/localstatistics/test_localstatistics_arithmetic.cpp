// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the arithmetic of both devices with plain formulas, for windows that are rare in images.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>

#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/packedcolumns.h"
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
      // Also test ties between two binary64 numbers, and the integers next to the ties.
      const Wide half = bits > 53 ? Wide{1} << (bits - 54) : 1;
      const Wide tie = (value & ~(half - 1)) | half;
      for (const Wide number : {value, tie, tie + 1, tie - 1}) {
        ASSERT_EQ(to_double(number), rounded<double>(number)) << bits << " bits";
        const auto low = static_cast<std::uint64_t>(number);
        ASSERT_EQ(to_double(low), rounded<double>(Wide{low})) << bits << " bits";
      }
    }
}

std::uint64_t narrow_pixels(int bits) {
  std::uint64_t pixels = std::uint64_t{1} << (32 - bits);
  while (!is_narrow(pixels, bits))
    --pixels;
  return pixels;
}

/// Returns a random window of white and one other level, at times with the largest deviation.
DefinedWindow random_window(Random& random, std::uint64_t largest, std::uint64_t pixels) {
  const std::uint64_t area = 1 + random.next() % pixels;
  const std::uint64_t whites = random.one_in(3) ? area / 2 : random.next() % (area + 1);
  const std::uint64_t level = random.one_in(2) ? 0 : random.next() % (largest + 1);
  const std::uint64_t blacks = area - whites;
  return {area, whites * largest + blacks * level,
          whites * largest * largest + blacks * level * level};
}

/// Moves a number by up to four ulps, to simulate the error of the GPU's approximations.
float disturbed(float number, Random& random) {
  for (int steps = random.between(0, 4); steps > 0; --steps)
    number = std::nextafter(number, random.one_in(2) ? 0.0f : 2 * number);
  return number;
}

TEST(LocalStatisticsArithmetic, EstimatesDeviationsOfBytesWellEnough) {
  Random random(44);
  std::uint64_t narrow = (std::uint64_t{1} << 32) / 259;
  int doubts = 0;
  constexpr int all = 200000;
  for (int i = 0; i < all; ++i) {
    const DefinedWindow window =
        random_window(random, 255, random.one_in(2) ? narrow : 1 + random.next() % 2000);
    const auto area = static_cast<std::uint32_t>(window.area);
    const auto variance = scaled_variance<NarrowWindow>(
        window.squared_sum, static_cast<std::uint32_t>(window.sum), area);
    const float estimate =
        std::fma(disturbed(std::sqrt(static_cast<float>(variance)), random),
                 disturbed(1.0f / static_cast<float>(area), random), stddev_offset);
    std::uint32_t estimate_bits;
    std::memcpy(&estimate_bits, &estimate, sizeof estimate_bits);
    if (!stddev_is_decided(estimate_bits)) {
      ++doubts;
      continue;
    }
    if (window.squared_sum < std::uint64_t{1} << 32) {
      ASSERT_EQ(small_scaled_variance(static_cast<std::uint32_t>(window.squared_sum),
                                      static_cast<std::uint32_t>(window.sum), area),
                variance);
    }
    ASSERT_EQ(estimate_bits >> 16 & 0xff, defined_deviation(window))
        << window.area << ", " << window.sum << ", " << window.squared_sum;
  }
  EXPECT_LT(doubts, all / 2);
}

/// In limited range, about half of the windows have levels up to 2·low, and a tenth are flat.
DefinedWindow random_window(Random& random, int bits, std::uint32_t low, std::uint64_t pixels) {
  if (low > 0 && random.one_in(10)) {
    const std::uint64_t area = 1 + random.next() % pixels;
    return {area, area * low, area * low * low};
  }
  return random_window(random, low > 0 && random.one_in(2) ? 2 * low : (1u << bits) - 1, pixels);
}

std::uint32_t clamped_level(double level, int bits) {
  return static_cast<std::uint32_t>(std::clamp(level, 0.0, std::exp2(bits) - 1));
}

/// An estimate may leave a pixel undecided, but must not decide it wrongly.
TEST(LocalStatisticsArithmetic, EstimatesOfSauvolaDecideAsTheFormula) {
  Random random(45);
  constexpr double ks[] = {0, 0x1p-52, 0.2, 0.5, 0.999999999, 1 - 0x1p-53, 1};
  constexpr double ranges[] = {1e-310, 1e-30, 0x1p-4, 1, 109.5, 127.5, 128, 32768, 65535};
  int decided = 0, all = 0;
  for (const int bits : {8, 10, 16})
    for (const bool limited : {false, true}) {
      const std::uint32_t low = black_level(limited, bits);
      const std::uint64_t narrow = narrow_pixels(bits);
      for (int i = 0; i < 60000; ++i) {
        const DefinedWindow window =
            random_window(random, bits, low, random.one_in(2) ? narrow : 1 + random.next() % 2000);
        const double k =
            random.one_in(3) ? ks[random.between(0, 6)] : random.between(0, 1000) / 1000.0;
        const double range =
            random.one_in(3) ? ranges[random.between(0, 8)] : random.between(1, 2000) / 16.0;
        const auto area = static_cast<std::uint32_t>(window.area);
        const auto sum = static_cast<std::uint32_t>(window.sum);
        const std::uint64_t variance = scaled_variance<NarrowWindow>(window.squared_sum, sum, area);
        const float inverse = disturbed(1.0f / static_cast<float>(area), random);
        const float stddev = disturbed(std::sqrt(static_cast<float>(variance)), random) * inverse;
        const SauvolaEstimate estimate(k, range);
        const auto difference = [&](std::uint32_t value, bool& is_decided) {
          return estimate.difference(static_cast<float>(value) - static_cast<float>(low), sum,
                                     low * area, inverse, stddev, is_decided);
        };
        bool any = true;
        // Test levels next to the threshold, and random levels.
        const double threshold = static_cast<double>(low) - difference(low, any);
        const double nearest = threshold >= 0 && threshold < 65536 ? std::floor(threshold) : 65534;
        for (const double level :
             {nearest, nearest + 1, static_cast<double>(random.next() % (1u << bits))}) {
          const std::uint32_t value = clamped_level(level, bits);
          ++all;
          bool is_decided = true;
          const float result = difference(value, is_decided);
          if (!is_decided)
            continue;
          ++decided;
          ASSERT_EQ(std::signbit(result),
                    defined_sauvola_black(window, value, k, range, static_cast<int>(low)))
              << window.area << ", " << window.sum << ", " << window.squared_sum << ", " << value
              << ", k " << k << ", range " << range << ", " << bits << " bits, black level " << low;
        }
      }
    }
  EXPECT_GT(decided, all / 2);
}

/// Flat windows at the black level are frequent, so estimates must decide them (the fast path).
TEST(LocalStatisticsArithmetic, EstimatesOfSauvolaDecideAtTheBlackLevel) {
  for (const int bits : {8, 10, 16})
    for (const bool limited : {false, true})
      for (std::uint32_t area = 1; is_narrow(area, bits); area += area / 7 + 1) {
        const std::uint32_t low = black_level(limited, bits);
        bool is_decided = true;
        const float result = SauvolaEstimate(0.2, 109.5)
                                 .difference(0, low * area, low * area,
                                             1.0f / static_cast<float>(area), 0, is_decided);
        ASSERT_TRUE(is_decided && !std::signbit(result)) << area << ", black level " << low;
      }
}

TEST(LocalStatisticsArithmetic, ComparesTheLargestWindowsByBradley) {
  const std::uint64_t area = std::uint64_t{65535} * 65535;
  for (const std::uint64_t pixel : {0, 4095, 4096, 65535})
    for (const std::uint64_t level : {0, 1, 4095, 4096, 55704, 55705, 56319, 56320, 65534, 65535})
      for (const double ratio : {0.0, 0.15, 0.5, 1.0})
        for (const int low : {0, 4096}) {
          const DefinedWindow window{area, area * pixel, area * pixel * pixel};
          EXPECT_EQ(Bradley(ratio, static_cast<std::uint32_t>(low))
                        .is_black<WideWindow>(static_cast<std::uint32_t>(level), window.sum,
                                              static_cast<std::uint32_t>(area)),
                    defined_bradley_black(window, level, ratio, low))
              << level << " in windows of " << pixel << ", " << ratio << ", black level " << low;
        }
}

/* Tests of a lane's 16 columns of bytes in running_kernel */

using Row = std::array<std::uint32_t, packed_columns / 4>;

Row random_row(Random& random) {
  std::array<std::uint8_t, packed_columns> bytes;
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random.one_in(4)   ? 255
                                     : random.one_in(4) ? 0
                                                        : random.between(0, 255));
  Row row;
  std::memcpy(row.data(), bytes.data(), sizeof row);
  return row;
}

std::uint32_t byte_at(const Row& row, int column) {
  return row[column / 4] >> (8 * (column % 4)) & 0xff;
}

void expect_sums(const PackedColumns& columns, const std::deque<Row>& window, int count) {
  std::uint32_t weights[4]{}, expected = 7;
  for (int i = 0; i < packed_columns; ++i) {
    std::uint32_t sum = 0;
    for (const Row& row : window)
      sum += byte_at(row, i);
    ASSERT_EQ(columns.pairs[i / 2] >> (16 * (i % 2)) & 0xffff, sum) << "column " << i;
    if (i < count) {
      weights[i / 4] |= 1u << (8 * (i % 4));
      expected += sum;
    }
  }
  ASSERT_EQ(PackedColumns::add_weighted(columns.pairs, weights, 7), expected);
}

TEST(LocalStatisticsColumns, AreThoseOfSinglePixels) {
  Random random(54);
  for (const bool brightest : {false, true})
    for (const int rows : {0, 1, 2, 31, 257}) {
      SCOPED_TRACE(rows);
      const Row zeros{};
      const auto next = [&] { return brightest ? Row{~0u, ~0u, ~0u, ~0u} : random_row(random); };
      std::deque<Row> window;
      PackedColumns columns;
      for (int row = 0; row < rows; row += 2) {
        window.push_back(next());
        const Row first = window.back();
        if (row + 1 < rows)
          window.push_back(next());
        columns.add(first.data(), row + 1 < rows ? window.back().data() : zeros.data());
      }
      expect_sums(columns, window, 16);
      for (int step = 0; step < 5 && rows > 0; ++step) {
        window.push_back(next());
        columns.move(window.back().data(), window.front().data());
        window.pop_front();
        expect_sums(columns, window, random.between(0, 16));
      }
    }
}

}  // namespace
}  // namespace cudavision::test
