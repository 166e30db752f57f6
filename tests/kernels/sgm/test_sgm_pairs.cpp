// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests SgmStereo on real pairs of pictures. With compatibility=libsgm it must give the same bits
// as libSGM; with the default it must stay at least as accurate as it is. The pairs are not part of
// the project. CUDAVISION_STEREO_PAIRS names a folder that holds one folder for each pair, with
// these files:
//   left.png, right.png        the gray pictures
//   truth_x16.png              true disparities of the left picture in sixteenths, 0 if unknown
//   libsgm_d<disparities>_p<paths>_sub<subpixel>.png
//                              the map that libSGM 3.1.0 makes with its own defaults

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/png.h"
#include "tests/kernels/sgm/sgm_case.h"

#define CUDAVISION_NEEDS_PAIRS()                                                             \
  do {                                                                                       \
    if (!std::getenv("CUDAVISION_STEREO_PAIRS"))                                             \
      GTEST_SKIP() << "no real pairs to match: set CUDAVISION_STEREO_PAIRS to their folder"; \
    if (cudavision::test::settings().small)                                                  \
      GTEST_SKIP() << "real pairs are not matched while CUDAVISION_TEST_MAX_PIXELS is set";  \
  } while (false)

namespace cudavision::test {
namespace {

using namespace sgm;

using Compatibility = sgm::Parameters::Compatibility;

struct Scene {
  const char* name;
  int disparities;
  /// The largest share of true disparities that may be missing or off by more than a pixel.
  double most_wrong;
};

constexpr Scene scenes[] = {
    {"cones", 64, 0.132},   {"teddy", 64, 0.149}, {"venus", 64, 0.030},
    {"tsukuba", 64, 0.070}, {"aloe", 256, 0.156},
};

GrayPicture picture_of(const Scene& scene, const std::string& name) {
  return read_png(std::string(std::getenv("CUDAVISION_STEREO_PAIRS")) + "/" + scene.name + "/" +
                  name + ".png");
}

Map matched(Device& device, const Scene& scene, const sgm::Parameters& parameters) {
  const GrayPicture left = picture_of(scene, "left"), right = picture_of(scene, "right");
  SgmCase test = plain_sgm_case(gray_layout(left.width, left.height, left.bits), parameters,
                                Content::random, 0);
  test.with_confidence = false;
  // A dense placement begins at byte 0; its block may be longer than the picture.
  SgmInput input{left.samples(), right.samples()};
  input.left.resize(test.left.bytes);
  input.right.resize(test.right.bytes);
  const SgmOutput output = SgmRunner(device, test).run(input, 0xcd);
  Map map(left.values.size());
  std::memcpy(map.data(), output.disparity.data(), 2 * map.size());
  return map;
}

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
      const Map map = matched(device, scene, parameters);
      ASSERT_EQ(map.size(), libsgm.values.size());
      int different = 0;
      for (std::size_t i = 0; i < map.size(); ++i)
        different += map[i] != libsgm.values[i];
      EXPECT_EQ(different, 0) << "pixels of " << map.size();
    }
  });
}

TEST_P(StereoPairs, AreAsTrueAsTheyWere) {
  on_device([](Device& device, const Scene& scene) {
    sgm::Parameters parameters;
    parameters.disparities = scene.disparities;
    parameters.speckle_size = 100;
    const Map holed = matched(device, scene, parameters);
    parameters.fill_holes = true;
    const Map filled = matched(device, scene, parameters);
    const GrayPicture truth = picture_of(scene, "truth_x16");
    ASSERT_EQ(truth.values.size(), filled.size());
    int count = 0, wrong = 0, known = 0;
    double error = 0;
    for (std::size_t i = 0; i < filled.size(); ++i) {
      if (truth.values[i] == 0)
        continue;
      const auto off = [&](std::uint16_t number) {
        return std::abs(static_cast<std::int16_t>(number) - truth.values[i]) / 16.0;
      };
      ++count;
      wrong += off(filled[i]) > 1;
      if (holed[i] != disparity_scale(parameters).invalid) {
        ++known;
        error += off(holed[i]);
      }
    }
    ASSERT_GT(known, 0);
    std::printf(
        "%s: %.4f wrong or missing; before filling %.4f known, %.3f pixels off on average\n",
        scene.name, 1.0 * wrong / count, 1.0 * known / count, error / known);
    EXPECT_LE(1.0 * wrong / count, scene.most_wrong);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, StereoPairs,
                         testing::Combine(both_devices(), testing::ValuesIn(scenes)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == DeviceKind::cpu ? "Cpu"
                                                                                         : "Cuda") +
                                  "_" + std::get<1>(info.param).name;
                         });

void PrintTo(const Scene& scene, std::ostream* stream) {
  *stream << scene.name;
}

}  // namespace
}  // namespace cudavision::test
