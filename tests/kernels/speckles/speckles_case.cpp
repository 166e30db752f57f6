// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/speckles/speckles_case.h"

#include <algorithm>

#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/speckles/speckles_definition.h"

namespace cudavision::test {

SpecklesCase make_speckles_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  SpecklesCase test;
  test.title = "case " + std::to_string(number);
  const auto [width, height] = random_picture_size(random, std::min(max_pixels, 1 << 19));
  test.layout = test.out_layout = gray_layout(width, height, random.one_in(2) ? 8 : 16);
  test.parameters.size = random.one_in(9) ? 0 : random.log_uniform(2 * width * height);
  test.parameters.white = random.one_in(2);
  return drawn(test, random);
}

std::string describe(const SpecklesCase& test) {
  return describe(test, "speckles of " + std::to_string(test.parameters.size) +
                            (test.parameters.white ? " white pixels" : " black pixels"));
}

std::vector<std::uint8_t> input_block(const SpecklesCase& test) {
  std::vector<std::uint8_t> block = input_block(static_cast<const FrameCase&>(test));
  const Frame frame = frame_in(test.layout, test.in, block.data());
  Random random(test.content_seed);
  const int largest = (1 << test.layout.bits) - 1;
  const int threshold = largest / 16 * random.between(1, 12);
  const Channel& channel = test.layout.channels[0];
  for (int y = 0; y < channel.height; ++y)
    for (int x = 0; x < channel.width; ++x)
      if (!random.one_in(64))
        put_sample(test.layout, frame, channel, x, y,
                   defined_sample(test.layout, frame, channel, x, y) < threshold ? 0 : largest);
  return block;
}

void SpecklesCase::define(const ConstFrame& from, const Frame& to) const {
  defined_despeckled(layout, parameters, from, to);
}

}  // namespace cudavision::test
