// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/sgm/sgmstereo.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {
namespace {

using Census = Parameters::Census;
using Compatibility = Parameters::Compatibility;

constexpr int disparity_step = 32, most_disparities = 1024;
constexpr int furthest = 2047;  // in pixels; sixteenths of them fit 16 bits
constexpr int largest_cost = 255;

std::string text(int number) {
  return std::to_string(number);
}

std::string wrong_search(const Parameters& parameters) {
  const int count = parameters.disparities;
  if (count < disparity_step || count > most_disparities || count % disparity_step != 0)
    return "num-disparities is " + text(count) + "; make it a multiple of 32 from 32 to 1024";
  if (parameters.minimum < -furthest || parameters.minimum > furthest - count)
    return "min-disparity is " + text(parameters.minimum) + "; with num-disparities " +
           text(count) + " make it " + text(-furthest) + " to " + text(furthest - count);
  if (parameters.paths != 4 && parameters.paths != 8)
    return "paths is " + text(parameters.paths) + "; make it 4 or 8";
  if (census_bits(parameters.census) == 0)
    return "census is none of those that there are; make it symmetric-9x7, neighbours-9x7 or "
           "neighbours-5x5";
  if (parameters.compatibility != Compatibility::none &&
      parameters.compatibility != Compatibility::libsgm)
    return "compatibility is none of those that there are; make it none or libsgm";
  if (parameters.compatibility == Compatibility::libsgm &&
      parameters.census != Census::symmetric_9x7)
    return "compatibility=libsgm knows no other census than symmetric-9x7; choose that one, or "
           "compatibility=none";
  return {};
}

std::string wrong_penalties(const Parameters& parameters) {
  const int bits = census_bits(parameters.census);
  const int largest = largest_cost - bits;
  if (parameters.p2 < 2 || parameters.p2 > largest)
    return "p2 is " + text(parameters.p2) + "; with a census of " + text(bits) +
           " bits make it 2 to " + text(largest);
  if (parameters.p1 < 1 || parameters.p1 >= parameters.p2)
    return "p1 is " + text(parameters.p1) + "; make it at least 1 and less than p2, which is " +
           text(parameters.p2);
  return {};
}

std::string wrong_refinement(const Parameters& parameters) {
  if (!(parameters.uniqueness >= 0 && parameters.uniqueness <= 1))
    return "uniqueness is " + std::to_string(parameters.uniqueness) + "; make it 0 to 1";
  if (parameters.lr_max_diff < -1 || parameters.lr_max_diff > 1024)
    return "lr-max-diff is " + text(parameters.lr_max_diff) +
           "; make it 0 to 1024, or -1 for no left-right check";
  if (parameters.speckle_size < 0)
    return "speckle-size is " + text(parameters.speckle_size) +
           "; make it a number of pixels, or 0 to keep all speckles";
  if (parameters.speckle_range < 0 || parameters.speckle_range > 1024)
    return "speckle-range is " + text(parameters.speckle_range) + "; make it 0 to 1024";
  return {};
}

}  // namespace

bool Parameters::operator==(const Parameters& other) const noexcept {
  return disparities == other.disparities && minimum == other.minimum && paths == other.paths &&
         census == other.census && compatibility == other.compatibility && p1 == other.p1 &&
         p2 == other.p2 && uniqueness == other.uniqueness && lr_max_diff == other.lr_max_diff &&
         subpixel == other.subpixel && median == other.median &&
         speckle_size == other.speckle_size && speckle_range == other.speckle_range &&
         fill_holes == other.fill_holes && adaptive_p2 == other.adaptive_p2;
}

int census_bits(Census census) noexcept {
  switch (census) {
    case Census::symmetric_9x7:
      return 31;
    case Census::neighbours_9x7:
      return 62;
    case Census::neighbours_5x5:
      return 24;
  }
  return 0;
}

std::string wrong_with(const Parameters& parameters) {
  for (const auto& wrong : {wrong_search, wrong_penalties, wrong_refinement})
    if (std::string words = wrong(parameters); !words.empty())
      return words;
  return {};
}

DisparityScale disparity_scale(const Parameters& parameters) noexcept {
  const bool whole = parameters.compatibility == Compatibility::libsgm && !parameters.subpixel;
  const int per_pixel = whole ? 1 : 16;
  return {per_pixel, static_cast<std::uint16_t>((parameters.minimum - 1) * per_pixel)};
}

int Config::feature_bytes() const noexcept {
  return census_bits(census) > 32 ? 8 : 4;
}

Config config_of(const FrameLayout& layout, const Parameters& parameters) {
  Config config;
  config.width = layout.width;
  config.height = layout.height;
  config.bits = layout.bits;
  config.disparities = parameters.disparities;
  config.minimum = parameters.minimum;
  config.paths = parameters.paths;
  config.census = parameters.census;
  config.compatibility = parameters.compatibility;
  return config;
}

Penalties penalties_for(const Parameters& parameters) {
  const bool adaptive = parameters.adaptive_p2 && parameters.compatibility == Compatibility::none;
  Penalties penalties;
  penalties.p1 = parameters.p1;
  for (int step = 0; step < static_cast<int>(penalties.p2.size()); ++step) {
    const int p2 = adaptive ? 16 * parameters.p2 / (16 + step) : parameters.p2;
    penalties.p2[static_cast<std::size_t>(step)] =
        static_cast<std::uint8_t>(std::max(parameters.p1 + 1, p2));
  }
  return penalties;
}

}  // namespace cudavision::sgm
