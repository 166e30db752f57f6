// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the fit of two cameras to matched points: geometry, noise and wrong matches.
#include <cmath>
#include <cstring>

#include "gst/sgmstereo/rig/geometry/camerapairfit.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/rig/turnedpoints.h"

namespace cudavision::test {
namespace {

using namespace rig;

CameraPair random_pair(Random& random) {
  CameraPair pair;
  const auto angle = [&](double degrees) { return number(random, -degrees, degrees) * degree; };
  pair.pitch = angle(1);
  pair.yaw = angle(0.5);
  pair.roll = angle(1);
  pair.zoom = number(random, 0.98, 1.02);
  pair.k1 = number(random, -0.3, 0.05);
  pair.k2 = number(random, 0, 0.2);
  pair.below = number(random, -0.03, 0.03);
  pair.before = number(random, -0.02, 0.02);
  pair.left_row = number(random, -0.03, 0.03);
  pair.right_row = number(random, -0.03, 0.03);
  return pair;
}

double distorted(const CameraPair& pair, double radius) {
  return radius + pair.k1 * std::pow(radius, 3) + pair.k2 * std::pow(radius, 5);
}

/// Projects a point into both pictures, as specified for CameraPair.
MatchedPoint seen(const CameraPair& pair, const Vector& point) {
  const auto place = [&](const Vector& direction, double zoom, double row) {
    const double x = direction.x / direction.z, y = direction.y / direction.z;
    const double radius = std::hypot(x, y);
    const double scale = radius == 0 ? 1 : distorted(pair, radius) / radius;
    return std::array<double, 2>{zoom * scale * x, zoom * scale * y + row};
  };
  const auto left = place(point, 1, pair.left_row);
  const auto right = place(rotated({pair.pitch, pair.yaw, pair.roll},
                                   {point.x - 1, point.y - pair.below, point.z - pair.before}),
                           pair.zoom, pair.right_row);
  return {left[0], left[1], right[0], right[1]};
}

/// Returns matches of points at distances of 8 to 40 baselines.
std::vector<MatchedPoint> points_of(Random& random, const CameraPair& pair, int count, double noise,
                                    double wrong = 0) {
  std::vector<MatchedPoint> points;
  for (int i = 0; i < count; ++i) {
    const double z = 1 / number(random, 1.0 / 40, 1.0 / 8);
    MatchedPoint point =
        seen(pair, {z * number(random, -0.5, 0.5), z * number(random, -0.375, 0.375), z});
    point.right_y +=
        number(random, 0, 1) < wrong ? number(random, -0.1, 0.1) : normal(random, noise);
    points.push_back(point);
  }
  return points;
}

TEST(CameraPairFit, UndistortedRadius) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const CameraPair pair = random_pair(random);
    for (const double radius : {0.0, 0.1, 0.3, 0.5, 0.6})
      EXPECT_NEAR(undistorted_radius(pair, distorted(pair, radius)), radius, 1e-9);
  });
  // If there is no solution, the result is still a radius inside the picture.
  const double largest = undistorted_radius({.k1 = -0.5}, 0.9);
  EXPECT_GT(largest, 0.5);
  EXPECT_LT(largest, 0.9);
}

TEST(CameraPairFit, IsOneToOne) {
  EXPECT_TRUE(is_one_to_one({}, 0.7));
  EXPECT_TRUE(is_one_to_one({.k1 = -0.3, .k2 = 0.1}, 0.6));
  EXPECT_TRUE(is_one_to_one({.k1 = 0.3}, 0.7));
  // The largest distorted radius is 2/3·√(1 / (3·0.5)) = 0.544.
  EXPECT_TRUE(is_one_to_one({.k1 = -0.5}, 0.52));
  EXPECT_FALSE(is_one_to_one({.k1 = -0.5}, 0.56));
}

/// A point in space appears in the same row of both rectified pictures.
TEST(CameraPairFit, RowsOfPointsInSpace) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const CameraPair pair = random_pair(random);
    for (MatchedPoint point : points_of(random, pair, 5, 0)) {
      EXPECT_NEAR(row_difference(pair, point), 0, 1e-7);
      point.right_y += 1e-3;
      EXPECT_NEAR(row_difference(pair, point), 1e-3, 8e-4);
      EXPECT_GT(row_difference(pair, point), 0);
    }
  });
}

/// Fitted rows are accurate near the points, although some parameters have nearly the same effect.
TEST(CameraPairFit, FindsRows) {
  for_each_case_number([](int number_of_case) {
    Random random = random_of_case(settings().seed, number_of_case);
    const CameraPair pair = random_pair(random);
    const CameraPairFit fit = fit_camera_pair(points_of(random, pair, 250, 3e-4, 0.15), 1e-5);
    const RowsApart apart = rows_apart(fit, points_of(random, pair, 100, 0));
    EXPECT_LT(apart.rows, 4e-4);
    EXPECT_LT(apart.rows, 4 * apart.error);
    EXPECT_NEAR(fit.noise, 4e-4, 2e-4);
    EXPECT_GT(fit.inlier_share, 0.6);
    EXPECT_LT(std::abs(fit.pair.roll - pair.roll), 0.01);
    EXPECT_LT(std::abs(fit.pair.k1 - pair.k1), 0.15);
  });
}

/// Matches of perfect cameras give matching rows. Without points, the fit determines nothing.
TEST(CameraPairFit, Perfect) {
  Random random = random_of_case(1, 1);
  const CameraPairFit fit = fit_camera_pair(points_of(random, {}, 300, 1e-5), 1e-5);
  EXPECT_LT(rows_apart(fit, points_of(random, {}, 100, 0)).rows, 1e-5);
  const CameraPairFit nothing = fit_camera_pair({}, 1e-5);
  EXPECT_EQ(nothing.pair, CameraPair());
  EXPECT_EQ(nothing.inlier_share, 0);
  for (std::size_t i = 0; i < CameraPair::unknowns; ++i)
    EXPECT_GT(nothing.error(i), 0.01);
}

TEST(CameraPairFit, SameBits) {
  Random random = random_of_case(1, 2);
  const std::vector<MatchedPoint> points = points_of(random, random_pair(random), 80, 3e-4, 0.2);
  const CameraPairFit first = fit_camera_pair(points, 1e-4), second = fit_camera_pair(points, 1e-4);
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
}

}  // namespace
}  // namespace cudavision::test
