// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/stereodefinition.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/kernels/sgm/defined_levels.h"

namespace check {

namespace sgm = cudavision::sgm;

namespace {

sgm::Parameters parameters_of(const MapScale& facts) {
  sgm::Parameters parameters;
  parameters.disparities = facts.disparities;
  parameters.minimum = facts.minimum;
  if (facts.scale == 1) {
    parameters.compatibility = sgm::Parameters::Compatibility::libsgm;
    parameters.subpixel = false;
  }
  return parameters;
}

using Color = std::array<std::uint8_t, 3>;  ///< red, green and blue

Color color_of(Colors colors, int gray) {
  if (gray == 0)
    return {0, 0, 0};
  const double x = (gray - 1) / 254.0;
  const auto byte = [](double value) {
    return static_cast<std::uint8_t>(std::floor(255 * std::clamp(value, 0.0, 1.0) + 0.5));
  };
  switch (colors) {
    case Colors::gray:
      break;
    case Colors::jet:
      return {byte(1.5 - std::abs(4 * x - 3)), byte(1.5 - std::abs(4 * x - 2)),
              byte(1.5 - std::abs(4 * x - 1))};
    case Colors::turbo: {
      const double x2 = x * x, x3 = x2 * x, x4 = x2 * x2, x5 = x4 * x;
      return {byte(0.13572138 + 4.61539260 * x - 42.66032258 * x2 + 132.13108234 * x3 -
                   152.94239396 * x4 + 59.28637943 * x5),
              byte(0.09140261 + 2.19418839 * x + 4.84296658 * x2 - 14.18503333 * x3 +
                   4.27729857 * x4 + 2.82956604 * x5),
              byte(0.10667330 + 12.64194608 * x - 60.58204836 * x2 + 110.36276771 * x3 -
                   89.90310912 * x4 + 27.34824973 * x5)};
    }
  }
  const auto same = static_cast<std::uint8_t>(gray);
  return {same, same, same};
}

}  // namespace

int disparity_at(const Picture& map, int x, int y) {
  return static_cast<std::int16_t>(map.sample(0, x, y));
}

Picture levels_of(const Picture& numbers, const MapScale& facts,
                  const sgm::PictureParameters& look) {
  std::vector<std::uint16_t> list;
  for (int y = 0; y < numbers.height; ++y)
    for (int x = 0; x < numbers.width; ++x)
      list.push_back(static_cast<std::uint16_t>(numbers.sample(0, x, y)));
  const std::vector<int> levels =
      cudavision::test::DefinedLevels(parameters_of(facts), look).levels(list, 0);
  return picture_with(gray(), numbers.width, numbers.height, [&](int, int x, int y) {
    return levels.at(std::size_t(y * numbers.width + x));
  });
}

Picture gray_of_map(const Picture& map, const MapScale& facts) {
  return levels_of(map, facts, {});
}

Picture in_colors(const Picture& levels, const FormatSpec& format, Colors colors) {
  Picture out(format, levels.width, levels.height);
  // Alpha and padding stay 255.
  std::fill(out.planes[0].bytes.begin(), out.planes[0].bytes.end(), std::uint8_t{255});
  for (int y = 0; y < levels.height; ++y)
    for (int x = 0; x < levels.width; ++x) {
      const Color color = color_of(colors, levels.sample(0, x, y));
      for (int c = 0; c < 3; ++c)
        out.set_sample(c, x, y, color[c]);
    }
  return out;
}

Picture depth_of_map(const Picture& map, const MapScale& facts, const Cameras& cameras) {
  sgm::PictureParameters look;
  look.focal_length = cameras.focal_length;
  look.baseline = cameras.baseline;
  look.unit = cameras.unit;
  return picture_with(format_named("GRAY16_LE"), map.width, map.height, [&](int, int x, int y) {
    return cudavision::test::defined_depth(parameters_of(facts), look,
                                           static_cast<std::uint16_t>(map.sample(0, x, y)));
  });
}

}  // namespace check
