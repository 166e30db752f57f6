// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The validation of parameters, and the values that follow from them.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "cuda/sgm/backend.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {
namespace {

using Census = Config::Census;
using Compatibility = Config::Compatibility;

constexpr int disparity_step = 32, max_disparities = 1024;
constexpr int furthest = 2047;  // pixels; in sixteenths they still fit signed 16 bits
constexpr int largest_cost = 255;
constexpr double min_alpha = 1.0 / 256;

std::string text(int number) {
  return std::to_string(number);
}

std::string text(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", number);
  return digits;
}

std::string config_error(const Config& config) {
  const int count = config.disparities;
  if (count < disparity_step || count > max_disparities || count % disparity_step != 0)
    return "num-disparities is " + text(count) + "; make it a multiple of 32 from 32 to 1024";
  if (config.minimum < -furthest || config.minimum > furthest - count)
    return "min-disparity is " + text(config.minimum) + "; with num-disparities " + text(count) +
           " make it " + text(-furthest) + " to " + text(furthest - count);
  if (config.paths != 4 && config.paths != 8)
    return "paths is " + text(config.paths) + "; make it 4 or 8";
  if (census_bits(config.census) == 0)
    return "census is unknown; make it census-gradient, symmetric-9x7, neighbours-9x7 or "
           "neighbours-5x5";
  if (config.compatibility != Compatibility::none && config.compatibility != Compatibility::libsgm)
    return "compatibility is unknown; make it none or libsgm";
  if (config.libsgm() && config.census != Census::symmetric_9x7)
    return "compatibility=libsgm needs census=symmetric-9x7; set that census, or "
           "compatibility=none";
  if (!(config.memory_budget > 0))
    return "memory-budget is " + std::to_string(config.memory_budget) +
           "; make it a share of the free memory, at most 1, or a number of bytes";
  return {};
}

/// Path costs then fit a byte.
int largest_p2(const Config& config) {
  return largest_cost - census_bits(config.census);
}

/// Returns the default P1 and P2 of a census. Chosen by the error on pairs with ground truth.
std::pair<int, int> own_penalties(const Config& config) {
  if (config.census != Census::census_gradient)
    return {10, 120};
  return config.paths == 8 ? std::pair{10, 50} : std::pair{14, 60};
}

std::string penalty_error(const Parameters& parameters) {
  const int bits = census_bits(parameters.census);
  const int largest = largest_p2(parameters);
  if (parameters.p2 < 2 || parameters.p2 > largest)
    return "p2 is " + text(parameters.p2) + "; with a census of " + text(bits) +
           " bits make it 2 to " + text(largest) + ", or 0 for the default of the census";
  if (parameters.p1 < 1 || parameters.p1 >= parameters.p2)
    return "p1 is " + text(parameters.p1) + "; make it at least 1 and less than p2, which is " +
           text(parameters.p2) + ", or 0 for the default of the census";
  return {};
}

std::string cleaning_error(const Parameters& parameters) {
  using Method = Parameters::SubpixelMethod;
  if (parameters.subpixel_method != Method::equiangular &&
      parameters.subpixel_method != Method::parabola)
    return "subpixel-method is unknown; make it equiangular or parabola";
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
  if (parameters.confidence_threshold < 0 || parameters.confidence_threshold > 255)
    return "confidence-threshold is " + text(parameters.confidence_threshold) +
           "; make it 1 to 255, or 0 to keep all disparities";
  return {};
}

std::string temporal_error(const Parameters& parameters) {
  if (!(parameters.temporal_alpha >= min_alpha && parameters.temporal_alpha <= 1))
    return "temporal-alpha is " + text(parameters.temporal_alpha) +
           "; make it 1/256 to 1, where 1 is no smoothing";
  if (parameters.temporal_delta < 0 || parameters.temporal_delta > 1024)
    return "temporal-delta is " + text(parameters.temporal_delta) + "; make it 0 to 1024";
  if (parameters.temporal_persistence < 0 || parameters.temporal_persistence > 255)
    return "temporal-persistence is " + text(parameters.temporal_persistence) +
           "; make it 1 to 255 frames, or 0 to keep nothing";
  return {};
}

}  // namespace

Config resolved(Config config) noexcept {
  if (config.paths == Config::automatic)
    config.paths = config.libsgm() ? 8 : 4;
  if (config.census == Census::automatic)
    config.census = config.libsgm() ? Census::symmetric_9x7 : Census::census_gradient;
  return config;
}

Parameters resolved(Parameters parameters) noexcept {
  static_cast<Config&>(parameters) = resolved(static_cast<const Config&>(parameters));
  const auto [p1, p2] = own_penalties(parameters);
  const bool automatic_p1 = parameters.p1 == 0, automatic_p2 = parameters.p2 == 0;
  if (automatic_p2)
    parameters.p2 = automatic_p1 || parameters.p1 < p2
                        ? p2
                        : std::min(parameters.p1, largest_p2(parameters) - 1) + 1;
  if (automatic_p1)
    parameters.p1 = std::min(p1, std::max(parameters.p2, 2) - 1);
  if (parameters.speckle_size == Parameters::automatic)
    parameters.speckle_size = parameters.libsgm() ? 0 : 100;
  return parameters;
}

std::string validation_error(const Parameters& given) {
  const Parameters parameters = resolved(given);
  if (std::string error = config_error(parameters); !error.empty())
    return error;
  if (std::string error = penalty_error(parameters); !error.empty())
    return error;
  if (std::string error = cleaning_error(parameters); !error.empty())
    return error;
  return temporal_error(parameters);
}

Subpixel subpixel_of(const Parameters& parameters) noexcept {
  if (!parameters.subpixel)
    return Subpixel::none;
  if (parameters.libsgm())
    return Subpixel::libsgm;
  return parameters.subpixel_method == Parameters::SubpixelMethod::parabola ? Subpixel::parabola
                                                                            : Subpixel::equiangular;
}

DisparityScale disparity_scale(const Parameters& parameters) noexcept {
  const bool whole = parameters.libsgm() && !parameters.subpixel;
  const int per_pixel = whole ? 1 : 16;
  return {per_pixel, static_cast<std::uint16_t>((parameters.minimum - 1) * per_pixel)};
}

TemporalFilter temporal_filter(const Parameters& parameters) noexcept {
  return {static_cast<int>(std::rint(256 * parameters.temporal_alpha)),
          parameters.temporal_delta * disparity_scale(parameters).per_pixel,
          parameters.temporal_persistence};
}

Penalties penalties_for(const Parameters& given) {
  const Parameters parameters = resolved(given);
  const bool adaptive = parameters.adaptive_p2 && !parameters.libsgm();
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
