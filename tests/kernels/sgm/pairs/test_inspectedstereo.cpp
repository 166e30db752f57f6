// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <vector>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/pairs/stereo_pairs.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Parameters = sgm::Parameters;

CUDAVISION_ON_BOTH_DEVICES(InspectedStereo);

/// The unfilled map equals the map without refinement and filling. Requesting it changes no output.
TEST_P(InspectedStereo, UnfilledMap) {
  for_each_case_number([&](int number) {
    const auto make = number % 2 == 0 ? make_sgm_case : make_slanted_sgm_case;
    SgmCase test = make(settings().seed, number, std::min(settings().max_pixels, 4096));
    const SgmFrames frames(device, test);
    Parameters bare = test.parameters;
    bare.fill_holes = bare.refine = false;

    const Placement placement = test.disparity;
    const DeviceBlock<std::uint8_t> block(device, std::vector<std::uint8_t>(placement.bytes, 0x77));
    const View<std::uint8_t> unfilled =
        frame_in(test.disparity_layout(), placement, block.data()).planes[0];
    SgmStereo stereo(device, test.layout, test.right_layout, bare);
    stereo.run(frames.left, frames.right, unfilled);
    device.finish();
    const std::vector<std::uint8_t> expected = block.values();
    SgmStereo whole(device, test.layout, test.right_layout, test.parameters);
    frames.run(whole);
    const SgmOutput plain = frames.output();

    const DeviceBlock<std::uint8_t> again(device, std::vector<std::uint8_t>(placement.bytes, 0x77));
    whole.restart();  // also restarts the filter over time
    whole.run(frames.left, frames.right, frames.disparity, frames.confidence,
              frame_in(test.disparity_layout(), placement, again.data()).planes[0]);
    device.finish();
    EXPECT_EQ(again.values(), expected) << describe(test);
    EXPECT_EQ(difference(test, plain, frames.output()), "") << describe(test);
  });
}

TEST_P(InspectedStereo, RefusesRoomOfAnotherSize) {
  const SgmCase test = plain_sgm_case(gray_layout(40, 30), few_disparities(), Content::random, 1);
  const SgmFrames frames(device, test);
  SgmStereo stereo(device, test.layout, test.right_layout, test.parameters);
  View<std::uint8_t> room = frames.disparity;
  --room.height;
  CUDAVISION_EXPECT_ERROR(stereo.run(frames.left, frames.right, frames.disparity, {}, room),
                          invalid_argument, "unfilled disparities");
}

}  // namespace
}  // namespace cudavision::test
