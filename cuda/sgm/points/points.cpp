// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/points/points.h"

#include <cmath>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/sgm/points/backend.h"

namespace cudavision::sgm {
namespace {

constexpr char operation[] = "points";

void check_size(int width, int height) {
  constexpr int largest = 65535;
  if (width < 1 || height < 1 || width > largest || height > largest)
    refuse(operation, "width and height must be 1 to " + std::to_string(largest));
}

void check_reprojection(const Reprojection& reprojection) {
  for (const auto& row : reprojection)
    for (double element : row)
      if (!(std::fabs(element) <= 1e30))
        refuse(operation, "an element of the matrix Q is " + std::to_string(element) +
                              "; it must lie between -1e30 and 1e30");
}

PointNumbers numbers_of(const Parameters& parameters, const Reprojection& reprojection) {
  const DisparityScale scale = disparity_scale(parameters);
  PointNumbers numbers;
  numbers.invalid = scale.invalid;
  numbers.pixels_per_number = 1.0 / scale.per_pixel;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      numbers.q[i][k] = reprojection[i][k];
  return numbers;
}

}  // namespace

Reprojection reprojection_of(double focal_length, double baseline, int width, int height) noexcept {
  return {{{1, 0, 0, -(width - 1) / 2.0},
           {0, 1, 0, -(height - 1) / 2.0},
           {0, 0, 0, focal_length},
           {0, 0, 1 / baseline, 0}}};
}

Points::Points(Device& device, int width, int height, const Parameters& parameters,
               const Reprojection& reprojection)
    : width_(width), height_(height) {
  check_size(width, height);
  backend_ = dispatch<make_points_cuda, make_points_cpu>(device, width);
  set(parameters, reprojection);
}

Points::~Points() = default;

void Points::set(const Parameters& parameters, const Reprojection& reprojection) {
  if (const std::string error = validation_error(parameters); !error.empty())
    refuse(operation, error);
  check_reprojection(reprojection);
  backend_->set(numbers_of(parameters, reprojection));
}

void Points::run(View<const std::uint8_t> disparity, View<std::uint8_t> points) {
  const auto check = [&](const auto& view, int bytes, const char* name) {
    if (!view || view.width != bytes * width_ || view.height != height_)
      refuse(operation, std::string("the ") + name + " must be " + std::to_string(height_) +
                            " rows of " + std::to_string(bytes * width_) + " bytes");
  };
  check(disparity, 2, "disparities");
  check(points, bytes_per_point, "points");
  backend_->run(disparity, points);
}

}  // namespace cudavision::sgm
