// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters only the regions of a frame, and compares the result with a blend of whole frames.

#include "tests/kernels/guided/guided_case.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

CUDAVISION_REGION_CASES(GuidedRegions, make_guided_case);

/// Frames of many blocks, for each kind of CUDA kernel.
const Extreme<guided::Parameters> large_frames[] = {
    {"Blocks", "GRAY8", 2641, 333, Content::natural, {8, 200}},
    {"BlocksWide", "GRAY8", 2641, 333, Content::natural, {80, 200}},
    {"BlocksNv12", "NV12", 2641, 333, Content::natural, {8, 200}},
    {"BlocksRgba", "RGBA", 641, 333, Content::natural, {8, 200}},
    {"BlocksWords", "P010", 2641, 333, Content::natural, {8, 200}},
    {"BlocksWideWords", "P010", 2641, 333, Content::natural, {80, 200}},
};

regions::Parameters two_regions() {
  regions::Parameters parameters = one_region({33, 121, 95, 177}, regions::Shape::ellipse, 6);
  parameters.boxes[1] = {500, 200, 700, 240};
  parameters.count = 2;
  return parameters;
}

class GuidedLargeRegions : public testing::TestWithParam<Extreme<guided::Parameters>> {};

TEST_P(GuidedLargeRegions, CpuEqualsTheBlendOfWholeFrames) {
  CUDAVISION_NEEDS_PIXELS(2641 * 333);
  expect_same_in_regions(*make_cpu_device(), dense<GuidedCase>(GetParam())[0], two_regions());
}

TEST_P(GuidedLargeRegions, CudaEqualsTheBlendOfWholeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(2641 * 333);
  CudaTestDevice device;
  expect_same_in_regions(*device, dense<GuidedCase>(GetParam())[0], two_regions());
}

INSTANTIATE_TEST_SUITE_P(Table, GuidedLargeRegions, testing::ValuesIn(large_frames),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cudavision::test
