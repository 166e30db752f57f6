// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdlib>

#include "cuda/noise/blockrow.h"
#include "cuda/noise/measurement.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/noise/noise_definition.h"

namespace cudavision::test {
namespace {

/// Compares the sums of PairedRow, which processes pairs of samples, with plain sums.
TEST(NoiseBlockRow, EqualsPlainForm) {
  constexpr int rows = 3, columns = 16, start = noise::PairedRow::block_start;
  Random random(7);
  for (int number = 0; number < 1000; ++number) {
    const int lowest = random.between(0, 255), highest = random.between(lowest, 255);
    int levels[rows][columns];
    noise::PairedRow paired[rows];
    for (int y = 0; y < rows; ++y) {
      std::uint32_t words[columns / 4] = {};
      for (int x = 0; x < columns; ++x) {
        levels[y][x] = random.between(0, 1) == 0 ? lowest : highest;
        words[x / 4] |= static_cast<std::uint32_t>(levels[y][x]) << 8 * (x % 4);
      }
      paired[y] = noise::PairedRow(words);
    }
    const auto plain = [&](int spacing) {
      const auto column = [&](int x) { return levels[0][x] - 2 * levels[1][x] + levels[2][x]; };
      int sum = 0;
      for (int x = start; x < start + noise::block_side; ++x)
        sum += std::abs(column(x - spacing) - 2 * column(x) + column(x + spacing));
      return static_cast<std::uint32_t>(sum);
    };
    EXPECT_EQ(noise::sum_of_differences<1>(paired[0], paired[1], paired[2]), plain(1));
    EXPECT_EQ(noise::sum_of_differences<3>(paired[0], paired[1], paired[2]), plain(3));
    std::uint32_t sum = 0, squares = 0, extremes = 0;
    bool differs = false, flat = true;
    for (int x = start; x < start + noise::block_side; ++x) {
      sum += static_cast<std::uint32_t>(levels[1][x]);
      squares += static_cast<std::uint32_t>(levels[1][x] * levels[1][x]);
      extremes += noise::is_extreme(levels[1][x]) ? 1 : 0;
      differs = differs || levels[1][x] != lowest;
      flat = flat && levels[1][x] == levels[1][start];
    }
    for (int x = 0; x < 16; ++x)
      EXPECT_EQ(paired[1].level(x), static_cast<std::uint32_t>(levels[1][x]));
    EXPECT_EQ(paired[1].is_flat(), flat);
    noise::RowSums sums;
    noise::sum_levels(paired[1], static_cast<std::uint32_t>(lowest), sums);
    EXPECT_EQ(sums.levels, sum);
    EXPECT_EQ(sums.squares, squares);
    EXPECT_EQ(sums.extremes, extremes);
    EXPECT_EQ(sums.differs, differs);
  }
}

/// The largest variances are below 2^24, the limit of the square root.
TEST(NoiseMeasurement, LargestVariancesFit) {
  EXPECT_LT(noise::variance_of_bins(0, noise::bins - 1), 1u << 24);
  const std::uint32_t most = noise::spread_of(32 * 255, 32 * 255 * 255);  // half black, half white
  EXPECT_EQ(noise::bin_of_spread(most), noise::spread_bins - 1);
  EXPECT_LT(2 * noise::variance_of_spread_bin(noise::spread_bins - 1), 1u << 24);
}

/// Compares measurements of random classes, often at or next to thresholds, with the definition.
TEST(NoiseMeasurement, IsTheDefinedOne) {
  Random random(8);
  constexpr std::uint32_t counts[] = {0, 15, 16, 31, 32, 33, 62, 63, 90, 100, 150, 300, 1500};
  constexpr std::uint32_t variances[] = {0, 40, 60, 100, 5000, 6000, 9000, 10000};
  int uncertain = 0, silent = 0, known = 0;
  for (int i = 0; i < 100000; ++i) {
    noise::ClassNoises classes;
    std::vector<DefinedClass> defined;
    std::optional<DefinedClass> extremes;
    DefinedBlocks blocks{};
    for (int number = 0; number <= noise::classes; ++number) {
      const std::uint32_t count = random.one_in(2) ? 0 : counts[random.between(0, 12)];
      std::uint32_t variance = variances[random.between(0, 7)];
      if (const int other = random.between(0, 2 * number); other < number && random.one_in(2))
        // The largest variance that class `other` explains, or one more.
        variance = static_cast<std::uint32_t>(4 * (classes[other].variance + 1024) *
                                                  (2 * number + 1) / (2 * other + 1) +
                                              random.between(0, 1));
      const std::uint32_t spread =
          random.one_in(2)
              ? (3 * variance + 512) / 2 + static_cast<std::uint32_t>(random.between(0, 1))
              : variance * static_cast<std::uint32_t>(random.between(4, 12)) / 5;
      classes[number] = {count, variance, spread};
      blocks.others += static_cast<int>(count);
      const DefinedClass one{number, count, variance, spread};
      if (count >= 16 && number < noise::classes)
        defined.push_back(one);
      else if (count >= 16)
        extremes = one;
    }
    blocks.constant = random.one_in(2) ? blocks.others + random.between(-1, 1) : 0;
    blocks.constant = std::max(blocks.constant, 0);
    blocks.flat = blocks.constant + (random.one_in(2) ? random.between(30, 33) : 0);
    noise::Rank ranks[noise::classes + 1];
    for (int number = 0; number <= noise::classes; ++number)
      ranks[number] = noise::rank_of(classes, number);
    const noise::Measurement actual =
        noise::measurement_of(classes, ranks, static_cast<std::uint32_t>(blocks.constant),
                              static_cast<std::uint32_t>(blocks.flat));
    const auto expected = defined_measurement(defined, extremes, blocks);
    ASSERT_EQ(actual.valid, expected.has_value()) << "case " << i;
    if (!expected)
      continue;
    ASSERT_EQ(actual.variance, expected->variance) << "case " << i;
    ASSERT_EQ(actual.uncertain, expected->uncertain) << "case " << i;
    (actual.uncertain ? uncertain : actual.variance == 0 ? silent : known) += 1;
  }
  for (const int count : {uncertain, silent, known})
    EXPECT_GT(count, 1000);
}

}  // namespace
}  // namespace cudavision::test
