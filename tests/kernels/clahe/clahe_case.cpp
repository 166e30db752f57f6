// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/clahe/clahe_case.h"

#include <algorithm>
#include <cstdio>

#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {

clahe::Tiles random_tiles(Random& random, int bits) {
  clahe::Tiles tiles;
  if (random.one_in(4))
    return tiles;
  constexpr int max_entries = 1 << 20;
  do {
    tiles.columns = random.log_uniform(clahe::Tiles::range.max);
    tiles.rows = random.log_uniform(clahe::Tiles::range.max);
  } while (static_cast<std::int64_t>(tiles.columns) * tiles.rows << bits > max_entries);
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
  auto test = random_frame_case<ClaheCase>(number, max_pixels, random);
  test.tiles = random_tiles(random, test.layout.bits);
  draw_placements(test, random);
  draw_content(test, random);
  test.parameters.clip_limit = random_clip_limit(random);
  draw_parameters(test.layout, 3, random, test.parameters);
  test.parameters_later = random.one_in(3);
  return test;
}

ClaheCase plain_clahe_case(const FrameLayout& layout, const clahe::Tiles& tiles, double clip_limit,
                           Content content, std::uint64_t seed) {
  ClaheCase test = plain_case<ClaheCase>(layout, {}, content, seed);
  test.tiles = tiles;
  set_full_range(layout, test.parameters);
  test.parameters.clip_limit = clip_limit;
  return test;
}

SmoothedSequence<ClaheCase> make_smoothed_clahe_sequence(std::uint64_t seed, int number,
                                                         int max_pixels) {
  constexpr std::uint64_t own = 0x5c1a4e;
  constexpr int largest = 1 << 16;            // in pixels; limits the time of the definition
  constexpr std::int64_t max_bins = 1 << 18;  // in bins of all tiles; also limits the time
  Random random = random_of_case(seed ^ own, number);
  ClaheCase first = make_clahe_case(seed ^ own, number, std::min(max_pixels, largest));
  while (std::int64_t{first.tiles.columns} * first.tiles.rows << first.layout.bits > max_bins) {
    first.tiles.columns = (first.tiles.columns + 1) / 2;
    first.tiles.rows = (first.tiles.rows + 1) / 2;
  }
  return draw_sequence(
      first, 6, true, random,
      [&](ClaheCase& test) { test.parameters.clip_limit = random_clip_limit(random); },
      [](ClaheCase&) {});
}

std::string parameters_text(const ClaheCase& test) {
  char clip_limit[40];
  std::snprintf(clip_limit, sizeof clip_limit, "%.17g", test.parameters.clip_limit);
  return "clip limit " + std::string(clip_limit) + ", " + describe(test.parameters);
}

std::string describe(const ClaheCase& test) {
  return describe(test, std::to_string(test.tiles.columns) + "×" + std::to_string(test.tiles.rows) +
                            " tiles, " + parameters_text(test));
}

void ClaheCase::enqueue(Operation& operation, const ConstFrame& from, const Frame& to) const {
  if (restart)
    operation.restart();
  operation.run(from, to, smoothing);
}

void ClaheCase::define(const ConstFrame& from, const Frame& to) const {
  defined_adaptive_equalization(layout, tiles, parameters, from, to);
}

clahe::Parameters ClaheCase::other_parameters() const {
  return {other_than(layout, parameters), parameters.clip_limit == 5 ? 6.0 : 5.0};
}

std::vector<std::uint8_t> defined_output(const ClaheCase& test,
                                         const std::vector<std::uint8_t>& input,
                                         std::uint8_t poison, DefinedSmoothedClahe& smoothing) {
  std::vector<std::uint8_t> out(test.out.bytes, poison);
  smoothing.next(test.layout, test.tiles, test.parameters, *test.smoothing,
                 frame_in(test.layout, test.in, input.data()),
                 frame_in(test.layout, test.out, out.data()));
  return out;
}

}  // namespace cudavision::test
