// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface of the Points backends. Callers validate all arguments.

#include <cstdint>
#include <memory>

#include "cuda/sgm/points/points.h"

namespace cudavision::sgm {

struct PointNumbers {
  std::uint16_t invalid = 0;
  double pixels_per_number = 1;  ///< a power of two, so multiplication is exact
  double q[4][4] = {};

  CUDAVISION_HOST_DEVICE bool point(int x, int y, std::uint16_t number, float (&xyz)[3]) const {
    if (number == invalid)
      return false;
    const double d = static_cast<std::int16_t>(number) * pixels_per_number;
    const double w = row(3, x, y, d);
    const double inverse = 1.0 / w;
    if (!(w > 0) || inverse > largest)
      return false;
    for (int i = 0; i < 3; ++i)
      xyz[i] = static_cast<float>(row(i, x, y, d) * inverse);
    return true;
  }

 private:
  static constexpr double largest = 1.7976931348623157e308;

  CUDAVISION_HOST_DEVICE double row(int i, double x, double y, double d) const {
    return (((0.0 + q[i][0] * x) + q[i][1] * y) + q[i][2] * d) + q[i][3];
  }
};

constexpr std::uint32_t unknown_coordinate = 0x7fc00000;

class Points::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the parameters change.
  virtual void set(const PointNumbers& numbers) = 0;
  virtual void run(View<const std::uint8_t> disparity, View<std::uint8_t> points) = 0;
};

std::unique_ptr<Points::Backend> make_points_cpu(Device& device, int width);
std::unique_ptr<Points::Backend> make_points_cuda(Device& device, int width);

}  // namespace cudavision::sgm
