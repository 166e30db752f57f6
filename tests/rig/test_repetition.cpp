// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests period_of(), and detect_repetition() on painted patterns and scenes that do not repeat.
#include <algorithm>
#include <cmath>
#include <functional>

#include "gst/sgmstereo/rig/geometry/repetition.h"
#include "tests/rig/inspected_pictures.h"

namespace cudavision::test {
namespace {

constexpr std::uint16_t high = 2000, low = 200;

CostProfile costs_with(const std::vector<std::pair<int, std::uint16_t>>& minima) {
  CostProfile costs(100, high);
  for (const auto& [place, cost] : minima)
    costs[place] = cost;
  return costs;
}

TEST(PeriodOf, NearestPlaceThatMatchesAsWell) {
  EXPECT_EQ(period_of(costs_with({{40, low}}), 40), 0);
  EXPECT_EQ(period_of(costs_with({{40, low}, {60, low}}), 40), 20);
  EXPECT_EQ(period_of(costs_with({{40, low}, {60, low}, {25, low}}), 40), 15);
  EXPECT_EQ(period_of(costs_with({{40, low}, {44, low}}), 40), 4);
  EXPECT_EQ(period_of(costs_with({{40, low}, {43, low}}), 40), 0);  // too near to be a period
  // A better match at another disparity is accepted, too.
  EXPECT_EQ(period_of(costs_with({{40, low}, {60, low / 2}}), 40), 20);
}

TEST(PeriodOf, MapsAreRounded) {
  for (const int own : {39, 40, 41})
    EXPECT_EQ(period_of(costs_with({{40, low}, {60, low}}), own), 20);
  EXPECT_EQ(period_of(costs_with({{40, low}, {60, low}}), 42), nothing_distinct);
}

TEST(PeriodOf, WorseMatchesDoNotCount) {
  // The fall from the peak to the second minimum must be at least 0.9 times the fall to `own`.
  constexpr int limit = high - 9 * (high - low) / 10;
  EXPECT_EQ(period_of(costs_with({{40, low}, {60, limit}}), 40), 20);
  EXPECT_EQ(period_of(costs_with({{40, low}, {60, limit + 1}}), 40), 0);
}

TEST(PeriodOf, NeedsDistinctPlaces) {
  EXPECT_EQ(period_of(CostProfile(100, low), 40), nothing_distinct);
  EXPECT_EQ(period_of(CostProfile(1, low), 0), nothing_distinct);
  // The costs are flat around the second position, or around `own`.
  CostProfile costs = costs_with({{40, low}});
  std::fill(costs.begin() + 60, costs.begin() + 76, low);
  EXPECT_EQ(period_of(costs, 40), 0);
  EXPECT_EQ(period_of(costs, 67), nothing_distinct);
  // Drops below 3 levels for each of 81 pixels, or less than half, may be noise.
  CostProfile weak(100, 242);
  weak[40] = weak[60] = 0;
  EXPECT_EQ(period_of(weak, 40), nothing_distinct);
  weak.assign(100, 1000);
  weak[40] = weak[60] = 501;
  EXPECT_EQ(period_of(weak, 40), nothing_distinct);
  weak[40] = weak[60] = 500;
  EXPECT_EQ(period_of(weak, 40), 20);
}

// A second match at an end of the range is ignored, because costs beyond the end are unknown.
TEST(PeriodOf, Ends) {
  EXPECT_EQ(period_of(costs_with({{0, low}, {60, low}}), 0), 60);
  EXPECT_EQ(period_of(costs_with({{99, low}, {60, low}}), 99), 39);
  EXPECT_EQ(period_of(costs_with({{40, low}, {99, low}}), 40), 0);
  EXPECT_EQ(period_of(costs_with({{40, low}, {0, low}}), 40), 0);
}

/// Returns the level of a surface at a position in the left picture.
using Surface = std::function<double(double x, double y)>;

Surface fence(double period) {
  return [=](double x, double) {
    const double from_bar = std::abs(x - period * std::round(x / period));
    return from_bar < period / 5 ? 190.0 : 60.0;
  };
}

Surface bricks(double period) {
  return [=](double x, double y) {
    const double height = std::max(8.0, period / 3), row = std::floor(y / height);
    const double along = x + (std::lround(row) % 2 == 0 ? 0 : period / 2);
    const bool mortar =
        std::abs(along - period * std::round(along / period)) < 1.2 || y - row * height < 2;
    return mortar ? 200.0 : 110.0;
  };
}

Surface chessboard(double period) {
  return [=](double x, double y) {
    const auto square = std::lround(std::floor(2 * x / period) + std::floor(2 * y / period));
    return square % 2 == 0 ? 30.0 : 220.0;
  };
}

constexpr int width = 480, height = 240, disparity = 24;

struct Pair {
  Gray left, right;
  Map map;
};

/// Paints a pattern in the left `share` of the columns. The disparity is `disparity` + slant·x.
Pair painted(const Surface& pattern, double share, double noise = 0, double slant = 0) {
  const Gray background = texture(width, height, 1);
  Random random(2);
  const auto level = [&](double x, int y) {
    double value = x < share * width ? pattern(x, y) : background.between(x, y);
    // The sum of three uniform numbers has a variance of a quarter.
    for (int i = 0; i < 3; ++i)
      value += noise * 2 * (random.between(0, 1000) / 1000.0 - 0.5);
    return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  };
  Pair pair{Gray(width, height), Gray(width, height), Map(background.levels.size())};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      pair.left.at(x, y) = level(x, y);
      pair.right.at(x, y) = level((x + disparity) / (1 - slant), y);
      pair.map[y * width + x] =
          x < disparity + slant * x
              ? disparity_scale(searching(64)).invalid
              : static_cast<std::uint16_t>(std::lround(16 * (disparity + slant * x)));
    }
  return pair;
}

Repetition found_in(const Pair& pair, const Parameters& parameters, int bits = 8, int shift = 0) {
  return figures_of(pair.left, pair.right, parameters, pair.map, bits, shift).repetition;
}

/// Expects the period in `share` of the columns, except where the next match is not in the picture.
void expect_found(const Pair& pair, const Parameters& parameters, double share, double period) {
  const Repetition found = found_in(pair, parameters);
  const double lost = disparity + (period > disparity ? period : 0);
  EXPECT_NEAR(found.share, (share * width - lost) / (width - disparity), 0.1);
  EXPECT_NEAR(found.period, period, 1);
}

void expect_none(const Pair& pair, const Parameters& parameters) {
  const Repetition found = found_in(pair, parameters);
  EXPECT_LT(found.share, 0.01) << found.period;
}

struct Pattern {
  const char* name;
  Surface (*of)(double period);
};
constexpr Pattern patterns[] = {{"fence", fence}, {"bricks", bricks}, {"chessboard", chessboard}};

TEST(Repetition, PatternsOfAnyPeriod) {
  for (const auto& [name, pattern] : patterns)
    for (const double period : {8.0, 12.0, 17.0, 25.0, 40.0, 60.0}) {
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(period));
      const Pair pair = painted(pattern(period), 0.6);
      expect_found(pair, searching(128), 0.6, period);
      // The range is too small for a second match.
      if (period >= 32)
        expect_none(pair, searching(32));
    }
}

TEST(Repetition, ShareOfThePicture) {
  for (const double share : {0.15, 0.3, 0.8, 1.0})
    expect_found(painted(chessboard(20), share), searching(64), share, 20);
}

TEST(Repetition, NoiseAndSlant) {
  for (const auto& [name, pattern] : patterns) {
    SCOPED_TRACE(name);
    expect_found(painted(pattern(20), 0.6, 4), searching(64), 0.6, 20);
    // The right picture is narrower by a twentieth.
    expect_found(painted(pattern(20), 0.6, 1, 0.05), searching(64), 0.6, 19);
  }
}

// In large pictures, sampled positions are farther apart than the size of the compared blocks.
TEST(Repetition, PeriodOfTheSamples) {
  Gray left(2000, 1200), right(2000, 1200);  // one sampled position per 32×32 pixels
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x) {
      left.at(x, y) = (x + 17) % 32 < 3 ? 190 : 60;
      right.at(x, y) = (x + disparity + 17) % 32 < 3 ? 190 : 60;
    }
  const Repetition found =
      found_in({left, right, Map(left.levels.size(), 16 * disparity)}, searching(64));
  EXPECT_GT(found.share, 0.8);
  EXPECT_EQ(found.period, 32);
}

// Two equal objects are not a repeating pattern.
TEST(Repetition, TwoDots) {
  const auto dots = [](double x, double y) {
    const bool within = std::min(std::abs(x - 200), std::abs(x - 280)) <= 2.5;
    return within && std::abs(y - 120) <= 2.5 ? 60.0 : 180.0;
  };
  expect_none(painted(dots, 1), searching(128));
}

// The map is wrong by one period, but the period is found.
TEST(Repetition, WrongMap) {
  Pair pair = painted(chessboard(20), 0.6);
  for (std::uint16_t& value : pair.map)
    value = 44 * 16;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < 44; ++x)
      pair.map[y * width + x] = disparity_scale(searching(64)).invalid;
  expect_found(pair, searching(128), 0.6, 20);
}

// Uniform rows, and rows without equal parts, do not repeat.
TEST(Repetition, NothingThatRepeats) {
  const Parameters parameters = searching(128);
  for (const double noise : {0.0, 1.0, 4.0, 12.0}) {
    SCOPED_TRACE(noise);
    expect_none(painted([](double, double) { return 120.0; }, 1, noise), parameters);
    expect_none(painted([](double x, double) { return 40 + x / 4; }, 1, noise), parameters);
    expect_none(
        painted([](double, double y) { return std::fmod(y, 16) < 8 ? 60.0 : 180.0; }, 1, noise),
        parameters);
    expect_none(painted(fence(20), 0, noise), parameters);  // texture only
  }
  // Neither a single post nor a pair of different scenes repeats.
  expect_none(painted([](double x, double) { return std::abs(x - 200) < 5 ? 60.0 : 180.0; }, 1, 2),
              parameters);
  const Gray one = texture(width, height, 3), another = texture(width, height, 4);
  expect_none({one, another, Map(one.levels.size(), 16 * disparity)}, parameters);
  // All disparities of the map are invalid.
  Pair unknown = painted(fence(20), 1);
  std::fill(unknown.map.begin(), unknown.map.end(), disparity_scale(parameters).invalid);
  expect_none(unknown, parameters);
}

TEST(Repetition, AnyScale) {
  Pair pair = painted(chessboard(20), 0.6);
  const double share = found_in(pair, searching(64)).share;
  for (const auto& [bits, shift] : {std::pair(10, 0), std::pair(10, 6), std::pair(16, 0)})
    EXPECT_DOUBLE_EQ(found_in(pair, searching(64), bits, shift).share, share);
  EXPECT_NEAR(found_in({pair.left, exposed(pair.right, 0.5), pair.map}, searching(64)).share, share,
              0.05);
  // Maps with other minimum disparities have another code for invalid pixels.
  const auto known_as = [&](const Parameters& parameters) {
    const DisparityScale scale = disparity_scale(parameters);
    Pair other = pair;
    for (std::uint16_t& value : other.map)
      value = value == disparity_scale(searching(64)).invalid
                  ? scale.invalid
                  : static_cast<std::uint16_t>(value / 16 * scale.per_pixel);
    return other;
  };
  Parameters parameters = searching(64, -30);
  EXPECT_NEAR(found_in(known_as(parameters), parameters).share, share, 0.05);
  parameters.compatibility = sgm::Config::Compatibility::libsgm;
  parameters.subpixel = false;
  EXPECT_NEAR(found_in(known_as(parameters), parameters).share, share, 0.05);
}

TEST(Repetition, AnySize) {
  for (const auto& [wide, tall] :
       {std::pair(1, 1), std::pair(1, 300), std::pair(300, 1), std::pair(8, 8), std::pair(9, 9),
        std::pair(10, 400), std::pair(400, 10)})
    for (const int minimum : {-500, 0, 7}) {
      Gray left(wide, tall);
      for (int y = 0; y < tall; ++y)
        for (int x = 0; x < wide; ++x)
          left.at(x, y) = x % 8 < 4 ? 30 : 200;
      const Pair pair{left, left, Map(left.levels.size(), 0)};
      EXPECT_LE(found_in(pair, searching(1024, minimum)).share, 1);
    }
}

}  // namespace
}  // namespace cudavision::test
