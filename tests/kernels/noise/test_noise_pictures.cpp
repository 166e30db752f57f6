// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that noise::Estimate finds the noise that was added to painted images.
#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/noise/noise.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {
namespace {

using noise::Estimate;
using noise::State;

template <class LevelAt>
std::vector<std::uint8_t> painted(int width, int height, const LevelAt& level) {
  std::vector<std::uint8_t> picture;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture.push_back(
          static_cast<std::uint8_t>(std::clamp(std::lround(double(level(x, y))), 0l, 255l)));
  return picture;
}

/// Draws normally distributed numbers with a deviation of 1.
class Gaussian {
 public:
  explicit Gaussian(unsigned seed) : generator_(seed) {}
  double operator()() { return normal_(generator_); }

 private:
  std::mt19937 generator_;
  std::normal_distribution<double> normal_;
};

std::vector<std::uint8_t> noisy_picture(int width, int height, double left, double right) {
  Gaussian normal(3);
  return painted(width, height, [&](int x, int) {
    const bool is_left = x < width / 2;
    return (is_left ? 60 : 150) + 20.0 * (x % 64) / 64 + (is_left ? left : right) * normal();
  });
}

State state_of(Device& device, const std::vector<std::uint8_t>& picture, int width, int height) {
  const FrameLayout layout = gray_layout(width, height);
  Estimate estimate(device, layout);
  const DeviceBlock<std::uint8_t> block(device, picture);
  estimate.run(frame_in(layout, dense_placement(layout), block.data()));
  const State state = downloaded(device, estimate.states(), FrameLayout::max_channels)[0];
  EXPECT_EQ(state.measured, state.used.variance);
  return state;
}

double deviation_of(const State& state) {
  return std::sqrt(state.measured) / noise::Level::per_level;
}
double deviation_of(Device& device, const std::vector<std::uint8_t>& picture, int width,
                    int height) {
  return deviation_of(state_of(device, picture, width, height));
}

CUDAVISION_ON_BOTH_DEVICES(NoiseUse);

TEST_P(NoiseUse, FindsKnownNoise) {
  // In the larger image, the estimate uses only every third row of blocks.
  for (const auto& [width, height] : {std::pair{640, 480}, {1280, 960}})
    for (const double deviation : {1.0, 3.0, 10.0, 25.0})
      EXPECT_NEAR(
          deviation_of(device, noisy_picture(width, height, deviation, deviation), width, height),
          deviation, 0.05 * deviation + 0.1);
}

/// For smoothed noise, whose neighbouring samples are correlated, the error is at most 20 %.
TEST_P(NoiseUse, FindsCorrelatedNoise) {
  constexpr int width = 640, height = 480;
  for (const double deviation : {4.0, 10.0, 20.0}) {
    Gaussian normal(5);
    std::vector<double> white((width + 1) * (height + 1));
    for (double& value : white)
      value = 2 * deviation * normal();
    const auto picture = painted(width, height, [&](int x, int y) {
      const double* const at = white.data() + y * (width + 1) + x;
      return 120 + (at[0] + at[1] + at[width + 1] + at[width + 2]) / 4;
    });
    EXPECT_NEAR(deviation_of(device, picture, width, height), deviation, 0.2 * deviation);
  }
}

/// Texture in half of the image hardly changes the estimate, which uses the quietest blocks.
TEST_P(NoiseUse, LeavesOutTexture) {
  constexpr int width = 640, height = 480;
  auto picture = noisy_picture(width, height, 5, 5);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (y % 64 >= 32 && (x / 3 + y / 3) % 2 == 0)
        picture[static_cast<std::size_t>(y) * width + x] ^= 16;
  EXPECT_NEAR(deviation_of(device, picture, width, height), 5, 0.5);
}

/// If the noise of dark and bright parts differs, the result is the mean of the variances.
TEST_P(NoiseUse, AveragesLevels) {
  EXPECT_NEAR(deviation_of(device, noisy_picture(640, 480, 5, 12), 640, 480),
              std::sqrt((5.0 * 5 + 12.0 * 12) / 2), 0.5);
}

/// Uniform bars do not hide noise, but a mostly uniform image is taken for a drawing without noise.
TEST_P(NoiseUse, TellsBarsFromDrawings) {
  auto picture = noisy_picture(640, 480, 6, 6);
  std::fill_n(picture.begin(), 640 * 200, std::uint8_t{16});
  EXPECT_NEAR(deviation_of(device, picture, 640, 480), 6, 0.5);
  std::fill_n(picture.begin(), 640 * 280, std::uint8_t{16});
  EXPECT_EQ(deviation_of(device, picture, 640, 480), 0);
  const auto drawing =
      painted(640, 480, [](int x, int y) { return x % 160 < 60 && (x + y) % 12 < 2 ? 90 : 180; });
  EXPECT_EQ(deviation_of(device, drawing, 640, 480), 0);
}

/// The part of an image between bars: columns x0 to x1 − 1 and rows y0 to y1 − 1.
struct Inside {
  int x0, y0, x1, y1;
};

/// Fills the area around `inside` with a level. Next to `inside`, `ringing` columns and rows keep
/// an eighth of their contrast.
void add_bars(std::vector<std::uint8_t>& picture, int width, int height, const Inside& inside,
              int level, int ringing) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::uint8_t& sample = picture[static_cast<std::size_t>(y) * width + x];
      const int away = std::max(std::max(inside.x0 - x, x - inside.x1 + 1),
                                std::max(inside.y0 - y, y - inside.y1 + 1));
      if (away > ringing)
        sample = static_cast<std::uint8_t>(level);
      else if (away > 0)
        sample = static_cast<std::uint8_t>(std::clamp(level + (sample - 80) / 8, 0, 255));
    }
}

/// Blocks that the edge of a bar crosses are partly without noise, and must not be used.
TEST_P(NoiseUse, LeavesOutBars) {
  constexpr int width = 640, height = 480;
  std::mt19937 random(11);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto quiet = noisy_picture(width, height, 3, 3),
             loud = noisy_picture(width, height, 10, 10);
  for (int i = 0; i < 120; ++i) {
    const double deviation = i % 2 == 0 ? 3 : 10;
    auto picture = i % 2 == 0 ? quiet : loud;
    Inside inside{0, 0, width, height};
    const int kind = between(0, 2);
    if (kind != 0)
      inside.y0 = between(1, 60), inside.y1 = height - between(0, 60);
    if (kind != 1)
      inside.x0 = between(0, 60), inside.x1 = width - between(1, 60);
    constexpr int levels[] = {0, 16, 90, 128, 235, 255};
    const int level = levels[between(0, 5)], ringing = between(0, 3);
    add_bars(picture, width, height, inside, level, ringing);
    const State state = state_of(device, picture, width, height);
    EXPECT_NEAR(deviation_of(state), deviation, 0.06 * deviation)
        << "columns " << inside.x0 << " to " << inside.x1 << ", rows " << inside.y0 << " to "
        << inside.y1 << ", level " << level << ", ringing " << ringing;
    EXPECT_FALSE(state.uncertain);
  }
}

/// If only a very dark or bright background has smooth blocks, texture is not measured as noise.
TEST_P(NoiseUse, LeavesOutTextureWithoutSmoothBlocks) {
  constexpr int width = 320, height = 320;
  for (const double deviation : {3.0, 6.0, 10.0})
    for (const int background : {3, 252}) {
      Gaussian normal(7);
      const auto picture = painted(width, height, [&](int x, int y) {
        const bool drawn = x >= 64 && x < 256 && y >= 64 && y < 256;
        const double texture = 45 * std::sin(x / 2.0) + 20 * normal();
        return (drawn ? 120 + texture : background) + deviation * normal();
      });
      const State state = state_of(device, picture, width, height);
      EXPECT_TRUE(state.uncertain) << deviation << " on " << background;
      EXPECT_NEAR(deviation_of(state), deviation, 0.4 * deviation) << "on " << background;
    }
}

/// In an image of hatched paper, the few smooth blocks determine the noise.
TEST_P(NoiseUse, LeavesOutLines) {
  constexpr int width = 640, height = 480;
  for (const double deviation : {3.0, 8.0}) {
    Gaussian normal(9);
    const auto picture = painted(width, height, [&](int x, int y) {
      const bool hatched = x % 160 >= 16;
      const bool line = hatched && ((x + y) % 5 == 0 || (2 * x - y + height) % 7 < 2);
      return (line ? 90 : 190) + deviation * normal();
    });
    const State state = state_of(device, picture, width, height);
    EXPECT_TRUE(state.uncertain);
    EXPECT_NEAR(deviation_of(state), deviation, 0.4 * deviation);
  }
}

TEST_P(NoiseUse, RefusesLayouts) {
  for (const LayoutRefusal& refusal : common_layout_refusals()) {
    FrameLayout layout = layout_named("NV12", 64, 48);
    refusal.spoil(layout);
    EXPECT_THROW(Estimate(device, layout), Error) << refusal.words;
  }
  Estimate estimate(device, gray_layout(64, 48));
  EXPECT_THROW(estimate.run({}), Error);
}

}  // namespace
}  // namespace cudavision::test
