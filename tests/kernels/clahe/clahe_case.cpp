// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/clahe/clahe_case.h"

#include <cstdio>

#include "tests/kernels/clahe/clahe_definition.h"

namespace cudavision::test {
namespace {

using Channels = clahe::Parameters::Channels;

clahe::Parameters full_range(const FrameLayout& layout) {
  clahe::Parameters parameters;
  parameters.high = (1 << layout.bits) - 1;
  return parameters;
}

clahe::Parameters random_parameters(const FrameLayout& layout, Random& random) {
  clahe::Parameters parameters = full_range(layout);
  parameters.clip_limit = random_clip_limit(random);
  if (is_rgb(layout)) {
    parameters.channels = random.one_in(3) ? Channels::each : Channels::luminance;
  } else if (random.one_in(2)) {
    parameters.low = 16 << (layout.bits - 8);
    parameters.high = 235 << (layout.bits - 8);
    if (random.one_in(4)) {
      parameters.low = random.between(0, (1 << layout.bits) - 2);
      parameters.high = random.between(parameters.low + 1, (1 << layout.bits) - 1);
    }
  }
  constexpr int blends[] = {0, 1, 128, 255};
  if (random.one_in(2))
    parameters.blend = random.one_in(2) ? blends[random.between(0, 3)] : random.between(0, 256);
  return parameters;
}

}  // namespace

clahe::Tiles random_tiles(Random& random, int bits) {
  clahe::Tiles tiles;
  if (random.one_in(4))
    return tiles;
  constexpr int most_entries = 1 << 20;
  do {
    tiles.columns = random.log_uniform(clahe::Tiles::most);
    tiles.rows = random.log_uniform(clahe::Tiles::most);
  } while (static_cast<std::int64_t>(tiles.columns) * tiles.rows << bits > most_entries);
  return tiles;
}

double random_clip_limit(Random& random) {
  constexpr double usual[] = {0, -1, 1, 2, 3, 4, 40};
  if (random.one_in(2))
    return usual[random.between(0, 6)];
  return random.one_in(8) ? 1e300 : random.log_uniform(1 << 20) / 1024.0;
}

ClaheCase make_clahe_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const LayoutKind& kind = layout_kind_of_case(number);

  const auto [width, height] = random_picture_size(random, max_pixels);
  ClaheCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.layout = test.out_layout = kind.make(width, height);
  test.tiles = random_tiles(random, test.layout.bits);
  draw_placements(test, random);
  draw_content(test, random);
  test.parameters = random_parameters(test.layout, random);
  test.parameters_later = random.one_in(3);
  return test;
}

ClaheCase plain_clahe_case(const FrameLayout& layout, const clahe::Tiles& tiles, double clip_limit,
                           Content content, std::uint64_t seed) {
  ClaheCase test = plain_case<ClaheCase>(layout, full_range(layout), content, seed);
  test.tiles = tiles;
  test.parameters.clip_limit = clip_limit;
  return test;
}

std::string describe(const ClaheCase& test) {
  const clahe::Parameters& p = test.parameters;
  char text[160];
  std::snprintf(text, sizeof text, "%d×%d tiles, clip limit %.17g, %s, range %d to %d, blend %d",
                test.tiles.columns, test.tiles.rows, p.clip_limit,
                p.channels == Channels::each ? "each channel" : "luminance", p.low, p.high,
                p.blend);
  return describe(test, text);
}

void ClaheCase::define(const ConstFrame& from, const Frame& to) const {
  defined_adaptive_equalization(layout, tiles, parameters, from, to);
}

clahe::Parameters ClaheCase::other_parameters() const {
  clahe::Parameters other = full_range(layout);
  other.clip_limit = parameters.clip_limit == 5 ? 6 : 5;
  other.blend = parameters.blend == 77 ? 78 : 77;
  if (is_rgb(layout) && parameters.channels == Channels::luminance)
    other.channels = Channels::each;
  if (!is_rgb(layout) && parameters.high == other.high) {
    ++other.low;
    --other.high;
  }
  return other;
}

}  // namespace cudavision::test
