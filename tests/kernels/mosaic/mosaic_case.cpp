// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/mosaic/mosaic_case.h"

#include <algorithm>

#include "tests/kernels/mosaic/mosaic_definition.h"

namespace cudavision::test {
namespace {

/// Limits the time of the definition, which looks up a block for each sample.
constexpr int max_samples = 1 << 19;

}  // namespace

mosaic::Parameters blocks_of(int size) {
  mosaic::Parameters parameters;
  parameters.block_size = size;
  return parameters;
}

mosaic::Parameters solid_colour(int bits) {
  mosaic::Parameters parameters;
  parameters.solid = true;
  const int largest = (1 << bits) - 1;
  parameters.values = {static_cast<std::uint16_t>(largest), static_cast<std::uint16_t>(largest / 3),
                       0, static_cast<std::uint16_t>(largest / 2)};
  return parameters;
}

MosaicCase make_mosaic_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<MosaicCase>(number, std::min(max_pixels, max_samples), random);
  mosaic::Parameters& p = test.parameters;
  p.block_size = std::max(2, random.log_uniform(256));
  p.solid = random.one_in(5);
  const int largest = (1 << test.layout.bits) - 1;
  for (std::uint16_t& value : p.values)
    value = static_cast<std::uint16_t>(random.between(0, largest));
  p.hide_alpha = !random.one_in(3);
  p.fields = random.one_in(3);
  return drawn(test, random);
}

std::string describe(const MosaicCase& test) {
  const mosaic::Parameters& p = test.parameters;
  std::string text = "blocks of " + std::to_string(p.block_size);
  if (p.solid) {
    text += ", solid";
    for (const unsigned value : p.values)
      text += " " + std::to_string(value);
  }
  return describe(test, text + (p.hide_alpha ? "" : ", alpha kept") + (p.fields ? ", fields" : ""));
}

void MosaicCase::define(const ConstFrame& from, const Frame& to) const {
  defined_mosaic(layout, parameters, from, to);
}

mosaic::Parameters MosaicCase::other_parameters() const {
  Parameters other;
  other.block_size = parameters.block_size == 7 ? 12 : 7;
  other.solid = !parameters.solid;
  for (std::size_t i = 0; i < other.values.size(); ++i)
    other.values[i] = parameters.values[i] == 3 ? 4 : 3;
  other.hide_alpha = !parameters.hide_alpha;
  other.fields = !parameters.fields;
  return other;
}

}  // namespace cudavision::test
