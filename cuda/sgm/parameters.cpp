// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <utility>

#include "cuda/core/layoutcheck.h"
#include "cuda/sgm/backend.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {
namespace {

using Census = Config::Census;
using Compatibility = Config::Compatibility;

std::string wrong(const std::string& name, const std::string& value, const std::string& advice) {
  return name + " is " + value + "; make it " + advice;
}

std::string config_error(const Config& config, Wording word) {
  using Ranges = Config::Ranges;
  constexpr int step = Config::disparity_step;
  const int count = config.disparities;
  if (!Ranges::disparities.contains(count) || count % step != 0)
    return wrong(word("disparities"), text_of(count),
                 "a multiple of " + text_of(step) + " from " + text_of(Ranges::disparities));
  const Range<int> minimum{Ranges::minimum.min, Config::max_disparity - count};
  if (!minimum.contains(config.minimum))
    return word("minimum") + " is " + text_of(config.minimum) + "; with " + word("disparities") +
           "=" + text_of(count) + ", make it " + text_of(minimum);
  if (config.paths != Ranges::paths.min && config.paths != Ranges::paths.max)
    return wrong(word("paths"), text_of(config.paths),
                 text_of(Ranges::paths.min) + " or " + text_of(Ranges::paths.max));
  if (census_bits(config.census) == 0)
    return wrong(word("census"), "unknown",
                 word("census_gradient") + ", " + word("symmetric_9x7") + ", " +
                     word("neighbours_9x7") + " or " + word("neighbours_5x5"));
  if (config.compatibility != Compatibility::none && config.compatibility != Compatibility::libsgm)
    return wrong(word("compatibility"), "unknown", word("none") + " or " + word("libsgm"));
  if (config.libsgm() && config.census != Census::symmetric_9x7)
    return word("compatibility") + "=" + word("libsgm") + " needs " + word("census") + "=" +
           word("symmetric_9x7") + "; set that census, or " + word("compatibility") + "=" +
           word("none");
  if (!(config.memory_budget > 0))
    return wrong(word("memory_budget"), text_of(config.memory_budget),
                 "a positive share (up to 1) of the free memory, or a number of bytes");
  return {};
}

int largest_p2(const Config& config) {
  return Parameters::Ranges::p2.max - census_bits(config.census);
}

/// Returns the defaults of P1 and P2, which were chosen by the error on pairs with ground truth.
std::pair<int, int> default_penalties(const Config& config) {
  if (config.census != Census::census_gradient)
    return {10, 120};
  return config.paths == 8 ? std::pair{10, 50} : std::pair{14, 60};
}

std::string penalty_error(const Parameters& parameters, Wording word) {
  constexpr char or_automatic[] = ", or 0 to choose it automatically";
  const Range<int> p2{2, largest_p2(parameters)};
  if (!p2.contains(parameters.p2))
    return word("p2") + " is " + text_of(parameters.p2) + "; with a census of " +
           text_of(census_bits(parameters.census)) + " bits, make it " + text_of(p2) + or_automatic;
  if (parameters.p1 < 1 || parameters.p1 >= parameters.p2)
    return wrong(
        word("p1"), text_of(parameters.p1),
        "at least 1 and less than " + word("p2") + " = " + text_of(parameters.p2) + or_automatic);
  return {};
}

std::string cleaning_error(const Parameters& parameters, Wording word) {
  using Method = Parameters::SubpixelMethod;
  using Ranges = Parameters::Ranges;
  constexpr Range<double> alpha = Ranges::temporal_alpha;
  if (parameters.subpixel_method != Method::equiangular &&
      parameters.subpixel_method != Method::parabola)
    return wrong(word("subpixel_method"), "unknown",
                 word("equiangular") + " or " + word("parabola"));
  if (!Ranges::speckle_size.contains(parameters.speckle_size))
    return wrong(word("speckle_size"), text_of(parameters.speckle_size),
                 "a number of pixels, or 0 to keep all speckles");
  if (!alpha.contains(parameters.temporal_alpha))
    return wrong(word("temporal_alpha"), text_of(parameters.temporal_alpha),
                 "1/" + text_of(1 / alpha.min) + " to " + text_of(alpha.max) +
                     ", where 1 disables smoothing");
  return {};
}

/// Returns an error message, or an empty string if the range contains the value. The message gives
/// the range as `low` to range.max, followed by `also`. Does not allocate for valid values.
template <class Number>
std::string range_error(Wording word, const char* name, Number value, const Range<Number>& range,
                        const char* also = "", Number low = 0) {
  return range.contains(value)
             ? std::string()
             : wrong(word(name), text_of(value), text_of(Range<Number>{low, range.max}) + also);
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
  const auto [p1, p2] = default_penalties(parameters);
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

std::string validation_error(const Parameters& given, Wording word) {
  using Ranges = Parameters::Ranges;
  const Parameters p = resolved(given);
  const double noise = p.noise == Parameters::automatic_noise ? 0 : p.noise;
  for (const std::string& error :
       {config_error(p, word), penalty_error(p, word), cleaning_error(p, word),
        range_error(word, "uniqueness", p.uniqueness, Ranges::uniqueness),
        range_error(word, "lr_max_diff", p.lr_max_diff, Ranges::lr_max_diff,
                    ", or -1 for no left-right check"),
        range_error(word, "speckle_range", p.speckle_range, Ranges::speckle_range),
        range_error(word, "confidence_threshold", p.confidence_threshold,
                    Ranges::confidence_threshold, ", or 0 to keep all disparities", 1),
        range_error(word, "noise", noise, {0, Ranges::noise.max}, ", or -1 to measure it"),
        range_error(word, "temporal_delta", p.temporal_delta, Ranges::temporal_delta),
        range_error(word, "temporal_persistence", p.temporal_persistence,
                    Ranges::temporal_persistence, " frames, or 0 to keep nothing", 1)})
    if (!error.empty())
      return error;
  return {};
}

void check_rows(const char* operation, const char* name, View<const std::uint8_t> rows, int height,
                int row_bytes) {
  if (!rows || rows.width != row_bytes || rows.height != height)
    refuse(operation, std::string("the ") + name + " must be " + text_of(height) + " rows of " +
                          text_of(row_bytes) + " bytes, not " + text_of(rows.height) + " of " +
                          text_of(rows.width));
}

bool heeds_noise(const Parameters& parameters) noexcept {
  return parameters.noise != 0 && resolved(parameters).census == Census::census_gradient;
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

Penalties penalties_under(const NoiseLevel& noise, const Penalties& penalties) {
  Penalties raised = penalties;
  raised.p1 = noisy_p1(penalties.p1, penalties.p2[0], noise);
  for (std::uint8_t& p2 : raised.p2)
    p2 = std::max(p2, static_cast<std::uint8_t>(raised.p1 + 1));
  return raised;
}

}  // namespace cudavision::sgm
