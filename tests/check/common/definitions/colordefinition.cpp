// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/colordefinition.h"

#include <algorithm>
#include <cmath>

namespace check {

using cudavision::Role;

std::uint16_t color_sample(std::uint32_t argb, bool limited, const cudavision::FrameLayout& layout,
                           int channel) {
  const auto component = [&](int shift) {
    return static_cast<long double>(argb >> shift & 0xff) / 255;
  };
  const long double red = component(16), green = component(8), blue = component(0);
  const long double kr = 0.299, kb = 0.114;  // BT.601
  const long double luma = kr * red + (1 - kr - kb) * green + kb * blue;
  const long double peak = (1 << layout.bits) - 1, unit = 1 << (layout.bits - 8);
  const long double chroma_span = limited ? 224 * unit : peak;
  const auto sample = [&]() -> long double {
    switch (layout.channels[channel].role) {
      case Role::luma:
        return limited ? 16 * unit + 219 * unit * luma : peak * luma;
      case Role::chroma:
        return 128 * unit + chroma_span * (channel == 1 ? (blue - luma) / (2 * (1 - kb))
                                                        : (red - luma) / (2 * (1 - kr)));
      case Role::red:
        return peak * red;
      case Role::green:
        return peak * green;
      case Role::blue:
        return peak * blue;
      default:
        return peak * component(24);
    }
  }();
  // Rounds ties up, including ties that rounding errors put slightly lower.
  return static_cast<std::uint16_t>(std::clamp(std::floor(sample + 0.5L + 1e-9L), 0.0L, peak));
}

}  // namespace check
