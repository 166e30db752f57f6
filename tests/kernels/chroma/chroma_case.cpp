// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/chroma/chroma_case.h"

#include <algorithm>
#include <vector>

#include "tests/kernels/mosaic/mosaic_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

std::vector<LayoutKind> kinds_with_chroma() {
  std::vector<LayoutKind> kinds;
  for (const LayoutKind& kind : layout_kinds())
    if (kind.make(4, 4).find(Role::chroma) >= 0)
      kinds.push_back(kind);
  return kinds;
}

/// The chroma of a sample, in floor divisions of whole numbers.
long long defined_chroma(int bits, bool limited, long long before, long long after, long long c) {
  const long long unit = 1ll << (bits - 8);
  const long long black = limited ? 16 * unit : 0, neutral = 128 * unit;
  long long low = limited ? 16 * unit : 0, high = limited ? 240 * unit : 256 * unit - 1;
  long long r = 256;
  if (before > black)
    r = std::min(1024ll,
                 (256 * std::max(after - black, 0ll) + (before - black) / 2) / (before - black));
  const long long product = (c - neutral) * r + 128;
  const long long quotient = product >= 0 ? product / 256 : -((-product + 255) / 256);
  low = std::min(low, c);
  high = std::max(high, c);
  return std::clamp(neutral + quotient, low, high);
}

}  // namespace

mosaic::Parameters MosaicWithChroma::blocks() {
  mosaic::Parameters parameters;
  parameters.block_size = 3;
  return parameters;
}

ChromaCase make_chroma_case(std::uint64_t seed, int number, int max_pixels) {
  static const std::vector<LayoutKind> kinds = kinds_with_chroma();
  Random random = random_of_case(seed, number);
  const LayoutKind& kind = kinds[static_cast<std::size_t>(number) % kinds.size()];
  ChromaCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  const auto [width, height] = random_picture_size(random, std::min(max_pixels, 1 << 19));
  test.layout = test.out_layout = kind.make(width, height);
  test.parameters.limited_range = random.one_in(2);
  draw_placements(test, random);
  draw_content(test, random);
  test.parameters_later = random.one_in(3);
  return test;
}

std::string describe(const ChromaCase& test) {
  return describe(test, test.parameters.limited_range ? "limited range" : "full range");
}

void ChromaCase::define(const ConstFrame& from, const Frame& to) const {
  defined_mosaic(layout, MosaicWithChroma::blocks(), from, to);
  const Channel& luma = layout.channels[static_cast<std::size_t>(layout.find(Role::luma))];
  for (const Channel& channel : layout.channels) {
    if (channel.role != Role::chroma)
      continue;
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x) {
        const int at_x = x * channel.subsampling_x, at_y = y * channel.subsampling_y;
        put_sample(layout, to, channel, x, y,
                   static_cast<int>(defined_chroma(layout.bits, parameters.limited_range,
                                                   defined_sample(layout, from, luma, at_x, at_y),
                                                   defined_sample(layout, to, luma, at_x, at_y),
                                                   defined_sample(layout, from, channel, x, y))));
      }
  }
}

}  // namespace cudavision::test
