// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/sgm/picture/disparitypicture.h"
#include "tests/check/common/pictures/picture.h"

/// The outputs that are computed from a disparity map, by the definitions of tests/kernels.
namespace check {

struct MapScale {
  int disparities = 128;
  int minimum = 0;
  int scale = 16;

  int invalid() const { return (minimum - 1) * scale; }
};

int disparity_at(const Picture& map, int x, int y);

Picture levels_of(const Picture& numbers, const MapScale& facts,
                  const cudavision::sgm::PictureParameters& look);
/// Returns the grey levels for the whole range of searched disparities.
Picture gray_of_map(const Picture& map, const MapScale& facts);

enum class Colors { turbo, jet, gray };
/// Applies a colour map to grey levels. The format must be RGB, RGBA or BGRx.
Picture in_colors(const Picture& levels, const FormatSpec& format, Colors colors = Colors::turbo);

struct Cameras {
  double focal_length, baseline, unit;
};
Picture depth_of_map(const Picture& map, const MapScale& facts, const Cameras& cameras);

}  // namespace check
