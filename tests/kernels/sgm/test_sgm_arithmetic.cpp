// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/surfaces/arithmetic.h"
#include "cuda/sgm/winners/row_parts.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace sgm;

/// Tests every difference of two map values in each half of a word; the other half is random.
TEST(SgmArithmetic, NumbersSupportEachOtherInBothHalves) {
  Random random(6);
  const auto number = [&] {
    return random.one_in(9) ? far_away : static_cast<std::uint32_t>(random.between(0, 16376));
  };
  const auto support = [](std::uint32_t a, std::uint32_t b) {
    return a != far_away && b != far_away && (a < b ? b - a : a - b) <= 16 ? 1u : 0u;
  };
  for (int distance = -16376; distance <= 16376; ++distance) {
    const int pixel = random.between(std::max(0, -distance), 16376 - std::max(0, distance));
    const auto a = static_cast<std::uint32_t>(pixel + distance);
    const auto b = static_cast<std::uint32_t>(pixel);
    const std::uint32_t other = number();
    std::uint32_t beside = number();
    if (other == far_away && beside == far_away)
      beside = 0;
    const std::uint32_t lower = support(a, b), upper = support(other, beside);
    ASSERT_EQ(supports(other << 16 | a, beside << 16 | b), upper << 16 | lower);
    ASSERT_EQ(supports(a << 16 | other, b << 16 | beside), lower << 16 | upper);
    ASSERT_EQ(supports(far_away << 16 | a, b << 16 | b), lower);
    ASSERT_EQ(supports(a << 16 | far_away, b << 16 | b), lower << 16);
  }
}

/// Tests residuals and gradients of all magnitudes. The largest sums must fit into 32 bits.
TEST(SgmArithmetic, SharpeningIsTheStepOfGaussNewton) {
  Random random(5);
  int moved[max_sharpening + 1] = {};
  for (int i = 0; i < 200000; ++i) {
    const int largest_e = random.log_uniform(4080), largest_g = random.log_uniform(2040);
    const bool only_extremes = random.one_in(4);
    const auto draw = [&](int largest) {
      return only_extremes ? (random.one_in(2) ? largest : -largest)
                           : random.between(-largest, largest);
    };
    int e = 0, g = 0, eg = 0, gg = 0;
    const int n = random.between(1, 9);
    for (int sample = 0; sample < n; ++sample) {
      const int residual = draw(largest_e), gradient = draw(largest_g);
      e += residual;
      g += gradient;
      eg += residual * gradient;
      gg += gradient * gradient;
    }
    const std::int64_t a = std::int64_t{n} * eg - std::int64_t{e} * g;
    const std::int64_t b = std::int64_t{n} * gg - std::int64_t{g} * g + 64 * n * n;
    const int m = static_cast<int>(std::min<std::int64_t>(4, (32 * std::abs(a) + b) / (2 * b)));
    ++moved[m];
    for (const int v : {0, 2, 1000, 16366, 16368})
      ASSERT_EQ(sharpened(v, {n, e, g, eg, gg}, 16368),
                a > 0 ? std::max(0, v - m) : std::min(16368, v + m))
          << n << " samples, A " << a << ", B " << b;
  }
  for (const int count : moved)
    EXPECT_GT(count, 1000);
}

TEST(SgmArithmetic, WeightsOfSmoothingAreQuotients) {
  for (int confidence = 0; confidence < 256; ++confidence) {
    const int cut = smoothing_cut(confidence);
    ASSERT_EQ(cut, std::max(8, 18 - confidence / 16));
    ASSERT_LE(smoothing_factor(cut), 0xFFFFu);
    for (int weight = 64; weight >= 0; weight = weight == 0 ? -1 : weight / 2)
      for (int bend = -2 * cut; bend <= 2 * cut; ++bend) {
        const int product = weight * (2 * cut + 1 - std::abs(bend));
        const int w = product / (2 * cut);
        ASSERT_EQ(static_cast<std::uint32_t>(product) * smoothing_factor(cut) >> 18, w)
            << weight << " and " << bend << " with a cut of " << cut;
        ASSERT_LE(std::abs(w * bend), 608);
      }
  }
}

/// The parts of each row cover the row once. All blocks of the last wave are resident at once.
TEST(RowParts, CoverEveryRowOnce) {
  Random random(settings().seed);
  for (int i = 0; i < 2000; ++i) {
    const int rows = random.log_uniform(3000), columns = 16 * random.log_uniform(300);
    const int overlap = 64 << random.between(0, 2), unit = 32768 / overlap;
    const int resident = random.between(1, 600);
    const RowParts parts = parts_of_rows(rows, columns, overlap, unit, resident);
    const std::string what = std::to_string(rows) + "×" + std::to_string(columns) + ", " +
                             std::to_string(overlap) + " disparities, " + std::to_string(resident) +
                             " blocks at once";
    ASSERT_GE(parts.parts, 1) << what;
    const int last_turn = (rows - parts.whole_rows) * parts.parts;
    ASSERT_LE(last_turn, std::max(resident, 1)) << what;
    ASSERT_EQ(parts.whole_rows % resident, 0) << what;
    ASSERT_EQ(parts.columns % 16, 0) << what;
    int row = 0, column = 0;
    for (int block = 0; block < parts.blocks(rows); ++block) {
      const RowParts::Part part = parts.part_of(block, columns);
      ASSERT_EQ(part.row, row) << what;
      ASSERT_EQ(part.begin, column) << what;
      ASSERT_GT(part.end, part.begin) << what;
      column = part.end;
      if (column == columns)
        column = 0, ++row;
    }
    ASSERT_EQ(row, rows) << what;
    ASSERT_EQ(column, 0) << what;
  }
}

}  // namespace
}  // namespace cudavision::test
