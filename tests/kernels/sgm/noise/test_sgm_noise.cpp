// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that the noise in use is near the true noise, and that CUDA's arithmetic is exact.
#include <algorithm>
#include <cmath>

#include "cuda/sgm/noise.h"
#include "cuda/sgm/noise/filter_arithmetic.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/pairs/stereo_pairs.h"

namespace cudavision::test {
namespace {

using namespace sgm;

TEST(Noise, RootsAreExact) {
  for (std::uint32_t number = 0; number < 300000; ++number) {
    const std::uint32_t root = noise::integer_root(number);
    ASSERT_TRUE(root * root <= number && (root + 1) * (root + 1) > number) << number;
  }
}

/// Computes filtered_sample() in floats like CUDA, with a relative error of the reciprocal.
std::uint32_t sample_by_floats(std::uint32_t level, std::uint32_t sum, std::uint32_t variance,
                               std::uint32_t noise, double error) {
  const auto minus_variance = -static_cast<float>(variance);
  const auto reciprocal = static_cast<float>((1 + error) / variance);
  const float weight = weight_of_mean(minus_variance, reciprocal, 256 * static_cast<float>(noise));
  const std::uint32_t word =
      blended(weight, static_cast<float>(static_cast<int>(sum) - 25 * static_cast<int>(level)));
  return ((word >> 8) & 0xffff) - (1 << 14) + 16 * level + filtered_offset;
}

/// Tests quotients next to whole numbers, and random quotients.
TEST(Noise, FilteredSamplesByFloatsAreExact) {
  Random random(settings().seed);
  const auto number = [&](int most) {
    return static_cast<std::uint32_t>(random.one_in(2) ? random.between(0, most)
                                                       : random.log_uniform(most));
  };
  for (int i = 0; i < 500000; ++i) {
    const std::uint32_t level = number(255), sum = number(25 * 255);
    const std::uint32_t noise = 2 + number(562500 - 2);
    std::uint32_t variance = number(10200000);
    if (random.one_in(2)) {
      const auto weight = static_cast<std::uint32_t>(random.between(1, 256));
      variance = 256 * noise / weight + static_cast<std::uint32_t>(random.between(0, 2)) - 1;
    }
    variance = std::min(variance, 10200000u);
    const std::uint32_t expected = filtered_sample(level, sum, variance, noise);
    for (const double error : {0.0, 0x1p-21, -0x1p-21})
      ASSERT_EQ(sample_by_floats(level, sum, variance, noise, error), expected)
          << "level " << level << ", sum " << sum << ", variance " << variance << ", noise "
          << noise << ", error " << error;
  }
}

/// Tests blended() for the whole range of the product.
TEST(Noise, BlendsAreExact) {
  for (int product = -256 * 6375; product <= 256 * 6375; ++product) {
    const auto result = static_cast<int>(blended(1, static_cast<float>(product)) >> 8 & 0xffff);
    const int expected = static_cast<int>(std::floor((product + 200) / 400.0));
    ASSERT_EQ(result - (1 << 14), expected) << product;
  }
}

TEST(Noise, StateDoesNotPump) {
  Random random(1);
  NoiseState state;
  state.take(6400);  // a deviation of 5 levels
  EXPECT_EQ(state.used.variance, 6400u);
  EXPECT_EQ(state.used.deviation, 80u);
  for (int frame = 0; frame < 1000; ++frame) {
    state.take(static_cast<std::uint32_t>(random.between(5000, 7800)));
    ASSERT_EQ(state.used.variance, 6400u) << "frame " << frame;
  }
  // After a lasting change of the measured noise, the noise in use follows in a few steps.
  int steps = 0;
  for (int frame = 0; frame < 60; ++frame) {
    const std::uint32_t before = state.used.variance;
    state.take(25600);
    ASSERT_GE(state.used.variance, before);
    steps += state.used.variance != before;
  }
  EXPECT_NEAR(state.used.variance, 25600, 25600 / 4 + 64);
  EXPECT_LE(steps, 8);
  for (int frame = 0; frame < 80; ++frame)
    state.take(0);
  EXPECT_LE(state.used.variance, 2 * 64u);
}

CUDAVISION_ON_BOTH_DEVICES(MeasuredNoise);

/// The measured noise varies between frames, but the noise in use is constant. Bars are ignored.
TEST_P(MeasuredNoise, IsNearAndStays) {
  for (const auto& [levels, bar_rows] :
       {std::pair{1.0, 0}, {2.0, 0}, {5.0, 0}, {12.0, 0}, {5.0, 40}, {5.0, 43}}) {
    sgm::StageConfig config;
    config.width = 321, config.height = 203, config.disparities = 32;
    const auto stages = make_stages(device, config);
    const DeviceBlock<NoiseState> state(device, {NoiseState()});
    Random random(3);
    NoiseLevel first;
    for (int frame = 0; frame < 12; ++frame) {
      std::vector<std::uint8_t> levels_of_frame(static_cast<std::size_t>(config.pixels()), 120);
      add_noise(levels_of_frame, levels, random);
      const int bar = bar_rows * config.width;
      std::fill_n(levels_of_frame.begin(), bar, std::uint8_t{16});
      std::fill_n(levels_of_frame.end() - bar, bar, std::uint8_t{16});
      const DeviceBlock<std::uint8_t> block(device, levels_of_frame);
      SamplePlane plane;
      plane.rows = {block.data(), config.width, config.height, config.width};
      plane.width = config.width;
      stages->estimate_noise(plane, frame == 0, state.data());
      device.finish();
      const NoiseLevel used = state.values()[0].used;
      if (frame == 0)
        first = used;
      EXPECT_EQ(used.variance, first.variance)
          << levels << " levels, bars of " << bar_rows << " rows, frame " << frame;
    }
    // At r = 1, the estimate subtracts 1.7 ≈ 1.3², the variance of texture in typical images.
    const double measured = std::sqrt(first.variance) / NoiseLevel::per_level;
    const double expected = std::sqrt(std::max(0.0, levels * levels - 1.7));
    EXPECT_NEAR(measured, expected, 0.15 * expected) << "bars of " << bar_rows << " rows";
  }
}

}  // namespace
}  // namespace cudavision::test
