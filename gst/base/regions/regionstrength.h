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

/// The settings of an element that hides regions, the stronger the larger they are.
struct StrengthSettings : RegionSettings {
  double region_strength = 0;
};

template <class Settings>
void add_strength_property(ElementProperties<Settings>& all, const char* description) {
  all.add({"region-strength", "Region strength", description}, &Settings::region_strength,
          Range<double>{0, 1});
}

/// The strength for a frame's largest region.
class RegionStrength {
 public:
  /// Returns how many pixels the strength must have at least: the share of the region's shorter
  /// side, in about six steps for each octave, so that tables rarely change. `largest` is the most
  /// that the element can do, in the property of this name.
  template <class Number>
  Number find(double share, int side, Number largest, const char* property) {
    const double wanted = share * side;
    if (wanted <= 0)
      return 0;
    if (wanted > largest && !warned_) {
      warned_ = true;
      warning_ =
          "region-strength=" + text_of(share) + " needs " + property + "=" +
          text_of(std::ceil(wanted)) + " for a region of " + std::to_string(side) +
          " pixels, but " + text_of(largest) +
          " is the maximum, which hides it less. Hide it by cudapixelate, by method=solid of "
          "cudapixelate, or scale the frames down.";
    }
    const double stepped = std::exp2(std::ceil(6 * std::log2(wanted)) / 6);
    if constexpr (std::is_integral_v<Number>)
      return std::min(static_cast<Number>(std::max(std::ceil(wanted), std::floor(stepped))),
                      largest);
    else
      return std::min(stepped, largest);
  }

  /// Posts the warning about the first region that is too large. No context may be current.
  void post_warning(GstElement* element) {
    if (const std::string text = std::exchange(warning_, {}); !text.empty())
      cudavision::post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
  }

 private:
  bool warned_ = false;
  std::string warning_;
};

}  // namespace cudavision
