// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/points/points.h"

#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/sgm/points/backend.h"

namespace cudavision::sgm {

constexpr char operation[] = "points";

Reprojection reprojection_of(double focal_length, double baseline, int width, int height) noexcept {
  return {{{1, 0, 0, -(width - 1) / 2.0},
           {0, 1, 0, -(height - 1) / 2.0},
           {0, 0, 0, focal_length},
           {0, 0, 1 / baseline, 0}}};
}

Points::Points(Device& device, int width, int height, const Parameters& parameters,
               const Reprojection& reprojection)
    : width_(width), height_(height) {
  constexpr Range<int> sizes{1, 65535};
  if (!sizes.contains(width) || !sizes.contains(height))
    refuse(operation, "a disparity map of " + text_of(width) + "×" + text_of(height) +
                          " pixels; width and height must be " + text_of(sizes));
  backend_ = dispatch<make_points_cuda, make_points_cpu>(device, width);
  set(parameters, reprojection);
}

Points::~Points() = default;

void Points::set(const Parameters& parameters, const Reprojection& reprojection) {
  if (const std::string error = validation_error(parameters); !error.empty())
    refuse(operation, error);
  const DisparityScale scale = disparity_scale(parameters);
  PointNumbers numbers;
  numbers.invalid = scale.invalid;
  numbers.pixels_per_number = 1.0 / scale.per_pixel;
  constexpr Range<double> elements{-1e30, 1e30};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      const double element = numbers.q[i][k] = reprojection[i][k];
      if (!elements.contains(element))
        refuse(operation, "an element of the matrix Q is " + text_of(element) + "; make it " +
                              text_of(elements));
    }
  backend_->set(numbers);
}

void Points::run(View<const std::uint8_t> disparity, View<std::uint8_t> points) {
  check_rows(operation, "disparities", disparity, height_, 2 * width_);
  check_rows(operation, "points", points, height_, bytes_per_point * width_);
  backend_->run(disparity, points);
}

}  // namespace cudavision::sgm
