// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "tests/check/common/pictures/picture.h"

/// Definitions of the outputs that follow from a map of disparities.
namespace check {

/// The meaning of a map's samples.
struct MapScale {
  int disparities = 128;
  int minimum = 0;
  int scale = 16;

  int invalid() const { return (minimum - 1) * scale; }
};

/// Returns a sample of a GRAY16_LE map as a signed number.
int disparity_at(const Picture& map, int x, int y);

/// Returns a map's picture in GRAY8.
Picture gray_of_map(const Picture& map, const MapScale& facts);

enum class Colors { turbo, jet, gray };
using Color = std::array<std::uint8_t, 3>;  ///< red, green, blue
Color color_of(Colors colors, int gray);
/// Returns a map's picture in colours. The format must be RGB, RGBA or BGRx.
Picture colors_of_map(const Picture& map, const MapScale& facts, Colors colors,
                      const FormatSpec& format);

struct Cameras {
  double focal_length, baseline, unit;
};
Picture depth_of_map(const Picture& map, const MapScale& facts, const Cameras& cameras);

}  // namespace check
