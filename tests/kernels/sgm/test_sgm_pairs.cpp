// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests SgmStereo on real pairs of pictures. With compatibility=libsgm it must give the same bits
// as libSGM; with the default, those of the definition, and it must stay as accurate as it is.

#include <cstdio>

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
    EXPECT_LE(score.wrong_or_missing, scene.most_wrong);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, StereoPairs,
                         testing::Combine(both_devices(), testing::ValuesIn(scenes)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == DeviceKind::cpu ? "Cpu"
                                                                                         : "Cuda") +
                                  "_" + std::get<1>(info.param).name;
                         });

class StereoConfidence : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, StereoConfidence, both_devices(), device_name);

/// Disparities that are wrong have a low confidence. Confidence is that of the map before it is
/// filled and refined, so errors are counted there. Sums alone give 0.837.
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
    EXPECT_GE(sum / std::size(scenes), 0.875);
  });
}

}  // namespace
}  // namespace cudavision::test
