// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/localstatistics/localstatistics_case.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace cudavision::test {
namespace {

using Output = localstatistics::Parameters::Output;

/// Draws a radius from 0 (a window of one pixel) to 65535 (a window that covers every frame).
int random_radius(Random& random) {
  constexpr int ends[] = {0, 1, 65534, 65535};
  return random.one_in(6)   ? ends[random.between(0, 3)]
         : random.one_in(4) ? random.log_uniform(65535)
                            : random.log_uniform(300);
}

/// Draws a share from 0 to 1 in steps of 2^-17. The operation rounds ratios to steps of 2^-16.
double random_share(Random& random) {
  constexpr int ends[] = {0, 1, 131071, 131072};
  return (random.one_in(4) ? ends[random.between(0, 3)] : random.between(0, 131072)) / 131072.0;
}

localstatistics::Parameters random_parameters(const FrameLayout& layout, Random& random) {
  localstatistics::Parameters parameters;
  parameters.output = static_cast<Output>(random.between(0, 3));
  parameters.radius = random_radius(random);
  parameters.ratio = random_share(random);
  parameters.k = random_share(random);
  // Draws ranges up to about half the largest level, because no deviation is larger.
  parameters.range = random.one_in(3) ? 0 : random.between(1, 1 << (layout.bits + 3)) / 16.0;
  return parameters;
}

}  // namespace

LocalStatisticsCase make_localstatistics_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<LocalStatisticsCase>(number, max_pixels, random);
  test.parameters = random_parameters(test.layout, random);
  const bool may_be_bytes = test.layout.bits == 8 || is_threshold(test.parameters.output);
  const int output_bits = may_be_bytes && random.one_in(2) ? 8 : 16;
  test.out_layout = gray_layout(test.layout.width, test.layout.height, output_bits);
  return drawn(test, random);
}

LocalStatisticsCase make_limited_localstatistics_case(std::uint64_t seed, int number,
                                                      int max_pixels) {
  LocalStatisticsCase test = make_localstatistics_case(seed + 1, number, max_pixels);
  test.title += ", limited range";
  Random random = random_of_case(seed, number);
  if (!is_threshold(test.parameters.output))
    test.parameters.output = random.one_in(2) ? Output::bradley : Output::sauvola;
  test.parameters.limited_range = true;
  test.parameters.invert = random.one_in(4);
  test.darkened = random.one_in(2);
  return test;
}

std::vector<std::uint8_t> input_block(const LocalStatisticsCase& test) {
  std::vector<std::uint8_t> block = input_block(static_cast<const FrameCase&>(test));
  if (!test.darkened)
    return block;
  const Frame frame = frame_in(test.layout, test.in, block.data());
  for (int p = 0; p < test.layout.plane_count; ++p) {
    const View<std::uint8_t>& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      std::uint8_t* const row = plane.row(y);
      if (test.layout.bits == 8)
        std::for_each(row, row + plane.width, [](std::uint8_t& byte) { byte >>= 3; });
      else
        for (int x = 0; x + 1 < plane.width; x += 2) {
          std::uint16_t word;
          std::memcpy(&word, row + x, sizeof word);
          word >>= 3;
          std::memcpy(row + x, &word, sizeof word);
        }
    }
  }
  return block;
}

LocalStatisticsCase plain_localstatistics_case(const FrameLayout& layout,
                                               const localstatistics::Parameters& parameters,
                                               Content content, std::uint64_t seed,
                                               int output_bits) {
  if (output_bits == 0)
    output_bits = layout.bits == 8 ? 8 : 16;
  LocalStatisticsCase test;
  make_dense(test, layout, gray_layout(layout.width, layout.height, output_bits), content, seed);
  test.parameters = parameters;
  return test;
}

std::string describe(const LocalStatisticsCase& test) {
  constexpr const char* names[] = {"mean", "deviation", "bradley", "sauvola"};
  const localstatistics::Parameters& p = test.parameters;
  char text[200];
  std::snprintf(text, sizeof text, "%s, radius %d, ratio %.17g, k %.17g, range %.17g%s%s%s",
                names[static_cast<int>(p.output)], p.radius, p.ratio, p.k, p.range,
                p.invert ? ", inverted" : "", p.limited_range ? ", limited range" : "",
                test.darkened ? ", darkened" : "");
  return describe(test, text);
}

void LocalStatisticsCase::define(const ConstFrame& from, const Frame& to) const {
  defined_statistics(layout, out_layout.bits, parameters, from, to.planes[0]);
}

localstatistics::Parameters LocalStatisticsCase::other_parameters() const {
  localstatistics::Parameters other = parameters;
  if (is_threshold(parameters.output))
    other.output = parameters.output == Output::bradley ? Output::sauvola : Output::bradley;
  other.radius = parameters.radius == 3 ? 400 : 3;
  other.ratio = 1 - parameters.ratio;
  other.k = 1 - parameters.k;
  other.range = parameters.range + 1;
  other.invert = !parameters.invert;
  other.limited_range = !parameters.limited_range;
  return other;
}

}  // namespace cudavision::test
