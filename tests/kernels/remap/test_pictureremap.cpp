// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/pictureremap.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/remap/pictureremap_case.h"

namespace cudavision::test {
namespace {

CUDAVISION_RANDOM_CASES(PictureRemapCases, make_picture_remap_case);

const Extreme<PictureMapParameters> extremes[] = {
    {"OnePixel", "NV12", 1, 1, Content::maximum, {MapKind::edges, 1, 16}},
    {"OnePixelOfPairs", "YUY2", 1, 1, Content::maximum, {MapKind::edges, 2, 16}},
    {"OneRow", "RGBA", 32767, 1, Content::random, {MapKind::scattered, 3, 0}},
    {"OneColumn", "I420", 1, 32767, Content::random, {MapKind::scattered, 4, 16}},
    {"WideOffsets", "NV12", 4600, 9, Content::random, {MapKind::scattered, 6, 16}},
    {"Anywhere", "P010", 3000, 400, Content::random, {MapKind::anywhere, 7, 64}},
    {"MaximumOfWords", "GRAY16", 640, 480, Content::maximum, {MapKind::scattered, 8, 4096}},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, {MapKind::lens, 9, 16}},
    {"Uhd4kP010", "P010", 3840, 2160, Content::natural, {MapKind::lens, 11, 64}},
};

CUDAVISION_TABLE_CASES(PictureRemapExtremes, extremes, dense<PictureRemapCase>);

FrameLayout in_words(FrameLayout layout, int bits, int shift) {
  layout.bits = bits;
  layout.shift = shift;
  for (int p = 0; p < layout.plane_count; ++p)
    layout.planes[p].row_bytes *= 2;
  return layout;
}

/// Layouts for which the kernel accesses whole pixels if rows are aligned, and similar layouts.
struct WholePixels : Named {
  const char* layout;
  int bits, shift;
};

const WholePixels whole_pixels[] = {
    {"Bytes", "GRAY8", 8, 0},         {"BytePairs", "NV12", 8, 0},
    {"PlanarBytes", "I420", 8, 0},    {"ByteQuads", "BGRA", 8, 0},
    {"PaddedBytes", "RGBx", 8, 0},    {"PaddingFirst", "xBGR", 8, 0},
    {"Pairs9", "NV12", 9, 0},         {"Pairs10High", "NV12", 10, 6},
    {"Pairs10Middle", "NV12", 10, 3}, {"Pairs11", "NV12", 11, 5},
    {"Pairs12High", "NV12", 12, 4},   {"Pairs16", "NV12", 16, 0},
    {"WordQuads", "RGBA", 16, 0},     {"WordQuads12", "ABGR", 12, 2},
    {"PaddedWords", "xRGB", 16, 0},   {"Words", "I420", 12, 0},
    {"BytesOfTriples", "RGB", 8, 0},  {"WordsOfTriples", "RGB", 16, 0},
    {"PackedPairs", "YUY2", 8, 0},    {"PackedWordPairs", "UYVY", 10, 6},
};

/// Rows end before, at or after the end of a segment. Planes are aligned to 8, 4, 2 and 1 bytes.
std::vector<PictureRemapCase> cases_of(const WholePixels& pixels) {
  std::vector<PictureRemapCase> cases;
  for (const int width : {1, 2, 127, 128, 130, 640})
    for (const std::size_t alignment : {8, 4, 2, 1}) {
      FrameLayout layout = layout_named(pixels.layout, width, width < 640 ? 11 : 48);
      if (pixels.bits > 8)
        layout = in_words(layout, pixels.bits, pixels.shift);
      const std::uint64_t number = cases.size() + 1;
      const MapKind kind = number % 2 == 0 ? MapKind::lens : MapKind::scattered;
      PictureRemapCase test =
          plain_case<PictureRemapCase>(layout, {kind, number, 3}, Content::random, number);
      test.title = "rows at multiples of " + std::to_string(alignment) + " bytes";
      test.dirty = true;
      for (Placement* placement : {&test.in, &test.out}) {
        placement->bytes = 16;
        for (std::size_t p = 0; p < static_cast<std::size_t>(layout.plane_count); ++p) {
          const std::size_t odd = alignment < 8 ? alignment : 0;
          const std::size_t pitch =
              (static_cast<std::size_t>(layout.planes[p].row_bytes) + 15) / 8 * 8 + odd;
          placement->planes[p] = {placement->bytes + odd, static_cast<std::ptrdiff_t>(pitch)};
          placement->bytes += (pitch * layout.planes[p].rows + odd + 31) / 16 * 16;
        }
      }
      cases.push_back(test);
    }
  return cases;
}

CUDAVISION_TABLE_CASES(PictureRemapWholePixels, whole_pixels, cases_of);

CUDAVISION_ON_BOTH_DEVICES(PictureRemaps);

TEST_P(PictureRemaps, RefuseWithWords) {
  const FrameLayout layout = layout_named("NV12", 34, 10);
  const HostPictureMaps maps(layout, {MapKind::identity, 1, 0});
  const auto expect_refusal = [&](const FrameLayout& wrong, const remap::PictureMaps& given,
                                  int black, const char* words) {
    CUDAVISION_EXPECT_ERROR(remap::PictureRemap(device, wrong, given, black), invalid_argument,
                            words);
  };
  expect_refusal(layout, {maps.full.view(), {}}, 0, "no map for channels of 17×5 samples");
  expect_refusal(layout, {{}, maps.reduced.view()}, 0, "no map for channels of 34×10 samples");
  expect_refusal(layout, {maps.full.view(), maps.full.view()}, 0, "must have the same size");
  expect_refusal(layout_named("NV12", 36, 10), maps.view(), 0, "must have the same size");
  expect_refusal(layout, maps.view(), -1, "black is -1; it must be 0 to 255");
  expect_refusal(layout, maps.view(), 256, "black is 256");
  expect_refusal(gray_layout(32768, 1), maps.view(), 0, "must be 1 to 32767");
  expect_refusal(gray_layout(0, 1), maps.view(), 0, "width and height");
}

}  // namespace
}  // namespace cudavision::test
