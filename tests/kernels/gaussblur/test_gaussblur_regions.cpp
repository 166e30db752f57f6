// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Blurs only the regions of a frame, and compares the result with a blend of whole frames.

#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

CUDAVISION_REGION_CASES(GaussBlurRegions, make_gaussblur_case);

/// Frames of many work items, for each of the CUDA kernels.
struct LargeFrame {
  const char* name;
  const char* layout;
  Parameters parameters;
};

void PrintTo(const LargeFrame& frame, std::ostream* stream) {
  *stream << frame.layout;
}

const LargeFrame large_frames[] = {
    {"Direct", "GRAY8", with_size(5, 5)},
    {"DirectNv12", "NV12", with_size(3, 3)},
    {"Small", "GRAY8", with_sigma(2)},
    {"SmallRgb", "RGB", with_sigma(2)},
    {"SmallYuy2", "YUY2", with_sigma(2)},
    {"SmallWords", "P010", with_sigma(1.5)},
    {"SmallFine", "GRAY8", changed([](Parameters& p) { p.fine = true; })},
    {"Pixels", "RGBA", with_sigma(2)},
    {"Large", "GRAY8", with_sigma(12)},
    {"LargeNv12", "NV12", with_sigma(12)},
    {"LargeWords", "GRAY16", with_sigma(12)},
    {"Largest", "RGBA", with_size(1023, 1023)},
    {"Fields", "NV12", changed([](Parameters& p) { p.fields = true; })},
    {"Wrap", "GRAY8", with_size(31, 31, Border::wrap)},
    {"Sharpen", "RGBx", changed([](Parameters& p) { p.sharpen = true; })},
};

class GaussBlurLargeRegions : public testing::TestWithParam<LargeFrame> {
 protected:
  static void run(Device& device) {
    const LargeFrame& frame = GetParam();
    for (const int feather : {0, 20})
      expect_same_in_regions(device,
                             plain_gaussblur_case(layout_named(frame.layout, 2051, 1203),
                                                  frame.parameters, Content::random, 83),
                             four_regions(feather));
  }
};

TEST_P(GaussBlurLargeRegions, CpuEqualsTheBlendOfWholeFrames) {
  CUDAVISION_NEEDS_PIXELS(2051 * 1203);
  run(*make_cpu_device());
}

TEST_P(GaussBlurLargeRegions, CudaEqualsTheBlendOfWholeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(2051 * 1203);
  CudaTestDevice device;
  run(*device);
}

INSTANTIATE_TEST_SUITE_P(Table, GaussBlurLargeRegions, testing::ValuesIn(large_frames),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cudavision::test
