// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/histequalize/left_chroma.h"
#include "tests/kernels/histogramaverage/smoothing_suites.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

CUDAVISION_RANDOM_CASES(HistEqualizeCases, make_histequalize_case);

CUDAVISION_ON_BOTH_DEVICES(HistEqualizeLeftChroma);

TEST_P(HistEqualizeLeftChroma, EqualsDefinition) {
  expect_chroma_left(device, make_histequalize_case);
}

/// Extreme frames: counters overflow, blocks have very little or much work, or are idle.
struct Picture : Named {
  const char* layout;
  int width, height;
  Content content;
  bool dirty = false;  ///< see paint()
};

constexpr Picture extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random},
    {"OnePixelRgb", "RGB", 1, 1, Content::random},
    {"OnePixelP010", "P010", 1, 1, Content::random},
    {"TwoPixels", "GRAY8", 2, 1, Content::random},
    {"OneColumn", "GRAY8", 1, 65535, Content::natural},
    {"OneRow", "GRAY8", 65535, 1, Content::natural},
    {"OneColumnRgb", "RGB", 1, 65535, Content::random},
    {"OneRow16", "GRAY16", 65535, 1, Content::random},
    {"WordsAboveTheDepth", "I420_10", 212, 76, Content::random, true},
    {"FullHdNatural", "GRAY8", 1920, 1080, Content::natural},
    {"Uhd8kFlat", "GRAY8", 7680, 4320, Content::flat},
    {"Uhd4kTwoValued", "GRAY8", 3840, 2160, Content::two_valued},
    {"Uhd4kMaximum", "GRAY8", 3840, 2160, Content::maximum},
    {"Uhd8kFlat16", "GRAY16", 7680, 4320, Content::flat},
    {"Uhd8kSpark16", "GRAY16", 7680, 4320, Content::spark},
    {"Uhd4kRandom16", "GRAY16", 3840, 2160, Content::random},
    {"Uhd4kFlatRgbx", "RGBx", 3840, 2160, Content::flat},
    {"Uhd4kTwoValuedP010", "P010", 3840, 2160, Content::two_valued},
};

std::vector<HistEqualizeCase> dense(const Picture& picture) {
  HistEqualizeCase test = plain_histequalize_case(
      layout_named(picture.layout, picture.width, picture.height), picture.content, 77);
  test.dirty = picture.dirty;
  return {test};
}

CUDAVISION_TABLE_CASES(HistEqualizeExtremes, extremes, dense);

HistEqualizeCase natural(const FrameLayout& layout) {
  return plain_histequalize_case(layout, Content::natural, 1);
}

CUDAVISION_SMOOTHED_SEQUENCES(SmoothedSequences, make_smoothed_sequence, natural)

CUDAVISION_SMOOTHING(Smoothing, natural)

}  // namespace
}  // namespace cudavision::test
