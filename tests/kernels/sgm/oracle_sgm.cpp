// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the removal of speckles with cv::filterSpeckles. This is a separate program, so that the
// other tests need no OpenCV. test_sgm_pairs.cpp compares whole maps with libSGM.

#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_stage_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

Map without_speckles(Device& device, const SgmStageCase& test) {
  const DeviceBlock<std::uint16_t> map(device, test.left);
  sgm::make_stages(device, test.config)
      ->remove_speckles(test.speckle_size, test.most_step, map.data());
  device.finish();
  return map.values();
}

/// Removes speckles with OpenCV. Its maps are signed, so `unknown` becomes −1, which has the same
/// bits.
Map without_speckles_by_opencv(const SgmStageCase& test) {
  Map map = test.left;
  cv::Mat image(test.config.height, test.config.width, CV_16S, map.data());
  cv::filterSpeckles(image, -1, test.speckle_size, test.most_step);
  return map;
}

class OracleSpeckles : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, OracleSpeckles, both_devices(), device_name);

TEST_P(OracleSpeckles, AreThoseOfOpencv) {
  on_device([](Device& device) {
    int removed = 0, kept = 0;
    for (int number = 0; number < settings().cases && !HasFailure(); ++number) {
      const SgmStageCase test = make_sgm_stage_case(settings().seed, number, settings().max_pixels);
      SCOPED_TRACE(describe(test));
      const Map ours = without_speckles(device, test);
      EXPECT_TRUE(ours == without_speckles_by_opencv(test));
      (ours == test.left ? kept : removed) += 1;
    }
    EXPECT_GT(removed, 0);
    EXPECT_GT(kept, 0);
  });
}

/// Tests a region that winds through the whole map, a comb, a chessboard and a staircase.
TEST_P(OracleSpeckles, RegionsOfAnyShape) {
  on_device([](Device& device) {
    SgmStageCase test;
    test.config.width = 301;
    test.config.height = 203;
    test.most_step = 5;
    const auto fill = [&](const std::function<int(int, int)>& number) {
      test.left.clear();
      for (int y = 0; y < test.config.height; ++y)
        for (int x = 0; x < test.config.width; ++x)
          test.left.push_back(static_cast<std::uint16_t>(number(x, y)));
    };
    // A corridor follows the even rows, which are joined alternately at their right and left ends.
    const auto corridor = [&](int x, int y) {
      const int end = y / 2 % 2 ? 0 : test.config.width - 1;
      return y % 2 == 0 || x == end ? x : sgm::unknown;
    };
    const auto comb = [&](int x, int y) {
      return x % 2 == 0 || y == test.config.height - 1 ? y : sgm::unknown;
    };
    const auto chessboard = [](int x, int y) { return (x + y) % 2 ? 100 : 106; };
    const auto steps = [](int x, int y) { return 5 * x + 6 * (y % 2); };
    for (const auto& number :
         {std::function<int(int, int)>(corridor), std::function<int(int, int)>(comb),
          std::function<int(int, int)>(chessboard), std::function<int(int, int)>(steps)}) {
      fill(number);
      for (const int size : {1, 2, 300, 301, 302, 20000, 31000, 0x7fffffff}) {
        test.speckle_size = size;
        EXPECT_TRUE(without_speckles(device, test) == without_speckles_by_opencv(test))
            << "size " << size;
      }
    }
  });
}

}  // namespace
}  // namespace cudavision::test
