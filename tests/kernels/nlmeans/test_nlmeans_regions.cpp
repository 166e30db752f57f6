// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Denoises only the regions of a frame, and compares the result with a blend of whole frames.

#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

CUDAVISION_REGION_CASES(NlMeansRegions, make_nlmeans_case);

/// Frames of many tiles, for each kind of CUDA kernel.
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
