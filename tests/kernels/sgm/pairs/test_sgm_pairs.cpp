// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares SgmStereo with libSGM on real pairs, and bounds the default's errors.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/pairs/stereo_pairs.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Parameters = sgm::Parameters;
using Compatibility = Parameters::Compatibility;

class StereoPairs : public testing::TestWithParam<std::tuple<DeviceKind, Scene>>,
                    protected DeviceUnderTest {
 protected:
  StereoPairs() : DeviceUnderTest(std::get<0>(GetParam())) {}
  void SetUp() override {
    CUDAVISION_NEEDS_PAIRS();
    if (std::get<0>(GetParam()) == DeviceKind::cuda)
      CUDAVISION_NEEDS_CUDA();
  }
  const Scene scene = std::get<1>(GetParam());
};

TEST_P(StereoPairs, EqualLibsgm) {
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
}

TEST_P(StereoPairs, AreAsTrueAsTheyWere) {
  const Score score = score_of(device, scene, {}, true);
  std::printf("%s: %s\n", scene.name, text_of(score).c_str());
  EXPECT_LE(score.wrong_or_missing, scene.max_wrong);
  EXPECT_LE(score.wrong_by_half, scene.max_wrong_by_half);
}

/// Texture must not be measured as noise, so automatic noise must not change these maps.
TEST_P(StereoPairs, KeepTheirMapsWithoutNoise) {
  sgm::Parameters parameters;
  parameters.disparities = scene.disparities;
  const Map map = matched(device, scene, parameters).disparities;
  parameters.noise = 0;
  EXPECT_TRUE(map == matched(device, scene, parameters).disparities);
}

INSTANTIATE_TEST_SUITE_P(Devices, StereoPairs,
                         testing::Combine(both_devices(), testing::ValuesIn(scenes)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == DeviceKind::cpu ? "Cpu"
                                                                                         : "Cuda") +
                                  "_" + std::get<1>(info.param).name;
                         });

/// A setting, limits of its mean errors, and limits relative to the previous setting.
struct Setting {
  const char* name;
  Change change;
  double max_wrong, max_wrong_by_half, max_off_by_one;
  bool fills = false;    ///< measures wrong pixels with fill_holes, and other errors without it
  double noise = 0;      ///< added to the images, in levels
  double max_more = 1;   ///< limit of the increase of each pair's share of wrong pixels
  double max_share = 2;  ///< limit of wrong pixels, relative to the previous setting
};

void fill(Parameters& p) {
  p.fill_holes = true, p.noise = 0;
}
void fill_with_measured_noise(Parameters& p) {
  p.fill_holes = true;
}

const Setting settings_of_pairs[] = {
    {"without slanted surfaces", [](Parameters& p) { p.slanted_surfaces = false; }, 1, 1, 1, true},
    {"default", [](Parameters&) {}, 0.0672, 0.143, 1, true, 0, 0.002},
    {"8 paths without slanted surfaces",
     [](Parameters& p) { p.paths = 8, p.slanted_surfaces = false; }, 1, 1, 1, true},
    {"8 paths", [](Parameters& p) { p.paths = 8; }, 0.070, 0.148, 1, true, 0, 0.002},
    {"symmetric-9x7 without slanted surfaces",
     [](Parameters& p) { p.census = Config::Census::symmetric_9x7, p.slanted_surfaces = false; }, 1,
     1, 1, true},
    {"symmetric-9x7", [](Parameters& p) { p.census = Config::Census::symmetric_9x7; }, 0.086, 0.165,
     1, true, 0, 0.002},
    // The presets. check_stereo_presets.cpp tests that the element's presets have these values.
    {"fast", [](Parameters& p) { p.speckle_size = 0, p.refine = p.slanted_surfaces = false; },
     0.140, 1, 0.052},
    {"balanced", [](Parameters& p) { p.speckle_size = 100; }, 0.137, 1, 0.035},
    {"accurate", [](Parameters& p) { p.speckle_size = 100, p.confidence_threshold = 60; }, 0.176, 1,
     0.021},
    {"dense",
     [](Parameters& p) { p.speckle_size = 100, p.confidence_threshold = 20, p.fill_holes = true; },
     0.066, 1, 0.066},
    {"noise of 3 levels, off", fill, 1, 1, 1, false, 3},
    {"noise of 3 levels, measured", fill_with_measured_noise, 0.094, 1, 1, false, 3, 1, 0.96},
    {"noise of 5 levels, off", fill, 1, 1, 1, false, 5},
    {"noise of 5 levels, measured", fill_with_measured_noise, 0.113, 1, 1, false, 5, 1, 0.9},
    {"noise of 10 levels, off", fill, 1, 1, 1, false, 10},
    {"noise of 10 levels, measured", fill_with_measured_noise, 0.16, 1, 1, false, 10, 1, 0.8},
};

CUDAVISION_ON_BOTH_DEVICES(StereoSettings);

/// Prints errors for docs/elements/stereo-accuracy.md: presets, slanted surfaces and white noise.
TEST_P(StereoSettings, AreAsTrueAsTheyWere) {
  CUDAVISION_NEEDS_PAIRS();
  constexpr double pairs = std::size(scenes);
  std::vector<Score> before(std::size(scenes), Score{1, 1, 0, 0, {}});
  double mean_before = 1;
  for (const Setting& setting : settings_of_pairs) {
    SCOPED_TRACE(setting.name);
    Parameters parameters;
    setting.change(parameters);
    double wrong = 0, wrong_by_half = 0, off_by_one = 0;
    for (std::size_t i = 0; i < std::size(scenes); ++i) {
      const Score score = score_of(device, scenes[i], parameters, setting.fills, setting.noise);
      std::printf("%s, %s: %s\n", setting.name, scenes[i].name, text_of(score).c_str());
      EXPECT_LE(score.wrong_or_missing, before[i].wrong_or_missing + setting.max_more);
      EXPECT_LE(score.wrong_by_half, before[i].wrong_by_half + setting.max_more);
      before[i] = score;
      wrong += score.wrong_or_missing / pairs;
      wrong_by_half += score.wrong_by_half / pairs;
      off_by_one += score.off[1] / pairs;
    }
    std::printf("%s: mean %.4f wrong or missing, %.4f by more than 0.5; %.4f of the known pixels\n",
                setting.name, wrong, wrong_by_half, off_by_one);
    EXPECT_LE(wrong, setting.max_wrong);
    EXPECT_LE(wrong_by_half, setting.max_wrong_by_half);
    EXPECT_LE(off_by_one, setting.max_off_by_one);
    EXPECT_LE(wrong, setting.max_share * mean_before);
    mean_before = wrong;
  }
}

/* Still scenes, for the table of disparities over time in docs/elements/stereo-accuracy.md */

/// Changes between successive maps of a still scene.
struct Flicker {
  double moved = 0;             ///< share of the pixels whose disparity changed
  double validity_changed = 0;  ///< share of the pixels that became valid or invalid
  double known = 0;
  double off_by_one = 0;  ///< share of the valid pixels that are off by more than 1 pixel
};

/// Matches a pair repeatedly, each time with new noise.
Flicker flicker_of(Device& device, const Scene& scene, sgm::Parameters parameters) {
  constexpr int frames = 24, first_counted = 12;
  parameters.disparities = scene.disparities;
  const SgmCase test = case_of(scene, parameters);
  const SgmInput still = input_of(scene, test);
  const Map truth = picture_of(scene, "truth_x16").values;
  const std::uint16_t invalid = disparity_scale(parameters).invalid;
  sgm::SgmStereo stereo = test.make(device, parameters);
  Random random(1);
  Map before(truth.size()), map(truth.size());
  int counted = 0, moved = 0, validity_changed = 0, known = 0, known_truth = 0, wrong = 0;
  for (int frame = 0; frame < frames; ++frame) {
    SgmInput input = still;
    for (auto* block : {&input.left, &input.right})
      for (std::uint8_t& byte : *block)  // noise with a standard deviation of 2 levels
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
      validity_changed += is_known != was_known;
      known_truth += is_known && truth[i] != 0;
      wrong += is_known && truth[i] != 0 && std::abs(map[i] - truth[i]) > 16;
    }
    before = map;
  }
  const auto share = [](int part, int whole) { return 1.0 * part / whole; };
  return {share(moved, counted), share(validity_changed, counted), share(known, counted),
          share(wrong, known_truth)};
}

CUDAVISION_ON_BOTH_DEVICES(StereoOverTime);

TEST_P(StereoOverTime, StillScenesAreStill) {
  CUDAVISION_NEEDS_PAIRS();
  struct Setting {
    double alpha;
    int delta, persistence;
    bool fill;
    double max_moved, max_validity_changed;
  };
  // The limits are relative to the latest result with alpha 1, for which the filter is off.
  const Setting settings[] = {
      {1, 1, 0, false, 1, 1},        {0.4, 1, 0, false, 0.6, 1.001}, {0.4, 1, 4, false, 0.6, 0.25},
      {0.1, 3, 10, false, 0.2, 0.1}, {1, 1, 0, true, 1, 1},          {0.4, 1, 4, true, 0.6, 1},
      {0.1, 3, 10, true, 0.2, 1},
  };
  Flicker off;
  for (const Setting& setting : settings) {
    sgm::Parameters parameters;
    parameters.temporal_alpha = setting.alpha;
    parameters.temporal_delta = setting.delta;
    parameters.temporal_persistence = setting.persistence;
    parameters.fill_holes = setting.fill;
    Flicker mean;
    constexpr int pairs = 4;  // the pairs with 64 disparities
    for (int i = 0; i < pairs; ++i) {
      const Flicker one = flicker_of(device, scenes[i], parameters);
      mean.moved += one.moved / pairs;
      mean.validity_changed += one.validity_changed / pairs;
      mean.known += one.known / pairs;
      mean.off_by_one += one.off_by_one / pairs;
    }
    std::printf(
        "alpha %.1f within %d, kept for %d%s: %.4f moved, %.4f changed validity, %.4f known, "
        "of these %.4f wrong\n",
        setting.alpha, setting.delta, setting.persistence, setting.fill ? ", filled" : "",
        mean.moved, mean.validity_changed, mean.known, mean.off_by_one);
    if (setting.alpha == 1)
      off = mean;
    EXPECT_LE(mean.moved, setting.max_moved * off.moved);
    EXPECT_LE(mean.validity_changed, setting.max_validity_changed * off.validity_changed);
    EXPECT_LE(mean.off_by_one, off.off_by_one + 0.012);
  }
}

CUDAVISION_ON_BOTH_DEVICES(StereoConfidence);

/// Mean area under the ROC curve of confidence, without hole filling and refinement. Measured:
/// 0.878 without slanted_surfaces, and 0.837 with a confidence from path-cost sums only.
TEST_P(StereoConfidence, TellsWrongFromRight) {
  CUDAVISION_NEEDS_PAIRS();
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
}

}  // namespace
}  // namespace cudavision::test
