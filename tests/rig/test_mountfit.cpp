// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the fit of a camera that has rotated in its mount: geometry, noise and wrong matches.
#include <algorithm>
#include <cmath>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/rig/turnedpoints.h"

namespace cudavision::test {
namespace {

using namespace rig;

constexpr int unknowns = MountPrior::unknowns;

RigRotation random_turn(Random& random, double degrees, double focal_spread = 0) {
  const auto angle = [&] { return number(random, -degrees, degrees) * degree; };
  RigRotation turn;
  turn.pitch = angle();
  turn.yaw = angle();
  turn.roll = angle();
  turn.zoom = number(random, 0.99, 1.01);
  turn.focal = std::exp(number(random, -focal_spread, focal_spread));
  return turn;
}

/// Returns matches in a 4:3 picture as wide as the focal length; the right camera is rotated.
std::vector<MatchedPoint> points_of(Random& random, const RigRotation& turn, int count,
                                    double noise, double wrong = 0) {
  std::vector<MatchedPoint> points;
  for (int i = 0; i < count; ++i) {
    const double x = number(random, -0.5, 0.5), y = number(random, -0.375, 0.375);
    auto [right_x, right_y] = rotated_position(turn, x - number(random, 0.01, 0.1), y);
    right_y += number(random, 0, 1) < wrong ? number(random, -0.1, 0.1) : normal(random, noise);
    points.push_back({x, y, right_x, right_y});
  }
  return points;
}

MountPrior wide_prior() {
  MountPrior prior;
  prior.deviations = {0.1, 0.1, 0.1, 0.1, 0};
  return prior;
}

std::array<double, unknowns> values_of(const RigRotation& turn) {
  return {turn.pitch, turn.yaw, turn.roll, turn.zoom, std::log(turn.focal)};
}

TEST(MountFit, Places) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const RigRotation turn = random_turn(random, 20, 1);
    const double x = number(random, -0.6, 0.6), y = number(random, -0.6, 0.6);
    const Vector q =
        rotated({turn.pitch, turn.yaw, turn.roll}, {x / turn.focal, y / turn.focal, 1});
    const auto [right_x, right_y] = rotated_position(turn, x, y);
    EXPECT_NEAR(right_x, turn.focal * turn.zoom * q.x / q.z, 1e-6);
    EXPECT_NEAR(right_y, turn.focal * turn.zoom * q.y / q.z, 1e-6);
    const auto [back_x, back_y] = unrotated_position(turn, right_x, right_y);
    EXPECT_NEAR(back_x, x, 1e-12);
    EXPECT_NEAR(back_y, y, 1e-12);
  });
  EXPECT_EQ(rotation_of({}), (std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  // Pitching down moves points up; yawing left moves them right.
  EXPECT_LT(rotated_position({.pitch = 0.01}, 0, 0)[1], 0);
  EXPECT_GT(rotated_position({.yaw = 0.01}, 0, 0)[0], 0);
  EXPECT_GT(rotated_position({.roll = 0.01}, 0.3, 0)[1], 0);
}

/// If the other angles are known, the column of a point in a rotated camera determines the yaw.
TEST(MountFit, YawForColumn) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const RigRotation turn = random_turn(random, 3, 0.5);
    const double x = number(random, -0.5, 0.5), y = number(random, -0.4, 0.4);
    const auto [seen_x, seen_y] = rotated_position(turn, x, y);
    RigRotation other = turn;
    other.yaw = number(random, -0.05, 0.05);
    // The given yaw must not affect the result.
    EXPECT_NEAR(yaw_for_column(other, seen_x, seen_y, x), turn.yaw, 1e-9);
  });
}

TEST(MountFit, FindsTurns) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const bool guessed = random.one_in(3);
    const RigRotation turn = random_turn(random, 2, guessed ? 0.5 : 0);
    MountPrior prior = wide_prior();
    prior.deviations[4] = guessed ? 0.7 : 0;
    const MountFit exact = fit_mount(points_of(random, turn, 200, 0), prior, 1e-7);
    const auto expected = values_of(turn), found = values_of(exact.turn);
    EXPECT_LT(rows_apart(exact, turn, 0.5, 0.375).rows, 1e-4);
    // If the focal length is unknown, rotations with the same effect on rows are indistinguishable.
    for (int i = 0; i < unknowns && !guessed; ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
    EXPECT_GT(exact.inlier_share, 0.8);
  });
}

/// The fit tolerates a quarter of wrong matches.
TEST(MountFit, IgnoresWrongMatches) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const RigRotation turn = random_turn(random, 1);
    const MountFit fit = fit_mount(points_of(random, turn, 100, 2e-4, 0.25), wide_prior(), 1e-4);
    const auto expected = values_of(turn), found = values_of(fit.turn);
    for (int i = 0; i < 4; ++i)
      EXPECT_LT(std::abs(found[i] - expected[i]), 6 * fit.error(i)) << i;
    EXPECT_LT(fit.noise, 5e-4);
    EXPECT_LT(fit.inlier_share, 0.95);
  });
}

/// The returned errors are right: the mean of (deviation / error)² is about 1.
TEST(MountFit, Errors) {
  double squares[4] = {};
  constexpr int cases = 300;
  for (int i = 0; i < cases; ++i) {
    Random random = random_of_case(7, i);
    const RigRotation turn = random_turn(random, 1);
    const MountFit fit = fit_mount(points_of(random, turn, 60, 3e-4), wide_prior(), 1e-5);
    EXPECT_NEAR(fit.noise, 3e-4, 2e-4);
    const auto expected = values_of(turn), found = values_of(fit.turn);
    for (int j = 0; j < 4; ++j) {
      const double ratio = (found[j] - expected[j]) / fit.error(j);
      squares[j] += ratio * ratio / cases;
    }
  }
  for (const double mean : squares) {
    EXPECT_GT(mean, 0.7);
    EXPECT_LT(mean, 1.6);
  }
}

/// At the result, the gradient of the weighted sum of squares is 0.
TEST(MountFit, Minimizes) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const std::vector<MatchedPoint> points =
        points_of(random, random_turn(random, 1), random.between(20, 80), 3e-4, 0.1);
    MountPrior prior = wide_prior();
    prior.turn = random_turn(random, 0.2);
    prior.turn.focal = 1;
    prior.deviations[2] = 0.003;
    const double min_noise = 2e-4;
    const MountFit fit = fit_mount(points, prior, min_noise);
    const auto residual = [](const RigRotation& turn, const MatchedPoint& point) {
      return unrotated_position(turn, point.right_x, point.right_y)[1] - point.left_y;
    };
    const double sigma = fit.noise;
    const auto u = values_of(fit.turn), likely = values_of(prior.turn);
    for (int i = 0; i < 4; ++i) {
      constexpr double step = 1e-5;
      const auto moved = [&](double by) {
        auto its = u;
        its[i] += by;
        return RigRotation{its[0], its[1], its[2], its[3], std::exp(its[4])};
      };
      double slope = 0, sizes_of_terms = 0;
      for (const MatchedPoint& point : points) {
        const double r = residual(fit.turn, point) / sigma;
        const double part = 1 - r * r / (4.685 * 4.685);
        const double weight = part > 0 ? part * part : 0;
        const double term = weight * r *
                            (residual(moved(step), point) - residual(moved(-step), point)) /
                            (2 * step * sigma);
        slope += term;
        sizes_of_terms += std::abs(term);
      }
      slope += (u[i] - likely[i]) / (prior.deviations[i] * prior.deviations[i]);
      EXPECT_LT(std::abs(slope), 0.01 * sizes_of_terms + 1e-3) << i;
    }
  });
}

/// The noise is derived from the median residual, but is at least the minimum.
TEST(MountFit, Noise) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const std::vector<MatchedPoint> points =
        points_of(random, random_turn(random, 1), 60, 3e-4, 0.1);
    for (const double least : {1e-5, 1e-2}) {
      const MountFit fit = fit_mount(points, wide_prior(), least);
      std::vector<double> sizes;
      for (const MatchedPoint& point : points)
        sizes.push_back(
            std::abs(unrotated_position(fit.turn, point.right_x, point.right_y)[1] - point.left_y));
      std::sort(sizes.begin(), sizes.end());
      const double expected = std::max(1.4826 * sizes[sizes.size() / 2], least);
      EXPECT_NEAR(fit.noise, expected, 0.1 * expected);
    }
  });
}

TEST(MountFit, KeepsWhatIsKnown) {
  Random random = random_of_case(1, 1);
  const std::vector<MatchedPoint> points = points_of(random, random_turn(random, 1), 50, 1e-4);
  MountPrior prior;
  prior.turn = {0.01, 0.02, 0.03, 1.01, 1.2};
  const MountFit known = fit_mount(points, prior, 1e-4);
  const auto kept = values_of(known.turn), expected = values_of(prior.turn);
  for (int i = 0; i < unknowns; ++i) {
    EXPECT_DOUBLE_EQ(kept[i], expected[i]);
    EXPECT_EQ(known.error(i), 0);
  }
  prior.deviations = {0.1, 0.2, 0.3, 0.4, 0.5};
  const MountFit nothing = fit_mount({}, prior, 1e-4);
  EXPECT_DOUBLE_EQ(nothing.turn.yaw, 0.02);
  EXPECT_EQ(nothing.inlier_share, 0);
  for (int i = 0; i < unknowns; ++i)
    EXPECT_NEAR(nothing.error(i), prior.deviations[i], 1e-12);
}

TEST(MountFit, SameBits) {
  Random random = random_of_case(2, 2);
  const std::vector<MatchedPoint> points = points_of(random, random_turn(random, 1), 90, 3e-4, 0.2);
  const MountFit one = fit_mount(points, wide_prior(), 1e-4);
  const MountFit other = fit_mount(points, wide_prior(), 1e-4);
  EXPECT_EQ(one.turn, other.turn);
  EXPECT_EQ(one.covariance, other.covariance);
}

TEST(MountFit, RowsApart) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const RigRotation corrected = random_turn(random, 0.5);
    MountFit fit =
        fit_mount(points_of(random, random_turn(random, 1), 60, 3e-4), wide_prior(), 1e-4);
    const RowsApart apart = rows_apart(fit, corrected, 0.5, 0.3);
    double squares = 0;
    for (int j = -4; j <= 4; ++j)
      for (int i = -4; i <= 4; ++i) {
        // The row that a point in row y of the left picture has in the corrected right picture.
        const double y = 0.3 * j / 4;
        const auto seen = rotated_position(corrected, 0.5 * i / 4, y);
        const double row = unrotated_position(fit.turn, seen[0], seen[1])[1];
        squares += (row - y) * (row - y);
      }
    EXPECT_NEAR(apart.rows, std::sqrt(squares / 81), 1e-12);
    EXPECT_GT(apart.error, 0);
    EXPECT_LT(apart.error, 1e-3);
  });
  MountFit exact;
  exact.turn = {0.01, 0.02, 0.03, 1.01, 1};
  EXPECT_NEAR(rows_apart(exact, exact.turn, 0.5, 0.4).rows, 0, 1e-15);
  EXPECT_EQ(rows_apart(exact, exact.turn, 0.5, 0.4).error, 0);
  exact.turn = {};
  EXPECT_NEAR(rows_apart(exact, {.roll = 0.01}, 0.5, 0.4).rows,
              0.01 * 0.5 * std::sqrt(60.0 / 9) / 4, 1e-4);
}

}  // namespace
}  // namespace cudavision::test
