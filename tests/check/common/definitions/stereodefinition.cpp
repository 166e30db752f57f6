// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/stereodefinition.h"

#include <algorithm>
#include <cmath>

namespace check {

int disparity_at(const Picture& map, int x, int y) {
  return static_cast<std::int16_t>(map.sample(0, x, y));
}

Picture gray_of_map(const Picture& map, const MapScale& facts) {
  Picture gray(format_named("GRAY8"), map.width, map.height);
  const int range = facts.scale * (facts.disparities - 1);
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const int v = disparity_at(map, x, y);
      const int n = v - facts.scale * facts.minimum;
      gray.set_sample(0, x, y,
                      v == facts.invalid() ? 0 : std::min(255, 1 + (254 * n + range / 2) / range));
    }
  return gray;
}

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

Picture colors_of_map(const Picture& map, const MapScale& facts, Colors colors,
                      const FormatSpec& format) {
  const Picture gray = gray_of_map(map, facts);
  Picture out(format, map.width, map.height);
  // Alpha and padding stay 255.
  std::fill(out.planes[0].bytes.begin(), out.planes[0].bytes.end(), std::uint8_t{255});
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const Color color = color_of(colors, gray.sample(0, x, y));
      for (int c = 0; c < 3; ++c)
        out.set_sample(c, x, y, color[static_cast<std::size_t>(c)]);
    }
  return out;
}

Picture depth_of_map(const Picture& map, const MapScale& facts, const Cameras& cameras) {
  Picture depth(format_named("GRAY16_LE"), map.width, map.height);
  const long long k =
      std::llround(facts.scale * cameras.focal_length * cameras.baseline / cameras.unit);
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const int v = disparity_at(map, x, y);
      const bool known = v != facts.invalid() && v > 0;
      depth.set_sample(0, x, y,
                       known ? static_cast<int>(std::min(65535LL, (2 * k + v) / (2 * v))) : 0);
    }
  return depth;
}

}  // namespace check
