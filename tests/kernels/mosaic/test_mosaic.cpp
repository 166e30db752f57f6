// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/mosaic/mosaic_case.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace mosaic;

CUDAVISION_RANDOM_CASES(MosaicCases, make_mosaic_case);

CUDAVISION_REGION_CASES(MosaicRegions, make_mosaic_case);

Parameters of_fields(Parameters parameters) {
  parameters.fields = true;
  return parameters;
}

Parameters alpha_kept(Parameters parameters) {
  parameters.hide_alpha = false;
  return parameters;
}

const Extreme<Parameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, blocks_of(2)},
    {"OnePixelFields", "NV12", 1, 1, Content::random, of_fields(blocks_of(2))},
    {"SmallestBlocks", "GRAY8", 1031, 37, Content::random, blocks_of(2)},
    {"SmallestBlocksI420", "I420", 531, 37, Content::random, blocks_of(2)},
    {"SmallestBlocksRgba", "RGBA", 531, 37, Content::random, blocks_of(2)},
    {"OddBlocksI420", "I420", 331, 67, Content::random, blocks_of(3)},
    {"OddBlocksUyvy", "UYVY", 1031, 267, Content::random, blocks_of(255)},
    {"OddBlocksFields", "I420", 331, 67, Content::random, of_fields(blocks_of(7))},
    {"FieldsOfTwoRows", "I420", 31, 2, Content::random, of_fields(blocks_of(2))},
    {"FieldsOfSixRows", "NV12", 31, 6, Content::random, of_fields(blocks_of(2))},
    {"LargestSum", "GRAY16", 700, 300, Content::maximum, blocks_of(256)},
    {"LargestSumBytes", "GRAY8", 700, 300, Content::maximum, blocks_of(256)},
    {"LargestBlocksRgba", "RGBA", 700, 300, Content::random, blocks_of(256)},
    {"AlphaKept", "RGBA", 333, 100, Content::random, alpha_kept(blocks_of(16))},
    {"AlphaPlaneKept", "GBRA", 333, 100, Content::random, alpha_kept(blocks_of(16))},
    {"Solid", "I420", 333, 101, Content::random, solid_colour(8)},
    {"SolidP010", "P010", 333, 101, Content::random, solid_colour(10)},
    {"SolidRgbx", "RGBx", 333, 101, Content::random, solid_colour(8)},
    {"SolidAlphaKept", "ARGB", 333, 101, Content::random, alpha_kept(solid_colour(8))},
    {"Roomy", "GRAY8Roomy", 90, 60, Content::random, blocks_of(8)},
    {"WidestRow", "GRAY8", 65535, 1, Content::random, blocks_of(100)},
    {"HighestColumn", "RGBx", 1, 65535, Content::random, blocks_of(100)},
};

CUDAVISION_TABLE_CASES(MosaicExtremes, extremes, dense_and_ragged<MosaicCase>);

const Extreme<Parameters> large[] = {
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, blocks_of(16)},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, blocks_of(24)},
    {"FullHdRgb", "RGB", 1921, 1081, Content::natural, blocks_of(10)},
    {"UhdP010", "P010", 3840, 2160, Content::natural, blocks_of(32)},
    {"UhdSolid", "NV12", 3840, 2160, Content::natural, solid_colour(8)},
};

CUDAVISION_CUDA_TABLE_CASES(MosaicLarge, large, dense<MosaicCase>);

}  // namespace
}  // namespace cudavision::test
