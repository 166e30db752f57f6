// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The functions that both backends of noise::Estimate share.

#include <algorithm>
#include <cstdlib>

#include "cuda/noise/blockrow.h"
#include "cuda/noise/measurement.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

/// Sums of pairs of samples are those of single ones.
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

TEST(NoiseMeasurement, WeighsSpacings) {
  // White noise has the same variance at both spacings, texture more at the larger one.
  EXPECT_EQ(noise::variance_of_bins(10, 10), 168u * 168 / 185);
  EXPECT_EQ(noise::variance_of_bins(10, 13), 168u * 168 / 185);
  // Correlated noise has much more there.
  EXPECT_EQ(noise::variance_of_bins(10, 20), 3 * (328u * 328 / 200 - 168 * 168 / 185) / 2);
  EXPECT_EQ(noise::variance_of_bins(0, 1023), 3 * (16376u * 16376 / 200) / 2);
  // The root of the largest variance can still be taken.
  EXPECT_LT(noise::variance_of_bins(0, noise::bins - 1), 1u << 24);
}

TEST(NoiseMeasurement, SortsSpreads) {
  EXPECT_EQ(noise::bin_of_spread(0), 0);
  EXPECT_EQ(noise::bin_of_spread((1 << 10) + 63), 0);
  EXPECT_EQ(noise::bin_of_spread((1 << 10) + 64), 1);
  EXPECT_EQ(noise::bin_of_spread((1 << 11) - 1), 15);
  EXPECT_EQ(noise::bin_of_spread(1 << 11), 16);
  // Half black, half white.
  const std::uint32_t most = noise::spread_of(32 * 255, 32 * 255 * 255);
  EXPECT_EQ(most, 1024u * 255 * 255);
  EXPECT_EQ(noise::bin_of_spread(most), noise::spread_bins - 1);
  // White noise of a deviation of 8 levels, in the unit of Level.
  const std::uint32_t quietest = 64u * 63 * 8 * 8 * 67 / 100;
  EXPECT_NEAR(noise::variance_of_spread_bin(noise::bin_of_spread(quietest)), 128 * 128,
              128 * 128 / 30);
  EXPECT_LT(2 * noise::variance_of_spread_bin(noise::spread_bins - 1), 1u << 24);
}

using noise::ClassNoise;

noise::Measurement measured(const noise::ClassNoises& classes, std::uint32_t constant = 0,
                            std::uint32_t flat = 0) {
  noise::Rank ranks[noise::classes + 1];
  for (int i = 0; i <= noise::classes; ++i)
    ranks[i] = noise::rank_of(classes, i);
  return noise::measurement_of(classes, ranks, constant, flat);
}

TEST(NoiseMeasurement, NeedsEnoughBlocks) {
  noise::ClassNoises classes;
  EXPECT_FALSE(measured(classes).tells);
  EXPECT_FALSE(measured(classes, 31, 31).tells);
  EXPECT_TRUE(measured(classes, 32, 32).tells);
  EXPECT_TRUE(measured(classes, 0, 32).tells);
  classes[2] = {31, 500, 500};
  EXPECT_FALSE(measured(classes, 0, 31).tells);
  EXPECT_EQ(measured(classes, 0, 32).variance, 0u);
  classes[7] = {15, 100, 100};
  EXPECT_FALSE(measured(classes).tells);
  classes[7] = {16, 100, 100};
  EXPECT_EQ(measured(classes, 47, 100).variance, (31u * 500 + 16 * 100) / 47);
  EXPECT_FALSE(measured(classes, 47, 100).uncertain);
  EXPECT_EQ(measured(classes, 48, 48).variance, 0u);
  classes[noise::classes] = {15, 0, 0};
  EXPECT_EQ(measured(classes, 62, 62).variance, (31u * 500 + 16 * 100) / 47);
  EXPECT_EQ(measured(classes, 63, 63).variance, 0u);
}

TEST(NoiseMeasurement, NeedsSmoothBlocks) {
  noise::ClassNoises classes;
  // Just smooth, and not.
  classes[3] = {90, 10000, 15256};
  EXPECT_FALSE(measured(classes).uncertain);
  classes[3].spread = 15257;
  EXPECT_TRUE(measured(classes).uncertain);
  EXPECT_EQ(measured(classes).variance, 10000u);
  // Of less than a sixteenth of the blocks, nothing follows.
  classes[4] = {6 * 16 - 1, 40, 40};
  classes[3].blocks = 1500;
  EXPECT_EQ(measured(classes).variance, 10000u);
  // Of less than a sixth, a limit follows.
  classes[4].blocks = 150;
  EXPECT_TRUE(measured(classes).uncertain);
  EXPECT_EQ(measured(classes).variance, 60u);
  classes[4].blocks = 300;
  EXPECT_FALSE(measured(classes).uncertain);
  EXPECT_EQ(measured(classes).variance, (1500u * 60 + 300 * 40) / 1800);
}

TEST(NoiseMeasurement, TakesTheQuietestQuarterWithoutSmoothBlocks) {
  noise::ClassNoises classes;
  classes[1] = {100, 5000, 20000};
  classes[2] = {200, 9000, 20000};
  EXPECT_EQ(measured(classes).variance, 5000u);
  classes[1].blocks = 66;
  EXPECT_EQ(measured(classes).variance, 9000u);
  classes[noise::classes] = noise::noise_of_extremes(88, noise::bin_of_spread(1 << 14));
  EXPECT_EQ(measured(classes).variance, 5000u);
  ++classes[noise::classes].blocks;
  EXPECT_EQ(measured(classes).variance, 2 * noise::variance_of_spread_bin(64));
  EXPECT_TRUE(measured(classes).uncertain);
}

/// The variance of noise may grow with the brightness, but not against it.
TEST(NoiseMeasurement, LimitsLoudClasses) {
  noise::ClassNoises classes;
  classes[2] = {100, 6000, 6000};
  classes[7] = {100, 84288, 84288};  // 4·(6000 + 1024)·15/5
  EXPECT_EQ(measured(classes).variance, 90288u / 2);
  ++classes[7].variance;
  EXPECT_EQ(measured(classes).variance, (6000u + 9000) / 2);
  classes[7] = {100, 6000, 6000};
  classes[2].variance = classes[2].spread = 28096;
  EXPECT_EQ(measured(classes).variance, 34096u / 2);
  ++classes[2].variance;
  EXPECT_EQ(measured(classes).variance, (6000u + 9000) / 2);
}

}  // namespace
}  // namespace cudavision::test
