// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests SgmStereo on real pairs of pictures. With compatibility=libsgm it must give the same bits
// as libSGM; with the default, those of the definition, and it must stay as accurate as it is.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/stereo_pairs.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Compatibility = sgm::Parameters::Compatibility;

class StereoPairs : public testing::TestWithParam<std::tuple<DeviceKind, Scene>> {
 protected:
  static void on_device(const std::function<void(Device&, const Scene&)>& body) {
    CUDAVISION_NEEDS_PAIRS();
    const auto& [backend, scene] = GetParam();
    if (backend == DeviceKind::cpu)
      return body(*make_cpu_device(), scene);
    CUDAVISION_NEEDS_CUDA();
    CudaTestDevice device;
    body(*device, scene);
  }
};

TEST_P(StereoPairs, EqualLibsgm) {
  on_device([](Device& device, const Scene& scene) {
    struct Setting {
      int paths;
      bool subpixel;
    };
    for (const auto& [paths, subpixel] : {Setting{4, false}, Setting{8, true}}) {
      sgm::Parameters parameters;
      parameters.compatibility = Compatibility::libsgm;
      parameters.disparities = scene.disparities;
      parameters.paths = paths;
      parameters.subpixel = subpixel;
      const std::string name = "libsgm_d" + std::to_string(scene.disparities) + "_p" +
                               std::to_string(paths) + "_sub" + std::to_string(subpixel);
      SCOPED_TRACE(name);
      const GrayPicture libsgm = picture_of(scene, name);
      const Map map = matched(device, scene, parameters).disparities;
      ASSERT_EQ(map.size(), libsgm.values.size());
      int different = 0;
      for (std::size_t i = 0; i < map.size(); ++i)
        different += map[i] != libsgm.values[i];
      EXPECT_EQ(different, 0) << "pixels of " << map.size();
    }
  });
}

/// The definition was written from the specification alone, so this also tests that the figures
/// below are those of the specification.
TEST_P(StereoPairs, EqualDefinition) {
  on_device([](Device& device, const Scene& scene) {
    sgm::Parameters parameters;
    parameters.disparities = scene.disparities;
    parameters.fill_holes = true;
    const SgmCase test = case_of(scene, parameters);
    if (test.layout.width * test.layout.height > 640 * 480)
      GTEST_SKIP() << "the definition is too slow for this pair";
    const SgmInput input = input_of(scene, test);
    EXPECT_EQ(difference(test, defined_output(test, input, 0xcd),
                         SgmRunner(device, test).run(input, 0xcd)),
              "");
  });
}

TEST_P(StereoPairs, AreAsTrueAsTheyWere) {
  on_device([](Device& device, const Scene& scene) {
    sgm::Parameters parameters;
    parameters.disparities = scene.disparities;
    const Map holed = matched(device, scene, parameters).disparities;
    parameters.fill_holes = true;
    const Map filled = matched(device, scene, parameters).disparities;
    const Map truth = picture_of(scene, "truth_x16").values;
    ASSERT_EQ(truth.size(), filled.size());
    const Score score = score_of(truth, holed, filled, disparity_scale(parameters).invalid);
    std::printf("%s: %s\n", scene.name, text_of(score).c_str());
    EXPECT_LE(score.wrong_or_missing, scene.max_wrong);
    EXPECT_LE(score.wrong_by_half, scene.max_wrong_by_half);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, StereoPairs,
                         testing::Combine(both_devices(), testing::ValuesIn(scenes)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == DeviceKind::cpu ? "Cpu"
                                                                                         : "Cuda") +
                                  "_" + std::get<1>(info.param).name;
                         });

class SlantedSurfaces : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, SlantedSurfaces, both_devices(), device_name);

/// Prints the tables of docs/elements/stereo-accuracy.md that have maps without slanted surfaces.
TEST_P(SlantedSurfaces, MakeMapsTruer) {
  CUDAVISION_NEEDS_PAIRS();
  on_device([](Device& device) {
    struct Setting {
      const char* name;
      int paths;
      Config::Census census;
      double max_wrong, max_wrong_by_half;  ///< as means over the pairs
    };
    const Setting settings[] = {
        {"default", 4, Config::Census::automatic, 0.0672, 0.143},
        {"8 paths", 8, Config::Census::automatic, 0.070, 0.148},
        {"symmetric-9x7", 4, Config::Census::symmetric_9x7, 0.086, 0.165},
    };
    for (const Setting& setting : settings) {
      Score means[2] = {};
      for (const Scene& scene : scenes) {
        const Map truth = picture_of(scene, "truth_x16").values;
        Score scores[2];
        for (const bool slanted : {false, true}) {
          sgm::Parameters parameters;
          parameters.disparities = scene.disparities;
          parameters.paths = setting.paths;
          parameters.census = setting.census;
          parameters.slanted_surfaces = slanted;
          const Map holed = matched(device, scene, parameters).disparities;
          parameters.fill_holes = true;
          const Map filled = matched(device, scene, parameters).disparities;
          scores[slanted] = score_of(truth, holed, filled, disparity_scale(parameters).invalid);
          means[slanted].wrong_or_missing += scores[slanted].wrong_or_missing / std::size(scenes);
          means[slanted].wrong_by_half += scores[slanted].wrong_by_half / std::size(scenes);
          std::printf("%s, %s, %s: %s\n", setting.name, scene.name, slanted ? "slanted" : "without",
                      text_of(scores[slanted]).c_str());
        }
        EXPECT_LE(scores[true].wrong_or_missing, scores[false].wrong_or_missing + 0.002)
            << setting.name << ", " << scene.name;
        EXPECT_LE(scores[true].wrong_by_half, scores[false].wrong_by_half + 0.002)
            << setting.name << ", " << scene.name;
      }
      std::printf("%s: mean %.4f, %.4f by more than 0.5; without %.4f, %.4f\n", setting.name,
                  means[true].wrong_or_missing, means[true].wrong_by_half,
                  means[false].wrong_or_missing, means[false].wrong_by_half);
      EXPECT_LE(means[true].wrong_or_missing, setting.max_wrong);
      EXPECT_LE(means[true].wrong_by_half, setting.max_wrong_by_half);
    }
  });
}

/* The presets of cudasgmstereo, and still scenes: these tests print the tables of
 * docs/elements/stereo-accuracy.md */

struct Preset {
  const char* name;
  int speckle_size, confidence_threshold;
  bool fill_holes, refine, slanted_surfaces;
  // The largest shares, as means over the pairs.
  double max_wrong_or_missing, max_off_by_one;
};

/// check_stereo_presets.cpp tests that the element's presets have these values.
constexpr Preset presets[] = {
    {"fast", 0, 0, false, false, false, 0.140, 0.052},
    {"balanced", 100, 0, false, true, true, 0.137, 0.035},
    {"accurate", 100, 60, false, true, true, 0.176, 0.021},
    {"dense", 100, 20, true, true, true, 0.066, 0.066},
};

class StereoPresets : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, StereoPresets, both_devices(), device_name);

TEST_P(StereoPresets, AreAsTrueAsTheyWere) {
  CUDAVISION_NEEDS_PAIRS();
  on_device([](Device& device) {
    for (const Preset& preset : presets) {
      double wrong_or_missing = 0, off_by_one = 0;
      for (const Scene& scene : scenes) {
        sgm::Parameters parameters;
        parameters.disparities = scene.disparities;
        parameters.speckle_size = preset.speckle_size;
        parameters.confidence_threshold = preset.confidence_threshold;
        parameters.fill_holes = preset.fill_holes;
        parameters.refine = preset.refine;
        parameters.slanted_surfaces = preset.slanted_surfaces;
        const Map map = matched(device, scene, parameters).disparities;
        const Score score = score_of(picture_of(scene, "truth_x16").values, map, map,
                                     disparity_scale(parameters).invalid);
        std::printf(
            "%s, %s: %.4f wrong or missing; %.4f known, of these %.3f pixels off on average, "
            "%.4f more than 0.5, %.4f more than 1, %.4f more than 2\n",
            preset.name, scene.name, score.wrong_or_missing, score.known, score.mean_error,
            score.off[0], score.off[1], score.off[2]);
        wrong_or_missing += score.wrong_or_missing / std::size(scenes);
        off_by_one += score.off[1] / std::size(scenes);
      }
      std::printf("%s: mean %.4f wrong or missing, %.4f of the known ones wrong\n", preset.name,
                  wrong_or_missing, off_by_one);
      EXPECT_LE(wrong_or_missing, preset.max_wrong_or_missing) << preset.name;
      EXPECT_LE(off_by_one, preset.max_off_by_one) << preset.name;
    }
  });
}

/// The changes from frame to frame in a scene where nothing moves.
struct Unrest {
  double moved = 0;      ///< share of the pixels whose disparity is another one
  double came_gone = 0;  ///< share of those that became known or unknown
  double known = 0;
  double off_by_one = 0;  ///< share of the known ones whose truth is known
};

/// Matches a pair again and again, each time with other noise.
Unrest unrest_of(Device& device, const Scene& scene, sgm::Parameters parameters) {
  constexpr int frames = 24, first_counted = 12;
  parameters.disparities = scene.disparities;
  const SgmCase test = case_of(scene, parameters);
  const SgmInput still = input_of(scene, test);
  const Map truth = picture_of(scene, "truth_x16").values;
  const std::uint16_t invalid = disparity_scale(parameters).invalid;
  sgm::SgmStereo stereo = test.make(device, parameters);
  Random random(1);
  Map before(truth.size()), map(truth.size());
  int counted = 0, moved = 0, came_gone = 0, known = 0, known_truth = 0, wrong = 0;
  for (int frame = 0; frame < frames; ++frame) {
    SgmInput input = still;
    for (auto* block : {&input.left, &input.right})
      for (std::uint8_t& byte : *block)  // a standard deviation of 2 levels
        byte = static_cast<std::uint8_t>(
            std::clamp(byte + random.between(-2, 2) + random.between(-2, 2), 0, 255));
    const SgmFrames matched(device, test, input);
    matched.run(stereo);
    device.finish();
    std::memcpy(map.data(), matched.output().disparity.data(), 2 * map.size());
    for (std::size_t i = 0; i < map.size() && frame >= first_counted; ++i) {
      const bool is_known = map[i] != invalid, was_known = before[i] != invalid;
      ++counted;
      known += is_known;
      moved += is_known && was_known && map[i] != before[i];
      came_gone += is_known != was_known;
      known_truth += is_known && truth[i] != 0;
      wrong += is_known && truth[i] != 0 && std::abs(map[i] - truth[i]) > 16;
    }
    before = map;
  }
  const auto share = [](int part, int whole) { return 1.0 * part / whole; };
  return {share(moved, counted), share(came_gone, counted), share(known, counted),
          share(wrong, known_truth)};
}

class StereoOverTime : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, StereoOverTime, both_devices(), device_name);

TEST_P(StereoOverTime, StillScenesAreStill) {
  CUDAVISION_NEEDS_PAIRS();
  on_device([](Device& device) {
    struct Setting {
      double alpha;
      int delta, persistence;
      bool fill;
      double max_moved, max_came_gone;
    };
    // These shares of the last row in which the filter is off may remain.
    const Setting settings[] = {
        {1, 1, 0, false, 1, 1},        {0.4, 1, 0, false, 0.6, 1.001},
        {0.4, 1, 4, false, 0.6, 0.25}, {0.1, 3, 10, false, 0.2, 0.1},
        {1, 1, 0, true, 1, 1},         {0.4, 1, 4, true, 0.6, 1},
        {0.1, 3, 10, true, 0.2, 1},
    };
    Unrest off;
    for (const Setting& setting : settings) {
      sgm::Parameters parameters;
      parameters.temporal_alpha = setting.alpha;
      parameters.temporal_delta = setting.delta;
      parameters.temporal_persistence = setting.persistence;
      parameters.fill_holes = setting.fill;
      Unrest mean;
      constexpr int pairs = 4;  // those with few disparities
      for (int i = 0; i < pairs; ++i) {
        const Unrest one = unrest_of(device, scenes[i], parameters);
        mean.moved += one.moved / pairs;
        mean.came_gone += one.came_gone / pairs;
        mean.known += one.known / pairs;
        mean.off_by_one += one.off_by_one / pairs;
      }
      std::printf(
          "alpha %.1f within %d, kept for %d%s: %.4f moved, %.4f came or gone, %.4f known, "
          "of these %.4f wrong\n",
          setting.alpha, setting.delta, setting.persistence, setting.fill ? ", filled" : "",
          mean.moved, mean.came_gone, mean.known, mean.off_by_one);
      if (setting.alpha == 1)
        off = mean;
      EXPECT_LE(mean.moved, setting.max_moved * off.moved);
      EXPECT_LE(mean.came_gone, setting.max_came_gone * off.came_gone);
      EXPECT_LE(mean.off_by_one, off.off_by_one + 0.012);
    }
  });
}

class StereoConfidence : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, StereoConfidence, both_devices(), device_name);

/// Disparities that are wrong have a low confidence. Confidence is that of the map before it is
/// filled and refined, so errors are counted there. Without slanted surfaces, where the left-right
/// check leaves more wrong disparities, the area is 0.878, and sums alone then give 0.837.
TEST_P(StereoConfidence, TellsWrongFromRight) {
  CUDAVISION_NEEDS_PAIRS();
  on_device([](Device& device) {
    double sum = 0;
    for (const Scene& scene : scenes) {
      sgm::Parameters parameters;
      parameters.disparities = scene.disparities;
      parameters.refine = false;
      const double area =
          confidence_area(picture_of(scene, "truth_x16").values, matched(device, scene, parameters),
                          disparity_scale(parameters).invalid);
      std::printf("%s: area under the curve %.4f\n", scene.name, area);
      sum += area;
    }
    std::printf("mean: %.4f\n", sum / std::size(scenes));
    EXPECT_GE(sum / std::size(scenes), 0.865);
  });
}

}  // namespace
}  // namespace cudavision::test
