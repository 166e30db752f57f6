// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests what NlMeans promises about the frames that it searches: their number may change, their
// order does not matter, and others than those that the parameters say are refused.

#include <algorithm>
#include <vector>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

class NlMeansSeveralFrames : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, NlMeansSeveralFrames, both_devices(), device_name);

NlMeansCase case_of(const char* layout, int frames) {
  return plain_nlmeans_case(layout_named(layout, 45, 23), with_frames({5, 3, 30}, frames),
                            Content::natural, 5);
}

TEST_P(NlMeansSeveralFrames, MayBecomeFewerAndMoreAgain) {
  on_device([](Device& device) {
    for (const char* layout : {"GRAY8", "RGBA", "P010"}) {
      NlMeans denoising = case_of(layout, 9).make(device, with_frames({7, 5, 10}, 9));
      for (const int frames : {3, 1, 2, 9, 5, 1, 9}) {
        const NlMeansCase test = case_of(layout, frames);
        SCOPED_TRACE(describe(test));
        denoising.set_parameters(test.parameters);
        const NlMeansCase::Frames memory(device, test);
        memory.run(denoising);
        device.finish();
        EXPECT_EQ(difference_from_definition(memory), "");
      }
    }
  });
}

TEST_P(NlMeansSeveralFrames, GiveTheSameInAnyOrder) {
  on_device([](Device& device) {
    const NlMeansCase test = case_of("NV12", 6);
    NlMeans denoising = test.make(device, test.parameters);
    const NlMeansCase::Frames memory(device, test);
    std::vector<ConstFrame> neighbours = test.neighbours(memory.in);
    for (int turn = 0; turn < 5; ++turn) {
      std::rotate(neighbours.begin(), neighbours.begin() + 1, neighbours.end());
      denoising.run(memory.in, neighbours, memory.out);
      device.finish();
      EXPECT_EQ(difference_from_definition(memory), "");
    }
  });
}

/// A search of one pixel averages pixels at the same place over time.
TEST_P(NlMeansSeveralFrames, AreSearchedEvenIfTheSearchIsOnePixel) {
  on_device([](Device& device) {
    NlMeansCase test = case_of("GRAY8", 2);
    test.parameters = with_frames({1, 1, 255}, 2);
    NlMeans denoising = test.make(device, test.parameters);
    EXPECT_FALSE(denoising.identity());
    denoising.set_parameters(with_frames({1, 1, 255}, 1));
    EXPECT_TRUE(denoising.identity());
    denoising.set_parameters(with_frames({3, 1, 0}, 2));
    EXPECT_TRUE(denoising.identity());
  });
}

TEST_P(NlMeansSeveralFrames, AreRefusedIfTheyAreNotThoseOfTheParameters) {
  on_device([](Device& device) {
    const NlMeansCase test = case_of("NV12", 3);
    NlMeans denoising = test.make(device, test.parameters);
    CUDAVISION_EXPECT_ERROR(denoising.set_parameters(with_frames({5, 3, 30}, 4)), invalid_argument,
                            "4 frames; there must be 1 to 3");
    const NlMeansCase::Frames memory(device, test);
    std::vector<ConstFrame> neighbours = test.neighbours(memory.in);
    CUDAVISION_EXPECT_ERROR(denoising.run(memory.in, memory.out), invalid_argument,
                            "1 frames for parameters that say 3");
    neighbours.push_back(neighbours[0]);
    CUDAVISION_EXPECT_ERROR(denoising.run(memory.in, neighbours, memory.out), invalid_argument,
                            "4 frames for parameters that say 3");
    neighbours.pop_back();
    --neighbours[1].planes[1].height;
    CUDAVISION_EXPECT_ERROR(denoising.run(memory.in, neighbours, memory.out), invalid_argument,
                            "of the neighbour frame");
    ++neighbours[1].planes[1].height;
    EXPECT_NE(difference_from_definition(memory), "") << "something was written";
    memory.run(denoising);
    device.finish();
    EXPECT_EQ(difference_from_definition(memory), "");
  });
}

}  // namespace
}  // namespace cudavision::test
