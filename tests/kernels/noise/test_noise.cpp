// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the states of noise::Estimate, frame after frame, on the CPU device with the definition
// and on the CUDA device with the CPU device. Besides, known noise must be found.

#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/noise/blockrow.h"
#include "cuda/noise/noise.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/noise/noise_definition.h"

namespace cudavision::test {
namespace {

using noise::Estimate;
using noise::State;

/// A sequence of frames of one layout, after one of which the estimate begins anew.
struct NoiseCase : FrameCase {
  std::vector<std::vector<std::uint8_t>> frames;
  std::size_t restart = 0;
};

/// Changes the lowest bits of all bytes by chance, which also changes the high ones of words.
void add_grain(std::vector<std::uint8_t>& block, int largest, Random& random) {
  for (std::uint8_t& byte : block)
    byte = static_cast<std::uint8_t>(byte ^ random.between(0, largest));
}

NoiseCase noise_case(const LayoutKind& kind, int width, int height, Random& random) {
  NoiseCase test;
  test.title = kind.name;
  test.every_channel = true;
  test.layout = test.out_layout = kind.make(width, height);
  draw_placements(test, random);
  for (const int largest : {0, 7, 63, 63, 3, 31}) {
    draw_content(test, random);
    test.frames.push_back(input_block(test));
    add_grain(test.frames.back(), largest, random);
  }
  test.restart = static_cast<std::size_t>(random.between(0, 5));
  return test;
}

NoiseCase make_noise_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const auto [width, height] = random_picture_size(random, std::min(max_pixels, 1 << 16));
  return noise_case(layout_kind_of_case(number), width, height, random);
}

std::vector<State> states_of(Device& device, const Estimate& estimate) {
  std::vector<State> states(FrameLayout::max_channels);
  constexpr int bytes = FrameLayout::max_channels * sizeof(State);
  device.download({reinterpret_cast<const std::uint8_t*>(estimate.states()), bytes, 1, bytes},
                  {reinterpret_cast<std::uint8_t*>(states.data()), bytes, 1, bytes});
  device.finish();
  return states;
}

/// Calls check(number, states) after each frame.
template <class Check>
void run(Device& device, const NoiseCase& test, const Check& check) {
  Estimate estimate(device, test.layout);
  for (std::size_t i = 0; i < test.frames.size(); ++i) {
    const DeviceBlock<std::uint8_t> block(device, test.frames[i]);
    estimate.run(frame_in(test.layout, test.in, block.data()));
    check(i, states_of(device, estimate));
    EXPECT_EQ(block.values(), test.frames[i]) << "the input was written to";
    if (i == test.restart)
      estimate.restart();
  }
}

std::vector<std::vector<std::int64_t>> numbers_of(const FrameLayout& layout,
                                                  const std::vector<State>& states) {
  std::vector<std::vector<std::int64_t>> numbers;
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[static_cast<std::size_t>(c)].role != Role::alpha) {
      const State& state = states[static_cast<std::size_t>(c)];
      numbers.push_back({state.used.variance, state.used.deviation, state.measured, state.average});
    }
  return numbers;
}

void expect_definition(const NoiseCase& test) {
  SCOPED_TRACE(describe(test, ""));
  std::vector<DefinedNoise> defined(FrameLayout::max_channels);
  run(*make_cpu_device(), test, [&](std::size_t frame, const std::vector<State>& states) {
    std::vector<std::vector<std::int64_t>> expected;
    const ConstFrame in = frame_in(test.layout, test.in, test.frames[frame].data());
    for (int c = 0; c < test.layout.channel_count; ++c) {
      const Channel& channel = test.layout.channels[static_cast<std::size_t>(c)];
      if (channel.role == Role::alpha)
        continue;
      DefinedNoise& noise = defined[static_cast<std::size_t>(c)];
      noise.take(defined_noise(test.layout, channel, in));
      expected.push_back({noise.used,
                          static_cast<std::int64_t>(std::sqrt(static_cast<double>(noise.used))),
                          noise.measured, noise.any ? noise.average : -1});
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

class NoiseCases : public LayoutCases {};

TEST_P(NoiseCases, CpuEqualsDefinition) {
  for_each_case(make_noise_case, [](const NoiseCase& test) { expect_definition(test); });
}

TEST_P(NoiseCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_noise_case,
                [&](const NoiseCase& test) { expect_equal_devices(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, NoiseCases, every_layout(), layout_name);

/// Sizes at the edges of blocks, and of launches, and those of which not all rows count.
std::vector<NoiseCase> edge_cases() {
  std::vector<NoiseCase> cases;
  Random random(91);
  for (const char* layout : {"GRAY8", "I420", "RGBA", "P010"})
    for (const auto& [width, height] :
         {std::pair{1, 1}, {7, 200}, {8, 8}, {200, 7}, {64, 64}, {65, 63}, {255, 33}, {257, 40}})
      for (const LayoutKind& kind : layout_kinds())
        if (kind.name == layout)
          cases.push_back(noise_case(kind, width, height, random));
  return cases;
}

TEST(NoiseEdges, CpuEqualsDefinition) {
  for (const NoiseCase& test : edge_cases())
    expect_definition(test);
}

TEST(NoiseEdges, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const NoiseCase& test : edge_cases())
    expect_equal_devices(*device, test);
}

/// A gray picture whose columns rise, with noise of these deviations in its halves.
std::vector<std::uint8_t> noisy_picture(int width, int height, double left, double right) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  std::vector<std::uint8_t> picture;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double level = x < width / 2 ? 60 : 150;
      const double value =
          level + 20.0 * (x % 64) / 64 + (x < width / 2 ? left : right) * normal(generator);
      picture.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(value), 0l, 255l)));
    }
  return picture;
}

double deviation_of(Device& device, const std::vector<std::uint8_t>& picture, int width,
                    int height) {
  const FrameLayout layout = gray_layout(width, height);
  Estimate estimate(device, layout);
  const DeviceBlock<std::uint8_t> block(device, picture);
  ConstFrame in;
  in.planes[0] = {block.data(), width, height, width};
  estimate.run(in);
  const State state = states_of(device, estimate)[0];
  EXPECT_EQ(state.measured, state.used.variance);
  return std::sqrt(state.measured) / noise::Level::per_level;
}

class NoiseUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, NoiseUse, both_devices(), device_name);

TEST_P(NoiseUse, FindsKnownNoise) {
  on_device([](Device& device) {
    // In the larger picture, only every third row of blocks counts.
    for (const auto& [width, height] : {std::pair{640, 480}, {1280, 960}})
      for (const double deviation : {1.0, 3.0, 10.0, 25.0})
        EXPECT_NEAR(
            deviation_of(device, noisy_picture(width, height, deviation, deviation), width, height),
            deviation, 0.05 * deviation + 0.1);
  });
}

/// Noise that has been smoothed, so that neighbours are similar, is found as well as other noise.
TEST_P(NoiseUse, FindsCorrelatedNoise) {
  on_device([](Device& device) {
    constexpr int width = 640, height = 480;
    for (const double deviation : {4.0, 10.0, 20.0}) {
      std::mt19937 generator(5);
      std::normal_distribution<double> normal;
      std::vector<double> white((width + 1) * (height + 1));
      for (double& value : white)
        value = 2 * deviation * normal(generator);
      std::vector<std::uint8_t> picture;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const double* const at = white.data() + y * (width + 1) + x;
          const double mean = (at[0] + at[1] + at[width + 1] + at[width + 2]) / 4;
          picture.push_back(
              static_cast<std::uint8_t>(std::clamp(std::lround(120 + mean), 0l, 255l)));
        }
      EXPECT_NEAR(deviation_of(device, picture, width, height), deviation, 0.2 * deviation);
    }
  });
}

/// Only the quietest blocks count, so texture in half of the picture does not matter.
TEST_P(NoiseUse, LeavesOutTexture) {
  on_device([](Device& device) {
    constexpr int width = 640, height = 480;
    auto picture = noisy_picture(width, height, 5, 5);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if (y % 64 >= 32 && (x / 3 + y / 3) % 2 == 0)
          picture[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] ^= 16;
    EXPECT_NEAR(deviation_of(device, picture, width, height), 5, 0.5);
  });
}

/// Where dark and bright parts differ, the mean of the variances counts.
TEST_P(NoiseUse, AveragesLevels) {
  on_device([](Device& device) {
    EXPECT_NEAR(deviation_of(device, noisy_picture(640, 480, 3, 12), 640, 480),
                std::sqrt((3.0 * 3 + 12.0 * 12) / 2), 0.5);
  });
}

/// Bars beside a film are no silence, but a drawing has no noise.
TEST_P(NoiseUse, TellsBarsFromDrawings) {
  on_device([](Device& device) {
    auto picture = noisy_picture(640, 480, 6, 6);
    std::fill_n(picture.begin(), 640 * 200, std::uint8_t{16});
    EXPECT_NEAR(deviation_of(device, picture, 640, 480), 6, 0.5);
    std::fill_n(picture.begin(), 640 * 280, std::uint8_t{16});
    EXPECT_EQ(deviation_of(device, picture, 640, 480), 0);
  });
}

TEST_P(NoiseUse, RefusesLayouts) {
  on_device([](Device& device) {
    for (const LayoutRefusal& refusal : common_layout_refusals()) {
      FrameLayout layout = layout_named("NV12", 64, 48);
      refusal.spoil(layout);
      EXPECT_THROW(Estimate(device, layout), Error) << refusal.words;
    }
    Estimate estimate(device, gray_layout(64, 48));
    EXPECT_THROW(estimate.run({}), Error);
  });
}

/// Sums of pairs of samples are those of single ones.
TEST(NoiseBlockRow, EqualsPlainForm) {
  constexpr int rows = 3, columns = 16, start = noise::PairedRow::block_start;
  Random random(7);
  for (int number = 0; number < 1000; ++number) {
    const int lowest = random.between(0, 255), highest = random.between(lowest, 255);
    int levels[rows][columns];
    noise::PairedRow paired[rows];
    for (int y = 0; y < rows; ++y) {
      std::uint32_t words[columns / 4] = {};
      for (int x = 0; x < columns; ++x) {
        levels[y][x] = random.between(0, 1) == 0 ? lowest : highest;
        words[x / 4] |= static_cast<std::uint32_t>(levels[y][x]) << 8 * (x % 4);
      }
      paired[y] = noise::PairedRow(words);
    }
    const auto plain = [&](int spacing) {
      const auto column = [&](int x) { return levels[0][x] - 2 * levels[1][x] + levels[2][x]; };
      int sum = 0;
      for (int x = start; x < start + noise::block_side; ++x)
        sum += std::abs(column(x - spacing) - 2 * column(x) + column(x + spacing));
      return static_cast<std::uint32_t>(sum);
    };
    EXPECT_EQ(noise::sum_of_differences<1>(paired[0], paired[1], paired[2]), plain(1));
    EXPECT_EQ(noise::sum_of_differences<3>(paired[0], paired[1], paired[2]), plain(3));
    std::uint32_t sum = 0, extremes = 0;
    bool differs = false;
    for (int x = start; x < start + noise::block_side; ++x) {
      sum += static_cast<std::uint32_t>(levels[1][x]);
      extremes += noise::is_extreme(levels[1][x]) ? 1 : 0;
      differs = differs || levels[1][x] != lowest;
    }
    noise::RowSums sums;
    noise::sum_levels(paired[1], static_cast<std::uint32_t>(lowest), sums);
    EXPECT_EQ(sums.levels, sum);
    EXPECT_EQ(sums.extremes, extremes);
    EXPECT_EQ(sums.differs, differs);
  }
}

TEST(NoiseMeasurement, WeighsSpacings) {
  // White noise has the same variance at both spacings, texture more at the larger one.
  EXPECT_EQ(noise::variance_of_bins(10, 10), 168u * 168 / 185);
  EXPECT_EQ(noise::variance_of_bins(10, 13), 168u * 168 / 185);
  // Correlated noise has much more there.
  EXPECT_EQ(noise::variance_of_bins(10, 20), 3 * (328u * 328 / 200 - 168 * 168 / 185) / 2);
  EXPECT_EQ(noise::variance_of_bins(0, 1023), 3 * (16376u * 16376 / 200) / 2);
  // The root of the largest variance can still be taken.
  EXPECT_LT(noise::variance_of_bins(0, noise::bins - 1), 1u << 24);
}

TEST(NoiseMeasurement, NeedsEnoughBlocks) {
  noise::ClassNoise classes[noise::classes] = {};
  EXPECT_FALSE(noise::measurement_of(classes, 0).tells);
  EXPECT_FALSE(noise::measurement_of(classes, 31).tells);
  EXPECT_TRUE(noise::measurement_of(classes, 32).tells);
  classes[2] = {31, 500};
  EXPECT_FALSE(noise::measurement_of(classes, 0).tells);
  classes[7] = {15, 100};
  EXPECT_FALSE(noise::measurement_of(classes, 0).tells);
  classes[7] = {16, 100};
  EXPECT_EQ(noise::measurement_of(classes, 47).variance, (31u * 500 + 16 * 100) / 47);
  EXPECT_EQ(noise::measurement_of(classes, 48).variance, 0u);
}

}  // namespace
}  // namespace cudavision::test
