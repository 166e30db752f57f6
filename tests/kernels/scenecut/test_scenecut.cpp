// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares scenecut::AreaMeans, frame after frame, on the CPU device with the definition and on the
// CUDA device with the CPU device. Besides, what is a cut and what is none must be told apart.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "cuda/scenecut/scenecut.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/common/no_allocations.h"
#include "tests/kernels/scenecut/scenecut_definition.h"

namespace cudavision::test {
namespace {

using scenecut::AreaMeans;

struct AreaCase : FrameCase {
  std::vector<std::vector<std::uint8_t>> frames;
};

/// Frames of one layout, in which the differences of some are near the limits.
AreaCase area_case(const LayoutKind& kind, int width, int height, Random& random) {
  AreaCase test;
  test.title = kind.name;
  test.layout = test.out_layout = kind.make(width, height);
  draw_placements(test, random);
  for (int scene = 0; scene < 3; ++scene) {
    draw_content(test, random);
    const std::vector<std::uint8_t> first = input_block(test);
    draw_content(test, random);
    const std::vector<std::uint8_t> other = input_block(test);
    for (int frame = 0; frame < 4; ++frame) {
      // A part of another frame, or its bytes in other places.
      std::vector<std::uint8_t> block = first;
      const auto share = static_cast<std::ptrdiff_t>(block.size()) * random.between(0, 8) / 8;
      if (random.one_in(2))
        std::copy(other.begin(), other.begin() + share, block.begin());
      else
        std::rotate(block.begin(), block.begin() + share / 2 * 2, block.end());
      test.frames.push_back(block);
    }
  }
  return test;
}

AreaCase make_area_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const auto [width, height] = random_picture_size(random, std::min(max_pixels, 1 << 16));
  return area_case(layout_kind_of_case(number), width, height, random);
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
    EXPECT_EQ(block.values(), frame) << "the input was written to";
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

class AreaCases : public LayoutCases {};

TEST_P(AreaCases, CpuEqualsDefinition) {
  for_each_case(make_area_case, [](const AreaCase& test) { expect_definition(test); });
}

TEST_P(AreaCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_area_case, [&](const AreaCase& test) {
    SCOPED_TRACE(describe(test, ""));
    EXPECT_EQ(results(*device, test), results(*make_cpu_device(), test));
  });
}

INSTANTIATE_TEST_SUITE_P(Layouts, AreaCases, every_layout(), layout_name);

/// Grey pictures of flat areas, whose levels change by little and by much.
struct FlatAreas {
  static constexpr int side = 8;
  int columns, rows;
  std::vector<int> levels;

  AreaCase next(Random& random, int bits) {
    AreaCase test;
    test.layout = test.out_layout = gray_layout(side * columns, side * rows, bits);
    draw_placements(test, random);
    for (int frame = 0; frame < 12; ++frame) {
      const int change = random.log_uniform(64);
      std::vector<std::uint8_t> block(test.in.bytes);
      const View<std::uint8_t> picture = frame_in(test.layout, test.in, block.data()).planes[0];
      for (int& level : levels)
        level = std::clamp(level + random.between(-change, change), 0, 255);
      for (int y = 0; y < side * rows; ++y)
        for (int x = 0; x < side * columns; ++x) {
          const int level = levels[static_cast<std::size_t>(y / side * columns + x / side)];
          const auto sample = static_cast<std::uint16_t>(level << (bits - 8));
          const int bytes = bits == 8 ? 1 : 2;
          std::memcpy(picture.row(y) + bytes * x, &sample, static_cast<std::size_t>(bytes));
        }
      test.frames.push_back(block);
    }
    return test;
  }
};

std::vector<AreaCase> flat_cases() {
  std::vector<AreaCase> cases;
  Random random(5);
  for (const auto& [columns, rows] :
       {std::pair{1, 1}, {2, 1}, {1, 3}, {2, 2}, {5, 16}, {16, 16}, {17, 16}, {40, 1}})
    for (const int bits : {8, 10, 16})
      for (int repeat = 0; repeat < 6; ++repeat)
        cases.push_back(
            FlatAreas{columns, rows, std::vector<int>(static_cast<std::size_t>(columns * rows))}
                .next(random, bits));
  return cases;
}

TEST(AreaLimits, CpuEqualsDefinition) {
  int cuts = 0, frames = 0;
  for (const AreaCase& test : flat_cases()) {
    expect_definition(test);
    for (const std::uint32_t change : results(*make_cpu_device(), test)) {
      cuts += change > scenecut::usual_threshold ? 1 : 0;
      ++frames;
    }
  }
  EXPECT_GT(cuts, frames / 20);
  EXPECT_LT(cuts, frames - frames / 20);
}

TEST(AreaLimits, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const AreaCase& test : flat_cases())
    EXPECT_EQ(results(*device, test), results(*make_cpu_device(), test));
}

/// A painted scene without symmetry, of levels from 40 to 120.
struct Scene {
  int width = 320, height = 240;
  double phase = 0;  ///< another one is another scene
  double left = 0;   ///< of the camera, in pixels
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
  /// Returns whether the second picture is another scene.
  static bool is_cut(Device& device, const Scene& first, const Scene& second) {
    AreaMeans areas(device, gray_layout(first.width, first.height));
    for (const Scene& scene : {first, second}) {
      const DeviceBlock<std::uint8_t> block(device, scene.picture());
      ConstFrame in;
      in.planes[0] = {block.data(), scene.width, scene.height, scene.width};
      areas.run(in);
      device.finish();
    }
    return change(device, areas) > scenecut::usual_threshold;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, AreaUse, both_devices(), device_name);

TEST_P(AreaUse, OtherScenesAreCuts) {
  on_device([](Device& device) {
    Scene mirrored, other;
    mirrored.mirrored = true;
    other.phase = 1;
    EXPECT_TRUE(is_cut(device, {}, mirrored));
    EXPECT_TRUE(is_cut(device, {}, other));
    EXPECT_TRUE(is_cut(device, mirrored, other));
  });
}

TEST_P(AreaUse, LightNoiseAndMotionAreNoCuts) {
  on_device([](Device& device) {
    const auto expect_none = [&](const char* what, const Scene& first, const Scene& second) {
      EXPECT_FALSE(is_cut(device, first, second)) << what;
      EXPECT_FALSE(is_cut(device, second, first)) << what;
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
  });
}

TEST_P(AreaUse, RefusesWithWords) {
  on_device([](Device& device) {
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
  });
}

TEST_P(AreaUse, AllocatesNothingAfterConstruction) {
  on_device([](Device& inner) {
    WatchedDevice device(inner);
    AreaMeans areas(device, gray_layout(320, 240));
    const DeviceBlock<std::uint8_t> block(inner, Scene().picture());
    ConstFrame in;
    in.planes[0] = {block.data(), 320, 240, 320};
    expect_no_allocations(device, 1, [&](int) { areas.run(in); });
  });
}

}  // namespace
}  // namespace cudavision::test
