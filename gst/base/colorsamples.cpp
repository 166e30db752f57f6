// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/colorsamples.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

/// The weights of red, green and blue in luma, in units of 1/unit. All matrices have four decimals.
struct Weights {
  static constexpr std::int64_t unit = 10000;
  std::int64_t red, green, blue;
};

Weights weights_of(const GstVideoInfo& info) {
  double red = 0.299, blue = 0.114;
  gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &red, &blue);
  Weights weights;
  weights.red = std::llrint(red * Weights::unit);
  weights.blue = std::llrint(blue * Weights::unit);
  weights.green = Weights::unit - weights.red - weights.blue;
  return weights;
}

/// base + numerator/denominator, rounded half up; denominator > 0.
std::int64_t rounded(std::int64_t base, std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t twice = 2 * numerator + denominator;
  const std::int64_t floor = twice / (2 * denominator) - (twice % (2 * denominator) < 0 ? 1 : 0);
  return base + floor;
}

}  // namespace

ColorSamples color_samples(const FrameFormat& format, guint32 argb) {
  const FrameLayout& layout = format.layout;
  const int alpha = argb >> 24 & 0xff;
  const int red = argb >> 16 & 0xff;
  const int green = argb >> 8 & 0xff;
  const int blue = argb & 0xff;

  const std::int64_t largest = (1 << layout.bits) - 1;
  const std::int64_t middle = 1 << (layout.bits - 1);
  const bool limited = format.low > 0;
  const std::int64_t chroma_span = limited ? 224 << (layout.bits - 8) : largest;

  const Weights weights = weights_of(format.info);
  const std::int64_t luma = weights.red * red + weights.green * green + weights.blue * blue;
  const auto chroma = [&](int colour, std::int64_t weight) {
    return rounded(middle, chroma_span * (Weights::unit * colour - luma),
                   255 * 2 * (Weights::unit - weight));
  };
  const auto scaled = [&](int value) { return rounded(0, largest * value, 255); };

  ColorSamples samples{};
  bool first_chroma = true;  // components are in the order Y, U, V, wherever they lie in memory
  for (int c = 0; c < layout.channel_count; ++c) {
    std::int64_t value = 0;
    switch (layout.channels[c].role) {
      case Role::red:
        value = scaled(red);
        break;
      case Role::green:
        value = scaled(green);
        break;
      case Role::blue:
        value = scaled(blue);
        break;
      case Role::alpha:
        value = scaled(alpha);
        break;
      case Role::luma:
        value = rounded(format.low, (format.high - format.low) * luma, 255 * Weights::unit);
        break;
      case Role::chroma:
        value = first_chroma ? chroma(blue, weights.blue) : chroma(red, weights.red);
        first_chroma = false;
        break;
    }
    samples[c] = static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 0, largest));
  }
  return samples;
}

}  // namespace cudavision
