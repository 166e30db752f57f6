// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares scenecut::AreaMeans with the definition, and tests which changes are a cut.
#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/scenecut/scenecut.h"
#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/scenecut/scenecut_definition.h"

namespace cudavision::test {
namespace {

using scenecut::AreaMeans;

struct AreaCase : FrameCase {
  std::vector<std::vector<std::uint8_t>> frames;
};

AreaCase make_area_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<AreaCase>(number, std::min(max_pixels, 1 << 16), random);
  draw_placements(test, random);
  for (int scene = 0; scene < 3; ++scene) {
    draw_content(test, random);
    const std::vector<std::uint8_t> first = input_block(test);
    draw_content(test, random);
    const std::vector<std::uint8_t> other = input_block(test);
    for (int frame = 0; frame < 4; ++frame) {
      // Copies a part of another frame, moves bytes, or brightens a part.
      std::vector<std::uint8_t> block = first;
      const auto share = static_cast<std::ptrdiff_t>(block.size()) * random.between(0, 8) / 8;
      if (random.one_in(3)) {
        std::copy(other.begin(), other.begin() + share, block.begin());
      } else if (random.one_in(2)) {
        std::rotate(block.begin(), block.begin() + share / 2 * 2, block.end());
      } else {
        const int change = random.log_uniform(64);
        std::for_each(block.begin(), block.begin() + share, [&](std::uint8_t& byte) {
          byte = static_cast<std::uint8_t>(std::clamp(byte + change, 0, 255));
        });
      }
      test.frames.push_back(block);
    }
  }
  return test;
}

std::uint32_t change(Device& device, const AreaMeans& areas) {
  return downloaded(device, areas.change(), 1)[0];
}

std::vector<std::uint32_t> results(Device& device, const AreaCase& test) {
  AreaMeans areas(device, test.layout);
  std::vector<std::uint32_t> all;
  for (const auto& frame : test.frames) {
    const DeviceBlock<std::uint8_t> block(device, frame);
    areas.run(frame_in(test.layout, test.in, block.data()));
    all.push_back(change(device, areas));
    EXPECT_EQ(block.values(), frame) << "the operation wrote to its input";
  }
  return all;
}

void expect_definition(const AreaCase& test) {
  SCOPED_TRACE(describe(test, ""));
  DefinedAreas defined;
  std::vector<std::uint32_t> expected;
  for (const auto& frame : test.frames)
    expected.push_back(static_cast<std::uint32_t>(
        defined.change(test.layout, frame_in(test.layout, test.in, frame.data()))));
  EXPECT_EQ(results(*make_cpu_device(), test), expected);
}

void expect_equal_devices(Device& cuda, const AreaCase& test) {
  SCOPED_TRACE(describe(test, ""));
  EXPECT_EQ(results(cuda, test), results(*make_cpu_device(), test));
}

CUDAVISION_RANDOM_CASES(AreaCases, make_area_case);

/// A synthetic scene without symmetry. Before gain, offset and noise, its levels are 40 to 120.
struct Scene {
  int width = 320, height = 240;
  double phase = 0;  ///< identifies the scene
  double left = 0;   ///< position of the camera, in pixels
  bool mirrored = false;
  double gain = 1, offset = 0, noise = 0;
  unsigned seed = 1;

  std::vector<std::uint8_t> picture() const {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<std::uint8_t> levels;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double at = (mirrored ? width - 1 - x : x) + left;
        const double level = 80 + 20 * std::sin(at / 31 + phase) * std::cos(y / 23.0 + 3 * phase) +
                             20 * std::sin((at + y) / 57 + 5 * phase);
        levels.push_back(static_cast<std::uint8_t>(
            std::clamp(std::lround(gain * level + offset + noise * normal(generator)), 0l, 255l)));
      }
    return levels;
  }
};

class AreaUse : public EitherDevice {
 protected:
  bool is_cut(const Scene& first, const Scene& second) {
    const FrameLayout layout = gray_layout(first.width, first.height);
    AreaMeans areas(device, layout);
    for (const Scene& scene : {first, second}) {
      const DeviceBlock<std::uint8_t> block(device, scene.picture());
      areas.run(frame_in(layout, dense_placement(layout), block.data()));
      device.finish();
    }
    return change(device, areas) > scenecut::default_threshold;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, AreaUse, both_devices(), device_name);

TEST_P(AreaUse, OtherScenesAreCuts) {
  Scene mirrored, other;
  mirrored.mirrored = true;
  other.phase = 1;
  EXPECT_TRUE(is_cut({}, mirrored));
  EXPECT_TRUE(is_cut({}, other));
  EXPECT_TRUE(is_cut(mirrored, other));
}

TEST_P(AreaUse, LightNoiseAndMotionAreNoCuts) {
  const auto expect_none = [&](const char* what, const Scene& first, const Scene& second) {
    EXPECT_FALSE(is_cut(first, second)) << what;
    EXPECT_FALSE(is_cut(second, first)) << what;
  };
  Scene scene;
  scene.offset = 90;
  expect_none("an offset", {}, scene);
  scene = {};
  scene.gain = 2;
  expect_none("a gain", {}, scene);
  scene = {};
  scene.left = 5;
  expect_none("motion", {}, scene);
  scene = {};
  scene.noise = 40;
  Scene noisy = scene;
  noisy.seed = 2;
  expect_none("noise", scene, noisy);
  scene.gain = noisy.gain = 0;
  scene.offset = noisy.offset = 128;
  expect_none("noise of a grey surface", scene, noisy);
}

TEST_P(AreaUse, RefusesWithWords) {
  for (const LayoutRefusal& refusal : common_layout_refusals()) {
    FrameLayout layout = gray_layout(64, 48);
    refusal.spoil(layout);
    CUDAVISION_EXPECT_ERROR(AreaMeans(device, layout), invalid_argument, refusal.words);
  }
  FrameLayout layout = gray_layout(64, 48);
  layout.channels[0].role = Role::chroma;
  CUDAVISION_EXPECT_ERROR(AreaMeans(device, layout), invalid_argument, "luma");
  AreaMeans areas(device, gray_layout(64, 48));
  CUDAVISION_EXPECT_ERROR(areas.run({}), invalid_argument, "input");
}

TEST_P(AreaUse, AllocatesNothingAfterConstruction) {
  WatchedDevice device(this->device);
  const FrameLayout layout = gray_layout(320, 240);
  AreaMeans areas(device, layout);
  const DeviceBlock<std::uint8_t> block(this->device, Scene().picture());
  const ConstFrame in = frame_in(layout, dense_placement(layout), block.data());
  expect_no_allocations(device, 1, [&](int) { areas.run(in); });
}

}  // namespace
}  // namespace cudavision::test
