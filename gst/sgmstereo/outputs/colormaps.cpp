// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/outputs/colormaps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cudavision {
namespace {

constexpr int steps = 254;  // between the first colour and the last

using Color = std::array<std::uint8_t, 3>;

Color turbo(int step) {
  // Red, green and blue, by rising power.
  constexpr double coefficients[3][6] = {
      {0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
      {0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
      {0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
  };
  const double x = static_cast<double>(step) / steps;
  Color color{};
  for (int c = 0; c < 3; ++c) {
    double value = 0;
    for (int power = 5; power >= 0; --power)
      value = value * x + coefficients[c][power];
    color[c] = static_cast<std::uint8_t>(std::lrint(255 * std::clamp(value, 0.0, 1.0)));
  }
  return color;
}

// Each colour is 3/2 − |4x − peak|, clamped to 0…1, here in units of 1/(2·steps).
Color jet(int step) {
  Color color{};
  for (int c = 0; c < 3; ++c) {
    const int peak = 3 - c;
    const int value = std::clamp(3 * steps - 2 * std::abs(4 * step - peak * steps), 0, 2 * steps);
    color[c] = static_cast<std::uint8_t>((255 * value + steps) / (2 * steps));
  }
  return color;
}

Color color_of(Colormap map, int index) {
  switch (map) {
    case Colormap::turbo:
      return turbo(index - 1);
    case Colormap::jet:
      return jet(index - 1);
    case Colormap::gray:
      break;
  }
  const auto level = static_cast<std::uint8_t>(index);
  return {level, level, level};
}

}  // namespace

sgm::ColorTable color_table(Colormap map) {
  sgm::ColorTable table{};
  for (int index = 1; index < 256; ++index)
    table[index] = color_of(map, index);
  return table;
}

}  // namespace cudavision
