// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "tests/rig/inspected_pictures.h"

namespace cudavision::test {
namespace {

TEST(PairInspector, GoodPair) {
  const Gray left = texture(320, 240, 1);
  const PairFigures figures = figures_of(left, moved(left, -20, 0), searching(64));
  expect_good(figures);
  EXPECT_GE(figures.blocks, 64);
  EXPECT_GE(figures.matched, 0.9);
  EXPECT_GE(figures.agreement, figures.matched);
  EXPECT_NEAR(figures.vertical_offset, 0, 0.1);
  EXPECT_NEAR(figures.vertical_spread, 0, 0.2);
  EXPECT_EQ(figures.min_disparity, 20);
  EXPECT_EQ(figures.largest_disparity, 20);
}

TEST(PairInspector, VerticalOffsets) {
  const Gray left = texture(320, 240, 2);
  for (const double offset : {-31.0, -12.5, -5.0, -1.0, 0.5, 1.0, 2.25, 5.0, 12.0, 39.0}) {
    SCOPED_TRACE(offset);
    const PairFigures figures = figures_of(left, moved(left, -20, offset), searching(64));
    EXPECT_TRUE(figures.vertical_known());
    EXPECT_NEAR(figures.vertical_offset, offset, 0.2);
    EXPECT_LT(figures.vertical_spread, 0.5);
    EXPECT_EQ(figures.is_unrectified(), std::abs(offset) > 0.75) << text_of(figures);
    EXPECT_FALSE(figures.is_swapped());
    EXPECT_FALSE(figures.exceeds_range());
  }
}

/// Matches contain the positions of blocks in both pictures.
TEST(PairInspector, Matches) {
  const Gray left = texture(320, 240, 2);
  for (const double offset : {-12.5, 0.0, 0.4, 2.25}) {
    const PairFigures figures = figures_of(left, moved(left, -20, offset), searching(64));
    EXPECT_EQ(std::lround(figures.matched * figures.blocks),
              static_cast<long>(figures.matches.size()));
    for (const MatchedBlock& block : figures.matches) {
      EXPECT_TRUE(block.left_x >= 7.5 && block.left_x <= 320 - 8.5) << block.left_x;
      EXPECT_TRUE(block.left_y >= 4 && block.left_y <= 240 - 5) << block.left_y;
      EXPECT_DOUBLE_EQ(block.right_x, block.left_x - 20);
      EXPECT_NEAR(block.right_y, block.left_y + offset, 0.4);
    }
  }
}

/// If a camera has rolled, vertical offsets are large only near the sides of the picture.
TEST(PairInspector, FarRowsAtTheSides) {
  const Gray left = texture(1280, 320, 3);
  const PairFigures figures = figures_of(left, rotated(moved(left, -20, 0), 1.5), searching(64));
  EXPECT_GT(figures.matched, 0.6) << text_of(figures);
  double farthest = 0;
  for (const MatchedBlock& block : figures.matches)
    farthest = std::max(farthest, std::abs(block.right_y - block.left_y));
  EXPECT_GT(farthest, 12);
}

TEST(PairInspector, Rotation) {
  const Gray left = texture(640, 480, 3);
  const PairFigures figures = figures_of(left, rotated(moved(left, -20, 0), 1), searching(64));
  EXPECT_TRUE(figures.is_unrectified()) << text_of(figures);
  // Rows differ by x·sin 1°, and the quartiles of x differ by half of the width.
  EXPECT_NEAR(figures.vertical_spread, 320 * std::sin(std::acos(-1) / 180), 1);
}

TEST(PairInspector, SwappedCameras) {
  const Gray left = texture(320, 240, 4), right = moved(left, -20, 0);
  for (const double offset : {0.0, 5.0}) {
    const PairFigures figures = figures_of(right, moved(left, 0, offset), searching(64));
    EXPECT_TRUE(figures.is_swapped()) << text_of(figures);
    EXPECT_FALSE(figures.is_unrectified());
    EXPECT_FALSE(figures.exceeds_range());
  }
}

TEST(PairInspector, Range) {
  struct Scene {
    int disparity, disparities, minimum;
    bool above, below;
  };
  const Gray left = texture(480, 240, 5);
  for (const auto& [disparity, disparities, minimum, above, below] :
       {Scene{20, 32, 0, false, false}, Scene{40, 32, 0, true, false},
        Scene{150, 32, 0, true, false}, Scene{100, 64, 0, true, false},
        Scene{20, 64, 30, false, true}, Scene{60, 64, 30, false, false}}) {
    SCOPED_TRACE(disparity);
    const PairFigures figures =
        figures_of(left, moved(left, -disparity, 0), searching(disparities, minimum));
    EXPECT_EQ(figures.exceeds_range(), above || below) << text_of(figures);
    EXPECT_EQ(figures.above_range > 0.9, above);
    EXPECT_EQ(figures.below_range > 0.9, below);
    EXPECT_EQ(figures.min_disparity, disparity);
    EXPECT_EQ(figures.largest_disparity, disparity);
  }
}

/// Detects many disparities at the end of the map's range, even if no matched block has one.
TEST(PairInspector, MapAtItsEnd) {
  const Gray left = texture(320, 240, 6), right = moved(left, -20, 0);
  const Parameters parameters = searching(32);
  Map map(left.levels.size(), 20 * 16);
  for (const std::size_t step : {std::size_t{40}, std::size_t{60}}) {
    std::fill(map.begin(), map.end(), 20 * 16);
    for (std::size_t i = 0; i < map.size(); i += step)
      map[i] = 30 * 16;
    const PairFigures figures = figures_of(left, right, parameters, map);
    EXPECT_NEAR(figures.at_end, 1.0 / static_cast<double>(step), 0.001);
    EXPECT_EQ(figures.exceeds_range(), step == 40);
  }
}

/// Pictures that cannot be matched lead to no conclusions.
TEST(PairInspector, SaysNothingWithoutTexture) {
  const auto expect_silence = [](const PairFigures& figures) {
    EXPECT_FALSE(figures.vertical_known() || figures.is_swapped() || figures.is_unrectified() ||
                 figures.exceeds_range())
        << text_of(figures);
  };
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(1, 300), std::pair(300, 1), std::pair(17, 10), std::pair(18, 11),
        std::pair(32, 16), std::pair(400, 8), std::pair(8, 400)}) {
    const Gray noise = texture(width, height, 7);
    expect_silence(figures_of(noise, noise, searching(32)));
    expect_silence(figures_of(noise, texture(width, height, 8), searching(1024, -500)));
  }
  Gray flat(320, 240);
  std::fill(flat.levels.begin(), flat.levels.end(), std::uint8_t{100});
  EXPECT_EQ(figures_of(flat, flat, searching(64)).blocks, 0);
  expect_silence(figures_of(flat, flat, searching(64)));
  // A grating looks the same at many disparities and in all rows.
  Gray bars(320, 240);
  for (int y = 0; y < bars.height; ++y)
    for (int x = 0; x < bars.width; ++x)
      bars.at(x, y) = x % 8 < 4 ? 30 : 200;
  expect_silence(figures_of(bars, moved(bars, -3, 0), searching(64)));
  // The pictures show two different scenes.
  expect_silence(figures_of(texture(320, 240, 9), texture(320, 240, 10), searching(64)));
}

/// Good, swapped and unrectified pairs are recognised even if one picture is darker.
TEST(PairInspector, UnequalExposures) {
  const Gray left = texture(320, 240, 12);
  const Gray right = moved(left, -20, 0), lower = moved(left, -20, 5);
  for (const double factor : {0.15, 0.35, 0.6}) {
    SCOPED_TRACE(factor);
    for (const bool left_is_darker : {false, true}) {
      const auto inspected = [&](const Gray& a, const Gray& b) {
        return left_is_darker ? figures_of(exposed(a, factor), b, searching(64))
                              : figures_of(a, exposed(b, factor), searching(64));
      };
      const PairFigures good = inspected(left, right);
      expect_good(good);
      EXPECT_GE(good.matched, 0.9) << text_of(good);
      EXPECT_TRUE(good.is_unequally_exposed());
      EXPECT_TRUE(inspected(right, left).is_swapped());
      const PairFigures unrectified = inspected(left, lower);
      EXPECT_TRUE(unrectified.is_unrectified()) << text_of(unrectified);
      EXPECT_NEAR(unrectified.vertical_offset, 5, 0.3);
    }
  }
  EXPECT_FALSE(figures_of(left, exposed(right, 0.8), searching(64)).is_unequally_exposed());
}

TEST(PairInspector, Exposures) {
  const auto measured = [](const Gray& picture) { return exposure_of(Stored(picture).plane()); };
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(7, 300), std::pair(640, 480)}) {
    Gray flat(width, height);
    for (const int level : {0, 20, 21, 229, 230, 255}) {
      std::fill(flat.levels.begin(), flat.levels.end(), static_cast<std::uint8_t>(level));
      const Exposure exposure = measured(flat);
      EXPECT_DOUBLE_EQ(exposure.mean, level);
      EXPECT_DOUBLE_EQ(exposure.contrast, 0);
      EXPECT_DOUBLE_EQ(exposure.saturated, level >= 230 ? 1 : 0);
      EXPECT_DOUBLE_EQ(exposure.black, level <= 20 ? 1 : 0);
    }
  }
  // The upper half is clipped at the white of limited range, and a quarter of the rest is black.
  Gray parts = texture(640, 480, 13);
  for (int y = 0; y < parts.height; ++y)
    for (int x = 0; x < parts.width; ++x)
      if (y < 240)
        parts.at(x, y) = 235;
      else
        parts.at(x, y) = x < 160 ? 16 : static_cast<std::uint8_t>(60 + parts.at(x, y) / 2);
  EXPECT_NEAR(measured(parts).saturated, 0.5, 0.05);
  EXPECT_NEAR(measured(parts).black, 0.125, 0.03);
  const Gray noise = exposed(texture(640, 480, 14), 0.4);  // dark enough to avoid clipping
  EXPECT_NEAR(measured(exposed(noise, 0.5)).contrast / measured(noise).contrast, 0.5, 0.05);
  EXPECT_NEAR(measured(exposed(noise, 0.5)).mean / measured(noise).mean, 0.5, 0.02);
}

/// If samples have more than 8 bits, figures depend on the upper 8 only, at any shift.
TEST(PairInspector, AnyDepth) {
  const Gray left = texture(200, 150, 11), right = moved(left, -9, 2);
  const std::string expected = text_of(figures_of(left, right, searching(32)));
  for (const auto& [bits, shift] :
       {std::pair(9, 0), std::pair(10, 0), std::pair(10, 6), std::pair(12, 4), std::pair(16, 0)})
    EXPECT_EQ(text_of(figures_of(left, right, searching(32), bits, shift)), expected) << bits;
}

TEST(PairInspector, SharesOfTheMap) {
  for_each_case_number([](int number) {
    Random random = random_of_case(settings().seed, number);
    Parameters parameters = searching(32 * random.between(1, 4), random.between(-100, 100));
    if (random.one_in(3)) {
      parameters.compatibility = sgm::Config::Compatibility::libsgm;
      parameters.subpixel = random.one_in(2);
    }
    const DisparityScale scale = disparity_scale(parameters);
    const int width = random.between(1, 40), height = random.between(1, 40);
    Map map(static_cast<std::size_t>(width * height));
    int known = 0, at_end = 0;
    for (std::uint16_t& value : map) {
      value = scale.invalid;
      if (random.one_in(3))
        continue;
      const int steps = random.between(0, (parameters.disparities - 1) * scale.per_pixel);
      value = static_cast<std::uint16_t>(parameters.minimum * scale.per_pixel + steps);
      ++known;
      // The end of the range begins at the last but one whole disparity.
      at_end += steps >= (parameters.disparities - 2) * scale.per_pixel;
    }
    const Gray flat(width, height);
    const PairFigures figures = figures_of(flat, flat, parameters, map);
    EXPECT_DOUBLE_EQ(figures.known, 1.0 * known / (width * height));
    EXPECT_DOUBLE_EQ(figures.at_end, known == 0 ? 0 : 1.0 * at_end / known);
  });
}

}  // namespace
}  // namespace cudavision::test
