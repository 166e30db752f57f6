// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests PairInspector on real pairs: unchanged, swapped, moved, rotated or darkened.
#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/kernels/sgm/pairs/stereo_pairs.h"
#include "tests/rig/inspected_pictures.h"

namespace cudavision::test {
namespace {

class RealPairs : public testing::TestWithParam<Scene> {
 protected:
  static Gray picture(const char* side) {
    const GrayPicture file = picture_of(GetParam(), side);
    Gray gray(file.width, file.height);
    std::copy(file.values.begin(), file.values.end(), gray.levels.begin());
    return gray;
  }

  static PairFigures inspected(const char* name, const Gray& left, const Gray& right,
                               int disparities) {
    const Parameters parameters = searching(disparities);
    const FrameLayout layout = gray_layout(left.width, left.height);
    const auto device = make_cpu_device();
    const auto frame = [&](const Gray& gray) {
      return frame_in(layout, dense_placement(layout), gray.levels.data());
    };
    Map map(left.levels.size());
    SgmStereo(*device, layout, layout, parameters)
        .run(frame(left), frame(right),
             {reinterpret_cast<std::uint8_t*>(map.data()), 2 * left.width, left.height,
              2 * left.width});
    const PairFigures figures = figures_of(left, right, parameters, map);
    std::printf("%s, %s, %d disparities: %s\n", GetParam().name, name, disparities,
                text_of(figures).c_str());
    return figures;
  }
};

INSTANTIATE_TEST_SUITE_P(PairInspector, RealPairs, testing::ValuesIn(scenes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RealPairs, AreGood) {
  CUDAVISION_NEEDS_PAIRS();
  const Gray left = picture("left"), right = picture("right");
  for (const int disparities : {GetParam().disparities, 2 * GetParam().disparities})
    expect_good(inspected("as it is", left, right, disparities));
  EXPECT_LT(inspected("in a large range", left, right, 256).repetition.share, 0.02);
}

TEST_P(RealPairs, AreGoodIfUnequallyExposed) {
  CUDAVISION_NEEDS_PAIRS();
  const Gray left = picture("left"), right = picture("right");
  EXPECT_FALSE(inspected("as it is", left, right, GetParam().disparities).is_unequally_exposed());
  for (const bool left_is_darker : {false, true}) {
    const Gray dark = exposed(left_is_darker ? left : right, 0.35);
    const PairFigures figures =
        left_is_darker ? inspected("left is darker", dark, right, GetParam().disparities)
                       : inspected("right is darker", left, dark, GetParam().disparities);
    expect_good(figures);
    EXPECT_TRUE(figures.is_unequally_exposed());
    EXPECT_LT(std::max(figures.left.black, figures.right.black), 0.95);
    EXPECT_LT(std::max(figures.left.saturated, figures.right.saturated), 0.4);
  }
  EXPECT_TRUE(inspected("swapped, one darker", exposed(right, 0.35), left, 128).is_swapped());
}

TEST_P(RealPairs, AreBadIfSwapped) {
  CUDAVISION_NEEDS_PAIRS();
  const Gray left = picture("left"), right = picture("right");
  for (const int disparities : {GetParam().disparities, 128})
    EXPECT_TRUE(inspected("swapped", right, left, disparities).is_swapped());
}

TEST_P(RealPairs, AreBadIfNotRectified) {
  CUDAVISION_NEEDS_PAIRS();
  const Gray left = picture("left"), right = picture("right");
  for (const int rows : {-5, 1, 2, 5, 12}) {
    const std::string name = "moved by " + std::to_string(rows);
    const PairFigures figures =
        inspected(name.c_str(), left, moved(right, 0, rows), GetParam().disparities);
    EXPECT_TRUE(figures.is_unrectified());
    EXPECT_NEAR(figures.vertical_offset, rows, 0.2);
  }
  for (const double degrees : {0.5, 1.0, 2.0}) {
    const std::string name = "rotated by " + std::to_string(degrees);
    EXPECT_TRUE(inspected(name.c_str(), left, rotated(right, degrees), GetParam().disparities)
                    .is_unrectified());
  }
}

TEST_P(RealPairs, AreBadWithTooFewDisparities) {
  CUDAVISION_NEEDS_PAIRS();
  const Gray left = picture("left"), right = picture("right");
  const Map truth = picture_of(GetParam(), "truth_x16").values;
  const int largest = *std::max_element(truth.begin(), truth.end()) / 16;
  for (const auto& [disparities, nearer] :
       {std::pair(32, 0), std::pair(64, 0), std::pair(32, 30)}) {
    if (largest + nearer < disparities)
      continue;
    const PairFigures figures = inspected(nearer > 0 ? "30 pixels apart" : "as it is", left,
                                          moved(right, -nearer, 0), disparities);
    EXPECT_TRUE(figures.exceeds_range());
    EXPECT_GE(figures.largest_disparity, disparities);
    EXPECT_LE(figures.largest_disparity, largest + nearer + 1);
  }
}

}  // namespace
}  // namespace cudavision::test
