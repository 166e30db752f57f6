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
