// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/histequalize/left_chroma.h"
#include "tests/kernels/histogramaverage/smoothing_suites.h"

namespace cudavision::test {
namespace {

using namespace clahe;

CUDAVISION_RANDOM_CASES(ClaheCases, make_clahe_case);

CUDAVISION_ON_BOTH_DEVICES(ClaheLeftChroma);

TEST_P(ClaheLeftChroma, EqualsDefinition) {
  expect_chroma_left(device, make_clahe_case);
}

/// Extreme sizes, grids, depths and clip limits. Cell borders are inside or between packs.
struct Picture : Named {
  const char* layout;
  int width, height;
  Content content;
  Tiles tiles;
  double clip_limit;
};

constexpr Picture extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, {8, 8}, 2},
    {"OnePixelLargestGrid", "GRAY8", 1, 1, Content::random, {64, 64}, 2},
    {"OnePixelRgb", "RGB", 1, 1, Content::random, {8, 8}, 2},
    {"OnePixelP010", "P010", 1, 1, Content::random, {8, 8}, 2},
    {"TwoColumns", "GRAY8", 2, 100, Content::random, {64, 8}, 2},
    {"SmallerThanTheGrid", "GRAY8", 30, 20, Content::natural, {64, 64}, 3},
    {"OneColumn", "GRAY8", 1, 65535, Content::natural, {8, 8}, 2},
    {"OneRow", "GRAY8", 65535, 1, Content::natural, {8, 8}, 2},
    {"OneRow16", "GRAY16", 65535, 1, Content::random, {3, 2}, 2},
    {"AsTheGrid", "GRAY8", 64, 64, Content::random, {64, 64}, 2},
    {"OneMoreThanTheGrid", "GRAY8", 65, 65, Content::random, {64, 64}, 2},
    {"OnlyTheWidthDivides", "GRAY8", 640, 477, Content::natural, {8, 8}, 2},
    {"CellsBetweenPacks", "GRAY8", 1024, 768, Content::natural, {8, 8}, 2},
    {"CellsWithinPacks", "GRAY8", 1920, 1080, Content::natural, {8, 8}, 2},
    {"CellsOfOnePack", "GRAY8", 640, 100, Content::natural, {20, 3}, 2},
    {"CellsOfOnePackAndABit", "GRAY8", 660, 100, Content::natural, {20, 3}, 2},
    {"NarrowCells", "GRAY8", 640, 480, Content::natural, {64, 64}, 2},
    {"NarrowCellsP010", "P010", 333, 222, Content::natural, {64, 32}, 2},
    {"WideAndFlatCells", "GRAY8", 1920, 256, Content::natural, {1, 64}, 2},
    {"OneTile", "GRAY8", 1999, 700, Content::natural, {1, 1}, 2},
    {"EdgesWithinPacks", "GRAY8", 8 * 107, 8 * 90, Content::random, {8, 8}, 2},
    {"HighCells", "GRAY8", 160, 9000, Content::natural, {2, 1}, 2},
    {"TilesTooWideForEstimates", "GRAY8", 40000, 60, Content::natural, {2, 2}, 2},
    {"ManyLevelsAtHalves", "GRAY8", 256, 256, Content::random, {4, 4}, 2},
    {"TwelveBits", "GRAY12High", 1000, 500, Content::natural, {8, 8}, 2},
    {"SixteenBits", "GRAY16", 1000, 500, Content::natural, {8, 8}, 2},
    {"SixteenBitsFlat", "GRAY16", 1000, 500, Content::flat, {8, 8}, 2},
    {"SixteenBitsUnlimited", "GRAY16", 1000, 500, Content::random, {4, 4}, 0},
    {"SmallestLimit", "GRAY8", 640, 480, Content::natural, {8, 8}, 1e-300},
    {"LargestLimit", "GRAY8", 640, 480, Content::natural, {8, 8}, 1e300},
    {"Uhd4kNatural", "GRAY8", 3840, 2160, Content::natural, {8, 8}, 2},
};

std::vector<ClaheCase> cases_of(const Picture& picture) {
  return with_ragged(plain_clahe_case(layout_named(picture.layout, picture.width, picture.height),
                                      picture.tiles, picture.clip_limit, picture.content, 77));
}

CUDAVISION_TABLE_CASES(ClaheExtremes, extremes, cases_of);

/// Large frames. CUDA is compared with the CPU only, because the definition is slow.
constexpr Picture large[] = {
    {"Uhd4kFlat", "GRAY8", 3840, 2160, Content::flat, {8, 8}, 2},
    {"Uhd4kTwoValued", "GRAY8", 3840, 2160, Content::two_valued, {8, 8}, 2},
    {"Uhd4kMaximum", "GRAY8", 3840, 2160, Content::maximum, {8, 8}, 2},
    {"Uhd4kNaturalNv12", "NV12", 3840, 2160, Content::natural, {8, 8}, 2},
    {"Uhd4kNaturalRgb", "RGB", 3840, 2160, Content::natural, {8, 8}, 2},
    {"Uhd8kNatural", "GRAY8", 7680, 4320, Content::natural, {8, 8}, 2},
    {"Uhd8kFlatOneTile", "GRAY8", 7680, 4320, Content::flat, {1, 1}, 0},
    {"Uhd4kManyTiles", "GRAY8", 3840, 2160, Content::natural, {64, 64}, 2},
    {"Uhd4kSomeTiles", "GRAY8", 3840, 2160, Content::natural, {17, 15}, 2},
    {"Uhd4kOneTile", "GRAY8", 3840, 2160, Content::random, {1, 1}, 2},
    {"Uhd4kManyTilesRgbx", "RGBx", 3840, 2160, Content::natural, {64, 64}, 2},
    {"OddCells", "GRAY8", 2001, 1555, Content::natural, {8, 8}, 2},
    {"Uhd4kRandom16", "GRAY16", 3840, 2160, Content::random, {8, 8}, 2},
    {"Uhd4kManyTiles16", "GRAY16", 3840, 2160, Content::natural, {16, 16}, 2},
    {"Uhd4kOneTile16", "GRAY16", 3840, 2160, Content::natural, {1, 1}, 2},
    {"OddCells16", "GRAY16", 2001, 1555, Content::natural, {7, 5}, 2},
    {"OddCells14", "GRAY14Middle", 1201, 1055, Content::natural, {3, 5}, 2},
};

CUDAVISION_CUDA_TABLE_CASES(ClaheLarge, large, cases_of);

ClaheCase natural(const FrameLayout& layout) {
  return plain_clahe_case(layout, {4, 4}, 3, Content::natural, 1);
}
ClaheCase natural_in_usual_tiles(const FrameLayout& layout) {
  return plain_clahe_case(layout, Tiles(), 3, Content::natural, 9);
}

CUDAVISION_SMOOTHED_SEQUENCES(SmoothedClaheSequences, make_smoothed_clahe_sequence,
                              natural_in_usual_tiles)

/// In a tile of one pixel, the averages of all bins may be 0.
TEST(SmoothedClaheSequences, TilesOfOnePixelEqualTheDefinition) {
  SmoothedSequence<ClaheCase> sequence;
  ClaheCase test = plain_clahe_case(gray_layout(24, 18), {64, 64}, 2, Content::random, 1);
  test.smoothing = {16384, 65536};
  for (std::uint64_t frame = 0; frame < 6; ++frame) {
    test.content_seed = frame;
    sequence.steps.push_back({test, input_block(test)});
  }
  expect_definition(sequence);
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  expect_equal_devices(*cuda, sequence);
}

CUDAVISION_SMOOTHING(SmoothedTiles, natural)

/// The result of an unsmoothed frame must not depend on the smoothed frames before it.
TEST_P(SmoothedTiles, AreAsEverForFramesByThemselvesInBetween) {
  Video video(device, natural);
  auto picture = video.picture();
  for (int frame = 0; frame < 6; ++frame) {
    std::fill_n(picture.begin() + video.width * frame, video.width, std::uint8_t{3});
    video.run(picture, {8192, 65536});
    EXPECT_EQ(video.run(picture), video.by_itself(picture)) << "frame " << frame;
  }
}

TEST_P(SmoothedTiles, NeedAveragesThatAreKept) {
  const ClaheCase test = natural(gray_layout(33, 9));
  const ClaheCase::Frames frames(device, test);
  Clahe without = test.make(device, test.parameters);
  EXPECT_FALSE(without.keeps_averages());
  EXPECT_EQ(without.status(), nullptr);
  CUDAVISION_EXPECT_ERROR(without.run(frames.in, frames.out, {{100, 65536}}), invalid_argument,
                          "smoothing needs averages");
  without.restart();
  frames.run(without);
  device.finish();
  EXPECT_EQ(difference_from_definition(frames), "");
}

}  // namespace
}  // namespace cudavision::test
