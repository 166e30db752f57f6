// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/chroma/chroma_definition.h"

#include <algorithm>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

long long defined_sample_of_chroma(int bits, bool limited, long long before, long long after,
                                   long long c) {
  const long long unit = 1ll << (bits - 8);
  const long long black = limited ? 16 * unit : 0, neutral = 128 * unit;
  const long long low = limited ? 16 * unit : 0, high = limited ? 240 * unit : 256 * unit - 1;
  long long r = 256;
  if (before > black)
    r = std::min(1024ll,
                 (256 * std::max(after - black, 0ll) + (before - black) / 2) / (before - black));
  const long long product = (c - neutral) * r + 128;
  const long long quotient = product >= 0 ? product / 256 : -((-product + 255) / 256);
  return std::clamp(neutral + quotient, std::min(low, c), std::max(high, c));
}

}  // namespace

void defined_chroma(const FrameLayout& layout, bool limited_range, const ConstFrame& in,
                    const Frame& out) {
  const Channel& luma = layout.channels[layout.find(Role::luma)];
  for (const Channel& channel : layout.channels) {
    if (channel.role != Role::chroma)
      continue;
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x) {
        const int at_x = x * channel.subsampling_x, at_y = y * channel.subsampling_y;
        put_sample(layout, out, channel, x, y,
                   static_cast<int>(defined_sample_of_chroma(
                       layout.bits, limited_range, defined_sample(layout, in, luma, at_x, at_y),
                       defined_sample(layout, out, luma, at_x, at_y),
                       defined_sample(layout, in, channel, x, y))));
      }
  }
}

}  // namespace cudavision::test
