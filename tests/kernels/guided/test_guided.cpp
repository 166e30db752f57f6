// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares guided filtering with its definition, and with the paper's formula in binary64.
#include <algorithm>
#include <cmath>

#include "tests/kernels/guided/guided_case.h"
#include "tests/kernels/guided/guided_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace guided;

CUDAVISION_RANDOM_CASES(GuidedCases, make_guided_case);

const Extreme<Parameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, {7, 100}},
    {"OnePixelLargest", "GRAY8", 1, 1, Content::random, {65535, 65025}},
    {"OnePixelRgb", "RGB", 1, 1, Content::random, {1, 100}},
    {"OnePixel16", "GRAY16", 1, 1, Content::random, {65535, 1}},
    {"ThreeByFive16", "GRAY16", 3, 5, Content::random, {2, 100}},
    {"OneRow", "GRAY8", 999, 1, Content::random, {7, 400}},
    {"OneColumn", "GRAY8", 1, 999, Content::random, {7, 400}},
    {"OneRowWide", "GRAY8", 30001, 1, Content::random, {9000, 400}},
    {"OneRowNarrow", "GRAY8", 30001, 1, Content::random, {8191, 400}},
    {"WidestRow", "GRAY8", 65535, 1, Content::natural, {65535, 100}},
    {"HighestColumn", "GRAY8", 1, 65535, Content::natural, {65535, 100}},
    {"Yuy2Width3", "YUY2", 3, 9, Content::random, {2, 100}},
    {"RadiusZero", "NV12", 70, 50, Content::natural, {0, 100}},
    {"EpsilonZero", "NV12", 70, 50, Content::natural, {7, 0}},
    {"EpsilonTiny", "NV12", 70, 50, Content::natural, {7, 1e-30}},
    {"Radius63", "GRAY8", 300, 200, Content::random, {63, 650}},
    {"Radius64", "GRAY8", 300, 200, Content::random, {64, 650}},
    // Windows of radius 127 have fewer than narrow_area pixels; windows of radius 128 have more.
    {"Radius127", "GRAY8", 300, 270, Content::random, {127, 650}},
    {"Radius128", "GRAY8", 300, 270, Content::random, {128, 650}},
    {"Radius127Words", "GRAY16", 300, 270, Content::random, {127, 650}},
    {"Radius128Words", "GRAY16", 300, 270, Content::random, {128, 650}},
    {"Maximum", "GRAY8", 300, 200, Content::maximum, {63, 100}},
    {"Maximum127", "GRAY8", 300, 270, Content::maximum, {127, 100}},
    {"Maximum127Words", "GRAY16", 300, 270, Content::maximum, {127, 100}},
    {"MaximumWide", "GRAY16", 300, 200, Content::maximum, {200, 100}},
    {"BlackAndWhite", "GRAY8", 300, 200, Content::two_valued, {63, 0.01}},
    {"BlackAndWhite127Words", "GRAY16", 300, 270, Content::two_valued, {127, 65025}},
    {"BlackAndWhiteWide", "GRAY16", 300, 200, Content::two_valued, {200, 65025}},
    {"Spark", "GRAY8", 300, 200, Content::spark, {8, 4}},
    {"SparkWide", "GRAY16", 300, 200, Content::spark, {300, 4}},
    // Frames that end inside a strip, a band or a group of samples of a GPU block.
    {"Strips", "GRAY8", 2311, 41, Content::natural, {15, 100}},
    {"StripsRadius50", "GRAY8", 2311, 41, Content::natural, {50, 100}},
    {"StripsWide", "GRAY8", 4999, 41, Content::natural, {700, 100}},
    {"StripsWideWords", "GRAY16", 4999, 41, Content::natural, {700, 100}},
    {"StripsGap", "GRAY8", 9999, 21, Content::random, {2500, 100}},
    {"StripsGapWords", "GRAY16", 9999, 21, Content::random, {2500, 100}},
    {"NarrowGapWords", "GRAY16", 19999, 1, Content::random, {4000, 100}},
    {"Down", "GRAY8", 64, 1999, Content::natural, {20, 100}},
    // Groups of four samples, of which only some have a whole window or are inside the frame.
    {"RaggedRadius1", "GRAY8", 259, 37, Content::random, {1, 100}},
    {"RaggedRadius2", "GRAY8", 497, 37, Content::random, {2, 100}},
    {"RaggedRadius50", "GRAY8", 2049, 37, Content::random, {50, 100}},
    {"RaggedRadius1Words", "GRAY16", 258, 37, Content::random, {1, 100}},
    {"RaggedRadius300", "GRAY8", 2347, 37, Content::random, {300, 100}},
};

CUDAVISION_TABLE_CASES(GuidedExtremes, extremes, dense_and_ragged<GuidedCase>);

const Extreme<Parameters> large[] = {
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, {8, 100}},
    {"FullHdRadius50", "GRAY8", 1920, 1080, Content::random, {50, 650}},
    {"FullHdRadius100", "GRAY8", 1920, 1080, Content::random, {100, 650}},
    {"FullHdRadius500", "GRAY8", 1920, 1080, Content::natural, {500, 650}},
    {"FullHdWhole", "GRAY16", 1920, 1080, Content::natural, {65535, 650}},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, {8, 100}},
    {"FullHdP010", "P010", 1920, 1080, Content::natural, {8, 100}},
    {"FullHdYuy2", "YUY2", 1921, 1081, Content::natural, {8, 100}},
    {"FullHdRgba", "RGBA", 1920, 1080, Content::natural, {8, 100}},
    {"UltraHd", "GRAY8", 3840, 2160, Content::natural, {8, 100}},
    {"UltraHd16", "GRAY16", 3840, 2160, Content::natural, {20, 100}},
};

CUDAVISION_CUDA_TABLE_CASES(GuidedLarge, large, dense<GuidedCase>);

/// Returns how far the largest error exceeds the half level of the last rounding, in 8-bit levels.
double largest_error(const GuidedCase& test) {
  const auto device = make_cpu_device();
  const auto input = input_block(test);
  const auto output = GuidedRunner(*device, test).run(input, poison);
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  const ConstFrame out = frame_in(test.out_layout, test.out, output.data());
  double largest = 0;
  for_each_real_guided(test.layout, test.parameters, in,
                       [&](const Channel& channel, int x, int y, double real) {
                         const int level = defined_sample(test.layout, out, channel, x, y);
                         largest = std::max(largest, std::fabs(level - real) - 0.5);
                       });
  return std::ldexp(largest, 8 - test.layout.bits);
}

TEST(GuidedAgainstThePaper, ErrsByLessThanTheContractStates) {
  for (const char* layout : {"GRAY8", "P010", "GRAY16"})
    for (const int radius : {1, 2, 8, 30, 63, 100})
      for (const double epsilon : {1.0, 10.0, 100.0, 650.25, 5000.0, 20000.0, 65025.0})
        for (const Content content : {Content::natural, Content::random, Content::two_valued,
                                      Content::spark, Content::gradient, Content::narrow}) {
          const GuidedCase test =
              plain_guided_case(layout_named(layout, 190, 130), {radius, epsilon}, content, 5);
          EXPECT_LT(largest_error(test), 0.015) << describe(test);
        }
}

TEST(GuidedAgainstThePaper, ErrsByLittleForTinyEpsilons) {
  for (const char* layout : {"GRAY8", "GRAY16"})
    for (const int radius : {1, 8, 63})
      for (const double epsilon : {1.0 / 256, 1.0 / 16}) {
        const GuidedCase test = plain_guided_case(layout_named(layout, 190, 130), {radius, epsilon},
                                                  Content::narrow, 5);
        EXPECT_LT(largest_error(test), 0.1) << describe(test);
      }
}

CUDAVISION_REGION_CASES(GuidedRegions, make_guided_case);

const Extreme<guided::Parameters> large_frames[] = {
    {"Blocks", "GRAY8", 2641, 333, Content::natural, {8, 200}},
    {"BlocksRadius80", "GRAY8", 2641, 333, Content::natural, {80, 200}},
    {"BlocksWide", "GRAY8", 2641, 333, Content::natural, {130, 200}},
    {"BlocksNv12", "NV12", 2641, 333, Content::natural, {8, 200}},
    {"BlocksRgba", "RGBA", 641, 333, Content::natural, {8, 200}},
    {"BlocksWords", "P010", 2641, 333, Content::natural, {8, 200}},
    {"BlocksWideWords", "P010", 2641, 333, Content::natural, {130, 200}},
};

regions::Parameters two_regions() {
  regions::Parameters parameters = one_region({33, 121, 95, 177}, regions::Shape::ellipse, 6);
  parameters.boxes[1] = {500, 200, 700, 240};
  parameters.count = 2;
  return parameters;
}

CUDAVISION_LARGE_REGION_CASES(GuidedLargeRegions, GuidedCase, large_frames, two_regions());

}  // namespace
}  // namespace cudavision::test
