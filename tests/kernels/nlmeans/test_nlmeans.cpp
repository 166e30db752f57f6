// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/nlmeans/strengths.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

CUDAVISION_RANDOM_CASES(NlMeansCases, make_nlmeans_case);
CUDAVISION_RANDOM_CASES(NlMeansStrengthCases, make_strength_case);
CUDAVISION_RANDOM_CASES(NlMeansFramesCases, make_nlmeans_frames_case);

const Extreme<Parameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, {21, 7, 10}},
    {"OnePixelLargest", "GRAY8", 1, 1, Content::random, {101, 31, 255}},
    {"OnePixelRgb", "RGB", 1, 1, Content::random, {51, 31, 255}},
    {"OnePixel16", "GRAY16", 1, 1, Content::random, {51, 31, 255}},
    {"TwoByTwoRgba", "RGBA", 2, 2, Content::random, {51, 7, 100}},
    {"ThreeByFive16", "GRAY16", 3, 5, Content::random, {51, 7, 100}},
    {"OneRow", "GRAY8", 999, 1, Content::random, {5, 7, 60}},
    {"OneColumn", "GRAY8", 1, 999, Content::random, {5, 7, 60}},
    {"WidestRow", "GRAY8", 65535, 1, Content::natural, {3, 3, 10}},
    {"HighestColumn", "GRAY8", 1, 65535, Content::natural, {3, 3, 10}},
    {"I420OnePixel", "I420", 1, 1, Content::random, {21, 7, 10}},
    {"Yuy2Width1", "YUY2", 1, 9, Content::random, {7, 3, 50}},
    // The smallest and the largest searches and patches.
    {"PatchOfOne", "GRAY8", 70, 50, Content::natural, {7, 1, 10}},
    {"SearchOfOne", "NV12", 70, 50, Content::natural, {1, 7, 10}},
    {"SearchOfThree", "NV12", 70, 50, Content::natural, {3, 31, 10}},
    {"LargestSearch", "GRAY8", 35, 29, Content::natural, {101, 3, 20}},
    {"LargestPatch", "GRAY8", 61, 37, Content::natural, {3, 31, 20}},
    {"LargestPatchRgb", "RGBx", 61, 37, Content::natural, {3, 31, 20}},
    // The largest sums of weights, samples and squared differences; extreme strengths; some tiles.
    {"Maximum", "GRAY8", 40, 33, Content::maximum, {21, 7, 255}},
    {"MaximumRgb", "RGB", 30, 23, Content::maximum, {21, 7, 255}},
    {"Maximum16", "GRAY16", 30, 23, Content::maximum, {21, 7, 255}},
    {"MaximumLargestSearch", "GRAY8", 9, 8, Content::maximum, {101, 3, 255}},
    {"MaximumLargestSearch16", "GRAY16", 9, 8, Content::maximum, {101, 3, 255}},
    {"BlackAndWhite", "GRAY8", 45, 35, Content::two_valued, {5, 31, 255}},
    {"RandomStrongest", "GRAY8", 45, 35, Content::random, {9, 7, 255}},
    {"RandomStrongestRgb", "RGB", 45, 35, Content::random, {5, 5, 255}},
    {"RandomStrongest16", "GRAY16", 45, 35, Content::random, {9, 7, 255}},
    {"Weakest", "GRAY8", 45, 35, Content::two_valued, {9, 7, 1e-30}},
    {"Weak", "GRAY8", 45, 35, Content::natural, {9, 7, 0.01}},
    {"StrengthZero", "P010", 45, 35, Content::random, {9, 7, 0}},
    {"TilesAcross", "GRAY8", 261, 41, Content::natural, {5, 7, 30}},
    {"TilesDown", "GRAY8", 33, 190, Content::natural, {5, 7, 30}},
    {"TilesNv12", "NV12", 261, 133, Content::natural, {5, 5, 30}},
    {"TilesRgba", "RGBA", 133, 71, Content::natural, {5, 3, 30}},
    // Patches with and without an own kernel. The last rows fill a kernel's step wholly or partly.
    {"Patch9", "GRAY8", 67, 35, Content::natural, {7, 9, 30}},
    {"Patch11", "GRAY8", 33, 34, Content::random, {9, 11, 30}},
    {"Patch13", "GRAY8", 31, 67, Content::natural, {5, 13, 60}},
    {"Patch15", "GRAY8", 65, 33, Content::two_valued, {7, 15, 60}},
    {"Patch17", "GRAY8", 33, 31, Content::natural, {5, 17, 60}},
    {"Patch9Rgb", "RGB", 37, 19, Content::natural, {5, 9, 30}},
    {"Patch11Rgb", "RGBA", 33, 17, Content::random, {7, 11, 100}},
    {"Patch13Rgb", "RGB", 33, 17, Content::natural, {5, 13, 30}},
    {"Patch9P010", "P010", 70, 38, Content::natural, {5, 9, 30}},
    {"Patch11Deep", "GRAY16", 33, 17, Content::random, {7, 11, 200}},
    {"Patch15Deep", "GRAY16", 34, 18, Content::natural, {5, 15, 30}},
    {"Patch17Deep", "GRAY16", 33, 17, Content::natural, {3, 17, 30}},
    {"Search13", "GRAY8", 40, 36, Content::natural, {13, 7, 30}},
    {"Search15", "GRAY16", 36, 20, Content::natural, {15, 5, 30}},
    // Tables of weights that fit into shared memory several times, once, or not at all.
    {"SmallTable", "GRAY8", 36, 20, Content::random, {7, 7, 3}},
    {"MiddleTable", "GRAY8", 36, 20, Content::random, {7, 7, 25}},
    {"LargeTable", "GRAY8", 36, 20, Content::random, {7, 7, 60}},
    {"LargestTable", "GRAY8", 36, 20, Content::random, {7, 7, 200}},
    {"LargestTableDeep", "GRAY16", 36, 20, Content::random, {5, 7, 200}},
    // Searches over several frames, for each kind of kernel and for the largest sums.
    {"FramesOnePixel", "GRAY8", 1, 1, Content::random, with_frames({21, 7, 60}, 9)},
    {"FramesTilesDown", "GRAY8", 33, 131, Content::natural, with_frames({13, 7, 20}, 2)},
    {"FramesTilesAcross", "NV12", 135, 21, Content::natural, with_frames({13, 7, 20}, 2)},
    {"FramesSearchOfOne", "NV12", 70, 50, Content::natural, with_frames({1, 7, 30}, 5)},
    {"FramesSearchOfOneRgb", "RGB", 40, 30, Content::natural, with_frames({1, 5, 30}, 3)},
    {"FramesSmallTiles", "GRAY8", 261, 41, Content::natural, with_frames({5, 5, 30}, 4)},
    {"FramesPatch11", "GRAY8", 33, 34, Content::random, with_frames({9, 11, 30}, 3)},
    {"FramesPatch15", "GRAY8", 65, 19, Content::natural, with_frames({7, 15, 60}, 3)},
    {"FramesPatch17", "GRAY8", 33, 31, Content::natural, with_frames({5, 17, 60}, 4)},
    {"FramesPatch11Rgb", "RGBA", 33, 17, Content::random, with_frames({7, 11, 100}, 3)},
    {"FramesPatch11Deep", "GRAY16", 33, 17, Content::random, with_frames({7, 11, 200}, 3)},
    {"FramesPatch15Deep", "GRAY16", 34, 18, Content::natural, with_frames({5, 15, 30}, 2)},
    {"FramesMaximum", "GRAY8", 20, 17, Content::maximum, with_frames({21, 7, 255}, 9)},
    {"FramesMaximumRgb", "RGB", 20, 13, Content::maximum, with_frames({15, 5, 255}, 9)},
    {"FramesMaximum16", "GRAY16", 20, 13, Content::maximum, with_frames({15, 7, 255}, 9)},
    {"FramesLargestSearch", "GRAY8", 9, 8, Content::maximum, with_frames({101, 3, 255}, 9)},
    {"FramesLargestSearch16", "GRAY16", 9, 8, Content::maximum, with_frames({101, 3, 255}, 9)},
    {"FramesWeakest", "GRAY8", 45, 35, Content::two_valued, with_frames({9, 7, 1e-30}, 3)},
    {"FramesStrengthZero", "P010", 45, 35, Content::random, with_frames({9, 7, 0}, 3)},
};

CUDAVISION_TABLE_CASES(NlMeansExtremes, extremes, dense_and_ragged<NlMeansCase>);

/// If tests must be small, keeps only the first `count` entries.
template <class Entry>
std::vector<Entry> fewer_if_small(std::vector<Entry> entries, std::ptrdiff_t count) {
  if (settings().small)
    entries.erase(entries.begin() + count, entries.end());
  return entries;
}

FrameLayout deep_rgb(int width, int height, int bits, int shift, bool planar) {
  FrameLayout layout = gray_layout(width, height, bits, shift);
  layout.channel_count = 3;
  if (planar)
    layout.plane_count = 3;
  else
    layout.planes[0].row_bytes *= 3;
  for (int c = 0; c < 3; ++c) {
    Channel& channel = layout.channels[c];
    channel = layout.channels[0];
    channel.role = c == 0 ? Role::green : c == 1 ? Role::red : Role::blue;
    channel.plane = planar ? c : 0;
    channel.offset = planar ? 0 : c;
    channel.step = planar ? 1 : 3;
    layout.planes[c] = layout.planes[0];
  }
  return layout;
}

/// Colour channels and a luma channel: two groups of channels, each with its own table of weights.
FrameLayout rgb_and_luma(int width, int height) {
  FrameLayout layout = layout_named("RGBA", width, height);
  layout.channels[3].role = Role::luma;
  return layout;
}

std::vector<FrameLayout> unusual_layouts() {
  if (settings().small)
    return {deep_rgb(17, 9, 16, 0, false), deep_rgb(17, 9, 12, 0, true), rgb_and_luma(17, 9)};
  return {deep_rgb(41, 23, 16, 0, false), deep_rgb(41, 23, 16, 0, true),
          deep_rgb(41, 23, 10, 6, false), deep_rgb(150, 9, 12, 0, true), rgb_and_luma(41, 23)};
}

std::vector<NlMeansCase> unusual_cases() {
  std::vector<NlMeansCase> cases;
  for (const FrameLayout& layout : unusual_layouts())
    for (const Parameters& parameters : {Parameters{7, 5, 12}, Parameters{5, 3, 255},
                                         Parameters{3, 31, 40}, with_frames({7, 5, 30}, 3)})
      for (const Content content :
           fewer_if_small<Content>({Content::natural, Content::random, Content::maximum}, 1))
        cases.push_back(plain_nlmeans_case(layout, parameters, content, 80));
  return cases;
}

/// Noise of the first and last step of each strength class, and of step 1. Channels differ in step.
std::vector<NlMeansCase> noisy_cases() {
  std::vector<NlMeansCase> cases;
  const bool small = settings().small;
  const int width = small ? 17 : 33, height = small ? 9 : 20;
  const int planar_width = small ? 17 : 70, planar_height = small ? 9 : 41;
  for (const FrameLayout& layout :
       {layout_named("GRAY8", planar_width, planar_height),
        layout_named("NV12", planar_width, planar_height), layout_named("RGBA", width, height),
        layout_named("P010", width, height), rgb_and_luma(width, height)})
    for (const int patch : fewer_if_small<int>({7, 17, 1, 9}, 2))
      for (const int step : fewer_if_small<int>({0, 47, 1, 27, 28}, 2)) {
        NlMeansCase test =
            plain_nlmeans_case(layout, {patch == 7 ? 21 : 5, patch, -1}, Content::natural, 81);
        for (std::size_t c = 0; c < test.noise.size(); ++c)
          test.noise[c] = StrengthSteps(test.parameters.search, test.parameters.frames)
                              .from[(step + 15 * static_cast<int>(c)) % strength_steps];
        cases.push_back(test);
      }
  return cases;
}

CUDAVISION_LISTED_CASES(NlMeansNoise, noisy_cases())

CUDAVISION_LISTED_CASES(NlMeansUnusualLayouts, unusual_cases())

/// Frames that are too large for the slow definition; CUDA is compared with the CPU only.
const Extreme<Parameters> large[] = {
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, {21, 7, 10}},
    {"FullHdStrong", "GRAY8", 1920, 1080, Content::random, {7, 7, 100}},
    {"FullHdSmallPatch", "NV12", 1920, 1080, Content::natural, {7, 3, 10}},
    {"FullHdPatch9", "GRAY8", 1920, 1080, Content::natural, {7, 9, 10}},
    {"FullHdPatch15", "GRAY8", 1920, 1080, Content::natural, {5, 15, 30}},
    {"FullHdLargePatch", "GRAY8", 1920, 1080, Content::natural, {5, 21, 10}},
    {"FullHd16", "GRAY16", 1920, 1080, Content::natural, {7, 7, 10}},
    {"FullHdP010", "P010", 1920, 1080, Content::natural, {5, 5, 10}},
    {"FullHdYuy2", "YUY2", 1921, 1081, Content::natural, {7, 5, 10}},
    {"VgaRgb", "RGB", 640, 480, Content::natural, {21, 7, 10}},
    {"VgaRgba", "RGBA", 641, 479, Content::natural, {9, 3, 10}},
    {"VgaLargeSearch", "GRAY8", 640, 480, Content::natural, {51, 7, 10}},
    {"VgaLargestSearch", "GRAY8", 333, 222, Content::natural, {101, 7, 10}},
    {"FullHdFrames", "GRAY8", 1920, 1080, Content::natural, with_frames({21, 7, 10}, 3)},
    {"FullHdFramesYuy2", "YUY2", 1921, 1081, Content::natural, with_frames({7, 5, 10}, 5)},
    {"FullHdFramesP010", "P010", 1920, 1080, Content::natural, with_frames({7, 7, 10}, 3)},
    {"VgaFramesRgb", "RGB", 640, 480, Content::natural, with_frames({13, 7, 10}, 3)},
    {"VgaFramesLargeSearch", "GRAY8", 320, 240, Content::natural, with_frames({51, 7, 10}, 9)},
};

CUDAVISION_CUDA_TABLE_CASES(NlMeansLarge, large, dense<NlMeansCase>);

CUDAVISION_REGION_CASES(NlMeansRegions, make_nlmeans_case);

const Extreme<nlmeans::Parameters> large_frames[] = {
    {"Tiles", "GRAY8", 641, 333, Content::natural, {7, 5, 20}},
    {"TilesNv12", "NV12", 641, 333, Content::natural, {7, 3, 20}},
    {"TilesRgba", "RGBA", 641, 333, Content::natural, {5, 3, 20}},
    {"TilesWords", "P010", 641, 333, Content::natural, {5, 5, 20}},
    {"TilesPatch9", "GRAY8", 641, 333, Content::natural, {5, 9, 20}},
    {"Any", "GRAY8", 641, 333, Content::natural, {5, 17, 20}},
    {"AnyWords", "P010", 641, 333, Content::natural, {5, 17, 20}},
    {"AnyRgb", "RGB", 641, 333, Content::natural, {5, 13, 20}},
};

regions::Parameters two_regions() {
  regions::Parameters parameters = one_region({33, 21, 95, 77}, regions::Shape::ellipse, 6);
  parameters.boxes[1] = {500, 300, 700, 400};
  parameters.count = 2;
  return parameters;
}

CUDAVISION_LARGE_REGION_CASES(NlMeansLargeRegions, NlMeansCase, large_frames, two_regions());

}  // namespace
}  // namespace cudavision::test
