// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/colorsamples.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

/// Luma weights of red, green and blue, in 1/unit. Colour matrices have at most four decimals.
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

/// Returns base + numerator/denominator, rounded half up. The denominator must be positive.
std::int64_t rounded(std::int64_t base, std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t twice = 2 * numerator + denominator;
  const std::int64_t floor = twice / (2 * denominator) - (twice % (2 * denominator) < 0 ? 1 : 0);
  return base + floor;
}

}  // namespace

ColorSamples color_samples(const FrameFormat& format, guint32 argb) {
  const FrameLayout& layout = format.layout;
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
  const auto sample = [&](int channel) {
    switch (layout.channels[channel].role) {
      case Role::red:
        return scaled(red);
      case Role::green:
        return scaled(green);
      case Role::blue:
        return scaled(blue);
      case Role::alpha:
        return scaled(argb >> 24 & 0xff);
      case Role::luma:
        return rounded(format.low, (format.high - format.low) * luma, 255 * Weights::unit);
      case Role::chroma:
        break;
    }
    // Channels are in the order Y, U, V in any layout.
    return channel == 1 ? chroma(blue, weights.blue) : chroma(red, weights.red);
  };

  ColorSamples samples{};
  for (int c = 0; c < layout.channel_count; ++c)
    samples[c] = static_cast<std::uint16_t>(std::clamp<std::int64_t>(sample(c), 0, largest));
  return samples;
}

}  // namespace cudavision
