// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "gst/base/regions/regionsettings.h"
#include "gst/core/elementerror.h"

namespace cudavision {

/// The settings of an element that hides regions. Larger regions need more strength.
struct StrengthSettings : RegionSettings {
  double region_strength = 0;
};

template <class Settings>
void add_strength_property(ElementProperties<Settings>& all, const char* description) {
  all.add({"region-strength", "Region strength", description}, &Settings::region_strength,
          Range<double>{0, 1});
}

/// Computes the strength that a frame's largest region needs.
class RegionStrength {
 public:
  /// share is the strength divided by the region's shorter side. It stays in force while settings
  /// are invalid, so that larger regions still get more strength.
  void set_share(double share) { share_ = share; }

  /// Returns the minimum strength in pixels, rounded up to one of about six steps per octave, so
  /// that tables rarely change. max is the maximum of the element's property.
  template <class Number>
  Number find(int side, Number max, const char* property) {
    const double wanted = share_ * side;
    if (wanted <= 0)
      return 0;
    if (wanted > max && !warned_) {
      warned_ = true;
      warning_ =
          "region-strength=" + text_of(share_) + " needs " + property + "=" +
          text_of(std::ceil(wanted)) + " for " + std::to_string(side) +
          " pixels (the largest region's shorter side or, outside of regions, at least a third of "
          "the frame's), but " +
          text_of(max) +
          " is the maximum, so less is hidden. Use cudapixelate with method=solid, or scale the "
          "frames down.";
    }
    const double stepped = std::exp2(std::ceil(6 * std::log2(wanted)) / 6);
    if constexpr (std::is_integral_v<Number>)
      return std::min(static_cast<Number>(std::max(std::ceil(wanted), std::floor(stepped))), max);
    else
      return std::min(stepped, max);
  }

  /// Posts the warning about the first strength above the maximum. No context may be current.
  void post_warning(GstElement* element) {
    if (const std::string text = std::exchange(warning_, {}); !text.empty())
      cudavision::post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
  }

 private:
  double share_ = 0;
  bool warned_ = false;
  std::string warning_;
};

}  // namespace cudavision
