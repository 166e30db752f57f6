// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <functional>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

/// A moving scene of known depth, a rotated right camera, and photographs from rotated cameras.
namespace check {

/// The right camera's rotation vector (pitch, yaw, roll); x is right, y down, z forward.
struct Turn {
  double pitch = 0, yaw = 0, roll = 0;  ///< in degrees
  double zoom = 1;                      ///< focal length relative to the left camera's
};

/// A rotated camera. The constructor gets the unrotated camera's focal length in pixels.
class TurnedCamera {
 public:
  TurnedCamera(const Turn& turn, int width, int height, double focal_length);

  /// Map pixel coordinates of the unrotated camera to the rotated camera's, and vice versa.
  std::array<double, 2> turned(double x, double y) const;
  std::array<double, 2> upright(double x, double y) const;
  bool sees(double x, double y) const;

 private:
  std::array<double, 9> rotation_;
  double zoom_;
  int width_, height_;
  double focal_length_;
};

class MovingScene {
 public:
  static constexpr int width = 320, height = 240;

  /// `focal_length`: in pixels.
  explicit MovingScene(double focal_length = width) : focal_length_(focal_length) {}

  TurnedCamera camera(const Turn& turn) const { return {turn, width, height, focal_length_}; }
  Picture left(int frame, const char* format = "GRAY8") const;
  Picture right(int frame, const Turn& turn, const char* format = "GRAY8") const;
  std::function<double(double, double)> disparities(int frame) const;

 private:
  double focal_length_;
};

/// Converts an unrotated camera's picture to the rotated camera's; edges repeat the nearest pixel.
Picture turned_photograph(const Picture& upright, const TurnedCamera& camera);

/// Counts the pixels that both cameras see and that have a true disparity. Returns the share of
/// them whose disparity is invalid or wrong by more than a pixel.
template <class TrueDisparity>
double wrong_share(const Picture& map, const TurnedCamera& right,
                   const TrueDisparity& true_disparity);

}  // namespace check

template <class TrueDisparity>
double check::wrong_share(const Picture& map, const TurnedCamera& right,
                          const TrueDisparity& true_disparity) {
  int all = 0, wrong = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const double truth = true_disparity(x, y);
      if (truth == 0 || x - truth < 0 || !right.sees(x - truth, y))
        continue;
      ++all;
      const int found = disparity_at(map, x, y);
      wrong += found == -16 || std::abs(found - 16 * truth) > 16;
    }
  return static_cast<double>(wrong) / all;
}
