// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Pictures for the tests of PairInspector: textures that are moved, rotated or exposed differently.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "gst/sgmstereo/rig/geometry/pairinspector.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {

using namespace sgm;
using namespace rig;

using Parameters = sgm::Parameters;

struct Gray {
  int width, height;
  std::vector<std::uint8_t> levels;

  Gray(int wide, int high)
      : width(wide), height(high), levels(static_cast<std::size_t>(wide) * high) {}

  std::uint8_t& at(int x, int y) { return levels[static_cast<std::size_t>(y) * width + x]; }
  int at_or_edge(int x, int y) const {
    return levels[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
  }
  double between(double x, double y) const {
    const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
    const double right = x - left, low = y - top;
    return (1 - low) * ((1 - right) * at_or_edge(left, top) + right * at_or_edge(left + 1, top)) +
           low * ((1 - right) * at_or_edge(left, top + 1) + right * at_or_edge(left + 1, top + 1));
  }
};

template <class PlaceOf>
Gray warped(const Gray& picture, const PlaceOf& place) {
  Gray out(picture.width, picture.height);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const auto [from_x, from_y] = place(x, y);
      out.at(x, y) = static_cast<std::uint8_t>(std::lround(picture.between(from_x, from_y)));
    }
  return out;
}

inline Gray moved(const Gray& picture, double right, double down) {
  return warped(picture, [=](int x, int y) { return std::pair(x - right, y - down); });
}

inline Gray rotated(const Gray& picture, double degrees) {
  const double angle = degrees * std::acos(-1) / 180;
  const double c = std::cos(angle), s = std::sin(angle);
  const double middle_x = picture.width / 2.0, middle_y = picture.height / 2.0;
  return warped(picture, [=](int x, int y) {
    return std::pair(middle_x + c * (x - middle_x) - s * (y - middle_y),
                     middle_y + s * (x - middle_x) + c * (y - middle_y));
  });
}

/// Returns smoothed noise, which has texture everywhere.
inline Gray texture(int width, int height, std::uint64_t seed) {
  Random random(seed);
  Gray noise(width, height);
  for (std::uint8_t& level : noise.levels)
    level = static_cast<std::uint8_t>(random.next());
  return warped(noise, [](int x, int y) { return std::pair(x + 0.5, y + 0.5); });
}

/// A picture in memory: `bits` per sample, the lowest unused bit set, rows padded and unaligned.
class Stored {
 public:
  explicit Stored(const Gray& picture, int bits = 8, int shift = 0)
      : bytes_(bits > 8 ? 2 : 1),
        pitch_(picture.width * bytes_ + 3),
        memory_(static_cast<std::size_t>(1 + pitch_ * picture.height), 0x5a) {
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        // PairInspector must ignore bits below the upper 8 bits of a sample.
        const int value = picture.at_or_edge(x, y) << (bits - 8);
        const auto word = static_cast<std::uint16_t>((value | (bits > 8 ? x & 1 : 0)) << shift |
                                                     (shift > 0 ? 1 : 0));
        std::memcpy(&memory_[1 + y * pitch_ + x * bytes_], &word, static_cast<std::size_t>(bytes_));
      }
    plane_ = {{memory_.data() + 1, picture.width * bytes_, picture.height, pitch_},
              picture.width,
              bits,
              shift};
  }
  const SamplePlane& plane() const { return plane_; }

 private:
  int bytes_, pitch_;
  std::vector<std::uint8_t> memory_;
  SamplePlane plane_;
};

inline View<const std::uint8_t> view_of(const Map& map, int width, int height) {
  return {reinterpret_cast<const std::uint8_t*>(map.data()), 2 * width, height, 2 * width};
}

inline Parameters searching(int disparities, int minimum = 0) {
  Parameters parameters;
  parameters.disparities = disparities;
  parameters.minimum = minimum;
  return parameters;
}

inline PairFigures figures_of(const Gray& left, const Gray& right, const Parameters& parameters,
                              const Map& map, int bits = 8, int shift = 0) {
  const Stored left_picture(left, bits, shift), right_picture(right, bits, shift);
  return PairInspector({left.width, left.height, bits}, parameters)
      .inspect(left_picture.plane(), right_picture.plane(), view_of(map, left.width, left.height),
               parameters);
}

inline PairFigures figures_of(const Gray& left, const Gray& right, const Parameters& parameters,
                              int bits = 8, int shift = 0) {
  const Map map(left.levels.size(), disparity_scale(parameters).invalid);
  return figures_of(left, right, parameters, map, bits, shift);
}

inline void expect_good(const PairFigures& figures) {
  EXPECT_TRUE(figures.vertical_known());
  EXPECT_FALSE(figures.is_swapped());
  EXPECT_FALSE(figures.is_unrectified());
  EXPECT_FALSE(figures.exceeds_range());
}

inline std::string text_of(const PairFigures& figures) {
  char text[500];
  std::snprintf(
      text, sizeof text,
      "known %.3f, at the end %.4f; %d blocks, %.2f agree, %.2f matched, %.2f if swapped; "
      "vertical %.2f, spread %.2f; above %.2f, below %.2f, %d to %d%s%s%s; levels %.0f and %.0f, "
      "contrasts %.2f and %.2f, saturated %.2f and %.2f, black %.2f and %.2f; repeating %.4f",
      figures.known, figures.at_end, figures.blocks, figures.agreement, figures.matched,
      figures.matched_if_swapped, figures.vertical_offset, figures.vertical_spread,
      figures.above_range, figures.below_range, figures.min_disparity, figures.largest_disparity,
      figures.is_swapped() ? "; swapped" : "", figures.is_unrectified() ? "; not rectified" : "",
      figures.exceeds_range() ? "; exceeds the range" : "", figures.left.mean, figures.right.mean,
      figures.left.contrast, figures.right.contrast, figures.left.saturated,
      figures.right.saturated, figures.left.black, figures.right.black, figures.repetition.share);
  return text;
}

inline Gray exposed(const Gray& picture, double factor) {
  Gray out(picture.width, picture.height);
  for (std::size_t i = 0; i < out.levels.size(); ++i)
    out.levels[i] = static_cast<std::uint8_t>(
        std::min(255L, std::lround(factor * static_cast<double>(picture.levels[i]))));
  return out;
}

}  // namespace cudavision::test
