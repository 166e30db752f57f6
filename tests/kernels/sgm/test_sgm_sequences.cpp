// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every byte of SgmStereo's output for sequences of frames, with the filter over time and
// the confidence threshold: on the CPU device with the definition, and on the CUDA device with the
// CPU device.

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_sequence.h"

namespace cudavision::test {
namespace {

using Parameters = sgm::Parameters;

constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

/// Tests of a share of the random sequences.
class SgmSequenceCases : public CaseShares {
 protected:
  static void for_each_sequence(const std::function<void(const SgmSequence&)>& check) {
    for_each_case_number([&](int number) {
      constexpr SgmSequence (*makers[])(std::uint64_t, int, int) = {
          make_sgm_sequence, make_slanted_sgm_sequence, make_noisy_sgm_sequence};
      const auto make = makers[number % 3];
      const SgmSequence sequence = make(settings().seed, number, settings().max_pixels);
      SCOPED_TRACE(describe(sequence));
      check(sequence);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Shares, SgmSequenceCases, CaseShares::all());

TEST_P(SgmSequenceCases, CpuEqualsDefinition) {
  for_each_sequence([](const SgmSequence& sequence) {
    const auto device = make_cpu_device();
    const SgmOutputs outputs = run_sequence(*device, sequence, poison);
    ASSERT_EQ(difference(sequence, defined_outputs(sequence, poison), outputs), "");
    ASSERT_EQ(hash(sequence, run_sequence(*device, sequence, other_poison)),
              hash(sequence, outputs));
  });
}

TEST_P(SgmSequenceCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_sequence([&](const SgmSequence& sequence) {
    const SgmOutputs expected = run_sequence(*cpu, sequence, poison);
    ASSERT_EQ(difference(sequence, expected, run_sequence(*cuda, sequence, poison)), "");
    ASSERT_EQ(hash(sequence, run_sequence(*cuda, sequence, other_poison)),
              hash(sequence, expected));
  });
}

/// The random sequences have few pixels, because the definition is slow.
TEST(SgmSequences, CudaEqualsCpuForLargeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(641 * 479);
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for (const char* layout : {"GRAY8", "P010", "RGBx"}) {
    SgmCase test = plain_sgm_case(layout_named(layout, layout[0] == 'P' ? 640 : 641, 478),
                                  few_disparities(), Content::natural, 9);
    test.parameters.temporal_alpha = 0.3;
    test.parameters.temporal_persistence = 2;
    test.parameters.confidence_threshold = 20;
    SgmSequence sequence;
    for (const std::uint64_t seed : {9, 9, 10, 10, 9, 9, 9}) {
      test.content_seed = seed;
      sequence.steps.push_back({test, input_block(test), false});
      // Every frame has some pixels of its own.
      Random random(sequence.steps.size());
      for (std::uint8_t& byte : sequence.steps.back().input.left)
        byte = static_cast<std::uint8_t>(byte ^ (random.one_in(9) ? 6 : 0));
    }
    EXPECT_EQ(difference(sequence, run_sequence(*cpu, sequence, poison),
                         run_sequence(*cuda, sequence, poison)),
              "")
        << layout;
  }
}

/* What the filter is for, in small sequences whose results are plain to see. */

constexpr int width = 96, height = 40, true_disparity = 9;

class SgmOverTime : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, SgmOverTime, both_devices(), device_name);

Parameters plain() {
  Parameters parameters = few_disparities();
  parameters.subpixel = false;
  parameters.refine = false;
  parameters.speckle_size = 0;
  return parameters;
}

/// A wall at a distance, in light that makes it `darker` times as dark. Where `covered`, the right
/// camera sees something else. Scenes of even and odd seeds have their dark half on different
/// sides.
SgmInput wall(const SgmCase& test, std::uint64_t seed, int disparity, bool covered, int darker) {
  Random random(seed);
  std::vector<std::uint8_t> scene;
  for (int i = 0; i < width * height; ++i) {
    const bool dark_half = (i % width < width / 2) == (seed % 2 == 0);
    scene.push_back(static_cast<std::uint8_t>(random.between(0, dark_half ? 127 : 255) / darker));
  }
  SgmInput input{scene, scene};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int from = std::min(x + disparity, width - 1);
      const bool hidden = covered && x > 40 && x < 60 && y > 10 && y < 30;
      input.right[static_cast<std::size_t>(y * width + x)] =
          hidden ? static_cast<std::uint8_t>(random.between(0, 255))
                 : scene[static_cast<std::size_t>(y * width + from)];
    }
  input.left.resize(test.left.bytes);
  input.right.resize(test.right.bytes);
  return input;
}

/// Matches walls one after the other.
class Walls {
 public:
  Walls(Device& device, const Parameters& parameters)
      : device_(device),
        test_(plain_sgm_case(gray_layout(width, height), parameters, Content::random, 0)),
        stereo_(test_.make(device, parameters)) {
    // Some covered pixels match by chance. The tests look at one that does not.
    sgm::SgmStereo unfiltered = test_.make(device, plain());
    match(unfiltered, true_disparity, true, 1);
    EXPECT_GT(unknown(), 100);
    for (int y = 12; y < 29; ++y)
      for (int x = 44 + true_disparity; x < 57 + true_disparity; ++x)
        if (number_at(x, y) == -16)
          place_ = y * width + x;
  }

  sgm::SgmStereo& stereo() { return stereo_; }

  /// Returns the number of a pixel in the map, in sixteenths. covered() walls cover it.
  int match(int disparity, bool covered = false, std::uint64_t seed = 1, int darker = 1) {
    match(stereo_, disparity, covered, seed, darker);
    return number_at(place_ % width, place_ / width);
  }

  /// Returns how many of the pixels that covered walls cover are unknown.
  int unknown() const {
    int count = 0;
    for (int y = 12; y < 29; ++y)
      for (int x = 44 + true_disparity; x < 57 + true_disparity; ++x)
        count += number_at(x, y) == -16;
    return count;
  }
  int confidence() const { return output_.confidence[static_cast<std::size_t>(place_)]; }

 private:
  void match(sgm::SgmStereo& stereo, int disparity, bool covered, std::uint64_t seed,
             int darker = 1) {
    const SgmFrames frames(device_, test_, wall(test_, seed, disparity, covered, darker));
    frames.run(stereo);
    device_.finish();
    output_ = frames.output();
  }
  int number_at(int x, int y) const {
    std::int16_t number = 0;
    std::memcpy(&number, output_.disparity.data() + 2 * (y * width + x), sizeof number);
    return number;
  }

  Device& device_;
  SgmCase test_;
  sgm::SgmStereo stereo_;
  SgmOutput output_;
  int place_ = 0;
};

TEST_P(SgmOverTime, UnknownPixelsKeepTheirDisparityForSomeFrames) {
  on_device([](Device& device) {
    Parameters parameters = plain();
    parameters.temporal_persistence = 2;
    Walls walls(device, parameters);
    walls.match(true_disparity);
    ASSERT_EQ(walls.unknown(), 0);
    EXPECT_GT(walls.confidence(), 0);
    for (int i = 0; i < 2; ++i) {
      walls.match(true_disparity, true);
      EXPECT_EQ(walls.unknown(), 0) << "frame " << i;
      EXPECT_EQ(walls.confidence(), 0) << "of a disparity that this frame does not show";
    }
    walls.match(true_disparity, true);
    EXPECT_GT(walls.unknown(), 100);
  });
}

TEST_P(SgmOverTime, AnotherLightKeepsDisparities) {
  on_device([](Device& device) {
    Parameters parameters = plain();
    parameters.temporal_persistence = 2;
    Walls walls(device, parameters);
    walls.match(true_disparity);
    walls.match(true_disparity, true, 1, 2);
    EXPECT_EQ(walls.unknown(), 0);
  });
}

TEST_P(SgmOverTime, OtherScenesAndRestartsForget) {
  on_device([](Device& device) {
    Parameters parameters = plain();
    parameters.temporal_persistence = 200;
    Walls walls(device, parameters);
    const auto expect_held = [&](bool held, std::uint64_t seed) {
      walls.match(true_disparity, true, seed);
      EXPECT_EQ(walls.unknown() == 0, held);
    };
    walls.match(true_disparity);
    expect_held(true, 1);
    expect_held(false, 2);  // another scene
    walls.match(true_disparity, false, 2);
    expect_held(true, 2);
    walls.stereo().restart();
    expect_held(false, 2);
    walls.match(true_disparity, false, 2);
    // Off and on again.
    Parameters off = parameters;
    off.temporal_persistence = 0;
    walls.stereo().set_parameters(off);
    walls.stereo().set_parameters(parameters);
    expect_held(false, 2);
    // Other changes keep the history.
    walls.match(true_disparity, false, 2);
    parameters.temporal_alpha = 0.5;
    parameters.confidence_threshold = 3;
    walls.stereo().set_parameters(parameters);
    expect_held(true, 2);
  });
}

}  // namespace
}  // namespace cudavision::test
