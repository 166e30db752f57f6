// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/knowndistance.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gst/core/videoformat.h"
#include "gst/sgmstereo/rig/geometry/picturepatch.h"

namespace cudavision {
namespace {

/// The disparity of a position is the median within `radius`. At least `min_known` of the pixels
/// must be known, with an interquartile range up to `max_spread`, so that they are on one surface.
constexpr int radius = 3;
constexpr double min_known = 0.5, max_spread = 1;
/// The largest difference of two measurements that agree, in pixels.
constexpr double agreement = 0.25;
/// Number of inspected pairs after which a missing measurement is reported.
constexpr int patience = 10;

struct KnownDistance {
  double x, y;         ///< pixels
  double millimetres;  ///< distance from the plane of the cameras
};

std::optional<KnownDistance> distance_in(const char* text) {
  double numbers[3];
  for (int i = 0; i < 3; ++i) {
    gchar* end = nullptr;
    numbers[i] = g_ascii_strtod(text, &end);
    const bool last = i == 2;
    if (end == text || !std::isfinite(numbers[i]) || *end != (last ? '\0' : ','))
      return {};
    text = end + 1;
  }
  if (numbers[0] < 0 || numbers[1] < 0 || numbers[2] <= 0)
    return {};
  return KnownDistance{numbers[0], numbers[1], numbers[2]};
}

/// Returns the disparity in pixels, or nullopt if it is unknown or the area is on two surfaces.
std::optional<double> disparity_around(View<const std::uint8_t> map,
                                       const sgm::DisparityScale& scale, int x, int y) {
  std::vector<double> known;
  int pixels = 0;
  for (int j = std::max(y - radius, 0); j <= std::min(y + radius, map.height - 1); ++j)
    for (int i = std::max(x - radius, 0); i <= std::min(x + radius, map.width / 2 - 1); ++i) {
      ++pixels;
      if (const std::optional<int> counts = rig::counts_at(map, i, j, scale))
        known.push_back(static_cast<double>(*counts) / scale.per_pixel);
    }
  if (known.empty() || static_cast<double>(known.size()) < min_known * pixels)
    return {};
  std::sort(known.begin(), known.end());
  if (known[known.size() * 3 / 4] - known[known.size() / 4] > max_spread)
    return {};
  return known[known.size() / 2];
}

/// Returns an error if these settings allow no measurement, or an empty string.
std::string problem_of(const KnownDistance& distance, View<const std::uint8_t> map,
                       const StereoSettings& settings) {
  if (const char* missing = missing_lengths(settings); *missing)
    return std::string("known-distance needs focal-length and baseline, but ") + missing +
           ", or set calibration to a file.";
  const int width = map.width / 2;
  if (std::round(distance.x) >= width || std::round(distance.y) >= map.height)
    return "known-distance: pixel (" + text_of(std::round(distance.x)) + ", " +
           text_of(std::round(distance.y)) + ") is outside the " + size_text(width, map.height) +
           " disparity map: choose a pixel inside the map.";
  const double expected = settings.focal_length * settings.baseline / distance.millimetres;
  const int largest = settings.minimum + settings.disparities - 1;
  if (expected < settings.minimum || expected > largest)
    return "known-distance: " + text_of(distance.millimetres) + " mm is a disparity of " +
           text_of(std::round(1000 * expected) / 1000) + " pixels, outside the searched range (" +
           std::to_string(settings.minimum) + " to " + std::to_string(largest) +
           "): check that the distance is in mm, or change min-disparity and num-disparities.";
  return {};
}

}  // namespace

std::string known_distance_error(const char* text) {
  if (!*text || distance_in(text))
    return {};
  return std::string("known-distance=\"") + text +
         "\" must be x,y,mm: the column and row of a pixel, at least 0, and its distance in mm, "
         "above 0, such as 320,240,1500. Leave it empty for none.";
}

DistanceEstimate DistanceMeasurement::add(const char* text, View<const std::uint8_t> map,
                                          const StereoSettings& settings,
                                          const RectifiedOptics& optics,
                                          const rig::RigRotation& corrected) {
  if (text != text_) {
    *this = DistanceMeasurement();
    text_ = text;
  }
  DistanceEstimate estimate;
  const std::optional<KnownDistance> distance = distance_in(text);
  if (!distance)
    return estimate;
  estimate.problem = problem_of(*distance, map, settings);
  if (!estimate.problem.empty())
    return estimate;
  ++pairs_;
  const int x = static_cast<int>(std::lround(distance->x));
  const int y = static_cast<int>(std::lround(distance->y));
  const std::optional<double> found = disparity_around(map, sgm::disparity_scale(settings), x, y);
  if (!found) {
    if (!done_ && pairs_ >= patience)
      estimate.problem = "known-distance: the disparity around pixel (" + std::to_string(x) + ", " +
                         std::to_string(y) +
                         ") is unknown or not uniform: choose a pixel in the middle of a textured "
                         "surface that faces the cameras.";
    return estimate;
  }
  const double expected = settings.focal_length * settings.baseline / distance->millimetres;
  estimate.offset = *found - expected;
  if (done_)
    return estimate;
  const double f = optics.focal_length;
  const auto [seen_x, seen_y] = rig::rotated_position(corrected, (x - *found - optics.center_x) / f,
                                                      (y - optics.center_y) / f);
  const double yaw =
      rig::yaw_for_column(corrected, seen_x, seen_y, (x - expected - optics.center_x) / f);
  if (last_yaw_ && std::abs(yaw - *last_yaw_) * f <= agreement) {
    estimate.yaw = (yaw + *last_yaw_) / 2;
    done_ = true;
  }
  last_yaw_ = yaw;
  return estimate;
}

}  // namespace cudavision
