// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "cuda/noise/noise.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/noise/noise_definition.h"

namespace cudavision::test {
namespace {

using noise::Estimate;
using noise::State;

struct NoiseCase : FrameCase {
  std::vector<std::vector<std::uint8_t>> frames;
  std::size_t restart = 0;
};

/// Flips random low bits of every byte. In words of two bytes, this changes high bits, too.
void add_grain(std::vector<std::uint8_t>& block, int largest, Random& random) {
  for (std::uint8_t& byte : block)
    byte = static_cast<std::uint8_t>(byte ^ random.between(0, largest));
}

void add_bar(std::vector<std::uint8_t>& block, Random& random) {
  const int size = static_cast<int>(block.size()), begin = random.between(0, size - 1);
  std::fill(block.begin() + begin, block.begin() + random.between(begin, size),
            static_cast<std::uint8_t>(random.between(0, 255)));
}

NoiseCase make_noise_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<NoiseCase>(number, std::min(max_pixels, 1 << 16), random);
  test.every_channel = true;
  draw_placements(test, random);
  for (const int largest : {0, 7, 63, 63, 3, 31}) {
    draw_content(test, random);
    test.frames.push_back(input_block(test));
    add_grain(test.frames.back(), largest, random);
    if (random.between(0, 1) == 0)
      add_bar(test.frames.back(), random);
  }
  test.restart = static_cast<std::size_t>(random.between(0, 5));
  return test;
}

template <class Check>
void run(Device& device, const NoiseCase& test, const Check& check) {
  Estimate estimate(device, test.layout);
  for (std::size_t i = 0; i < test.frames.size(); ++i) {
    const DeviceBlock<std::uint8_t> block(device, test.frames[i]);
    estimate.run(frame_in(test.layout, test.in, block.data()));
    check(i, downloaded(device, estimate.states(), FrameLayout::max_channels));
    EXPECT_EQ(block.values(), test.frames[i]) << "the operation wrote to its input";
    if (i == test.restart)
      estimate.restart();
  }
}

std::vector<std::vector<std::int64_t>> numbers_of(const FrameLayout& layout,
                                                  const std::vector<State>& states) {
  std::vector<std::vector<std::int64_t>> numbers;
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[c].role != Role::alpha) {
      const State& state = states[c];
      numbers.push_back({state.used.variance, state.used.deviation, state.measured, state.average,
                         state.uncertain});
    }
  return numbers;
}

void expect_definition(const NoiseCase& test) {
  SCOPED_TRACE(describe(test, ""));
  std::vector<DefinedEstimate> defined(FrameLayout::max_channels);
  run(*make_cpu_device(), test, [&](std::size_t frame, const std::vector<State>& states) {
    std::vector<std::vector<std::int64_t>> expected;
    const ConstFrame in = frame_in(test.layout, test.in, test.frames[frame].data());
    for (int c = 0; c < test.layout.channel_count; ++c) {
      const Channel& channel = test.layout.channels[c];
      if (channel.role == Role::alpha)
        continue;
      DefinedEstimate& noise = defined[c];
      noise.take(defined_noise(test.layout, channel, in));
      expected.push_back({noise.used,
                          static_cast<std::int64_t>(std::sqrt(static_cast<double>(noise.used))),
                          noise.measured, noise.any ? noise.average : -1, noise.uncertain});
    }
    EXPECT_EQ(numbers_of(test.layout, states), expected) << "in frame " << frame;
    if (frame == test.restart)
      defined.assign(FrameLayout::max_channels, {});
  });
}

void expect_equal_devices(Device& cuda, const NoiseCase& test) {
  SCOPED_TRACE(describe(test, ""));
  std::vector<std::vector<std::vector<std::int64_t>>> expected;
  run(*make_cpu_device(), test, [&](std::size_t, const std::vector<State>& states) {
    expected.push_back(numbers_of(test.layout, states));
  });
  run(cuda, test, [&](std::size_t frame, const std::vector<State>& states) {
    EXPECT_EQ(numbers_of(test.layout, states), expected[frame]) << "in frame " << frame;
  });
}

CUDAVISION_RANDOM_CASES(NoiseCases, make_noise_case);

}  // namespace
}  // namespace cudavision::test
