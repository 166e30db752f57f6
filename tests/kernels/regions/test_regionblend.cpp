// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace regions;

CUDAVISION_RANDOM_CASES(RegionBlendCases, make_region_blend_case);
CUDAVISION_RANDOM_CASES(RotatedRegionCases, make_rotated_region_case);
CUDAVISION_RANDOM_CASES(MaskedRegionCases, make_masked_region_case);

Parameters with(Parameters parameters, int margin, bool invert) {
  parameters.margin = margin;
  parameters.invert = invert;
  return parameters;
}

Parameters of_fields(Parameters parameters) {
  parameters.fields = true;
  return parameters;
}

Parameters rectangle(const Box& box, int feather = 0) {
  return one_region(box, Shape::rectangle, feather);
}
Parameters ellipse(const Box& box, int feather = 0) {
  return one_region(box, Shape::ellipse, feather);
}

Parameters rotated(Parameters parameters, int angle) {
  parameters.angles.fill(static_cast<std::uint16_t>(angle));
  return parameters;
}

/// Returns max_count boxes in a grid that extends beyond the frame.
Parameters max_regions(Shape shape, int feather) {
  Parameters parameters = one_region({}, shape, feather);
  for (parameters.count = 0; parameters.count < Parameters::max_count; ++parameters.count) {
    const int x = parameters.count % 32 * 9 - 10, y = parameters.count / 32 * 7 - 5;
    parameters.boxes[static_cast<std::size_t>(parameters.count)] = {x, y, x + 4, y + 3};
  }
  return parameters;
}

/// Two boxes that share an edge through the middle of chroma samples.
Parameters adjoining() {
  Parameters parameters = rectangle({10, 10, 21, 41});
  parameters.boxes[1] = {21, 10, 60, 41};
  parameters.count = 2;
  return parameters;
}

const Extreme<Parameters> extremes[] = {
    {"None", "GRAY8", 70, 50, Content::random, {}},
    {"NoneInverted", "NV12", 70, 50, Content::random, with({}, 0, true)},
    {"OnlyEmpty", "GRAY8", 70, 50, Content::random, with(rectangle({5, 5, 5, 40}, 9), 20, false)},
    {"OnePixel", "GRAY8", 1, 1, Content::random, rectangle({0, 0, 1, 1})},
    {"OnePixelFeather", "RGB", 1, 1, Content::random, rectangle({3, 0, 4, 1}, 9)},
    {"WholeFrameInverted", "P010", 71, 51, Content::random,
     with(rectangle({0, 0, 71, 51}), 0, true)},
    {"LargestCoordinates", "RGBA", 71, 51, Content::random,
     with(rectangle({-1048576, -1048576, 1048576, 1048576}, 65535), 65535, false)},
    {"LargestEllipse", "RGBA", 71, 51, Content::random,
     with(ellipse({-1048576, -1048576, 1048576, 1048576}, 65535), 65535, false)},
    {"FarAway", "RGBA", 71, 51, Content::random,
     with(ellipse({1048570, 1048570, 1048576, 1048576}, 65535), 65535, false)},
    {"LargestFeather", "NV12", 300, 200, Content::random, rectangle({10, 10, 12, 12}, 65535)},
    {"LargestFeatherEllipse", "GRAY16", 300, 200, Content::random,
     ellipse({10, 10, 12, 12}, 65535)},
    {"NeedleEllipse", "GRAY8", 1000, 30, Content::random, ellipse({3, 15, 997, 16}, 12)},
    {"FeatherOfOne", "GRAY8", 90, 60, Content::random, rectangle({20, 20, 60, 40}, 1)},
    {"OddSubsampled", "I420", 91, 61, Content::random, rectangle({21, 21, 52, 40})},
    {"OddUyvy", "UYVY", 91, 61, Content::random, ellipse({20, 20, 91, 61}, 7)},
    {"AdjoiningInverted", "NV12", 91, 61, Content::random, with(adjoining(), 0, true)},
    {"FieldRow", "I420", 90, 60, Content::random, of_fields(rectangle({20, 21, 50, 22}))},
    {"FieldRowInverted", "NV12", 90, 62, Content::random,
     of_fields(with(rectangle({1, 0, 90, 61}), 0, true))},
    {"FieldsOfOneRow", "I420", 9, 1, Content::random, of_fields(rectangle({3, 0, 4, 1}))},
    {"FieldsOfTwoRows", "I420", 9, 2, Content::random, of_fields(rectangle({3, 1, 4, 2}))},
    {"FieldsOfSixRows", "NV12", 9, 6, Content::random, of_fields(rectangle({3, 5, 4, 6}))},
    {"BlackToWhite", "GRAY16", 200, 100, Content::zeros, rectangle({80, 40, 90, 50}, 64)},
    {"WhiteToBlack", "P010", 200, 100, Content::maximum, ellipse({80, 40, 90, 50}, 64)},
    {"Roomy", "GRAY8Roomy", 90, 60, Content::random, rectangle({20, 20, 90, 60}, 5)},
    {"RoomyInverted", "GRAY8Roomy", 90, 60, Content::random,
     with(rectangle({20, 20, 30, 30}, 5), 0, true)},
    {"MostRegions", "RGB", 290, 220, Content::random, max_regions(Shape::rectangle, 0)},
    {"MostEllipses", "NV12", 290, 220, Content::random, max_regions(Shape::ellipse, 6)},
    {"MostRotated", "NV12", 290, 220, Content::random,
     rotated(max_regions(Shape::ellipse, 6), 777)},
    {"TurnedByAnEighth", "I420", 91, 61, Content::random,
     rotated(rectangle({20, 20, 60, 40}), 8192)},
    {"TurnedByAQuarter", "RGB", 91, 61, Content::random,
     rotated(rectangle({20, 20, 60, 40}, 5), 16384)},
    {"TurnedLargest", "GRAY16", 71, 51, Content::random,
     with(rotated(rectangle({-1048576, -1048576, 1048576, 1048576}, 65535), 12345), 65535, false)},
    {"TurnedLargestEllipse", "RGBA", 71, 51, Content::random,
     with(rotated(ellipse({-1048576, -1048576, 1048576, 1048576}, 65535), 54321), 65535, false)},
    {"TurnedFarAway", "RGBA", 71, 51, Content::random,
     with(rotated(ellipse({1048570, 1048570, 1048576, 1048576}, 65535), 333), 65535, false)},
    {"TurnedNeedle", "YUY2", 300, 300, Content::random,
     rotated(rectangle({3, 150, 297, 151}), 3000)},
    {"TurnedInverted", "P010", 91, 61, Content::random,
     of_fields(with(rotated(rectangle({20, 20, 60, 40}, 9), 60000), 2, true))},
    {"WidestRow", "GRAY8", 65535, 1, Content::random, ellipse({1000, -3, 60000, 4}, 900)},
    {"HighestColumn", "RGBx", 1, 65535, Content::random, rectangle({-3, 1000, 4, 60000}, 900)},
};

CUDAVISION_TABLE_CASES(RegionBlendExtremes, extremes, dense_and_ragged<RegionBlendCase>);

/// Frames that are too large for the slow definition; CUDA is compared with the CPU only.
const Extreme<Parameters> large[] = {
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, four_regions(16)},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, four_regions(16)},
    {"FullHdRgb", "RGB", 1921, 1081, Content::natural, four_regions(16)},
    {"UhdP010", "P010", 3840, 2160, Content::natural, four_regions(16)},
    {"UhdInverted", "GRAY8", 3840, 2160, Content::natural, with(four_regions(16), 3, true)},
};

CUDAVISION_CUDA_TABLE_CASES(RegionBlendLarge, large, dense<RegionBlendCase>);

}  // namespace
}  // namespace cudavision::test
