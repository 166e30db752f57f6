// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every byte of SmoothedClahe's output for sequences of frames: on the CPU device with the
// definition, and on the CUDA device with the CPU device. Also tests what smoothing is for.

#include <cstdlib>
#include <functional>

#include "tests/kernels/clahe/smoothedclahe_sequence.h"
#include "tests/kernels/common/gtest_support.h"

namespace cudavision::test {
namespace {

constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

void for_each_sequence(const std::function<void(const SmoothedClaheSequence&)>& check) {
  for_each_case_number([&](int number) {
    const SmoothedClaheSequence sequence =
        make_smoothed_clahe_sequence(settings().seed, number, settings().max_pixels);
    SCOPED_TRACE(describe(sequence));
    check(sequence);
  });
}

TEST(SmoothedClaheSequences, CpuEqualsDefinition) {
  for_each_sequence([](const SmoothedClaheSequence& sequence) {
    const auto device = make_cpu_device();
    const SmoothedClaheOutputs outputs = run_sequence(*device, sequence, poison);
    ASSERT_EQ(difference(sequence, defined_outputs(sequence, poison), outputs), "");
    ASSERT_EQ(hash(sequence, run_sequence(*device, sequence, other_poison)),
              hash(sequence, outputs));
  });
}

TEST(SmoothedClaheSequences, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_sequence([&](const SmoothedClaheSequence& sequence) {
    const SmoothedClaheOutputs expected = run_sequence(*cpu, sequence, poison);
    ASSERT_EQ(difference(sequence, expected, run_sequence(*cuda, sequence, poison)), "");
    ASSERT_EQ(hash(sequence, run_sequence(*cuda, sequence, other_poison)),
              hash(sequence, expected));
  });
}

/// The random sequences have few pixels and tiles, because the definition is slow.
TEST(SmoothedClaheSequences, CudaEqualsCpuForLargeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(3840 * 2160);
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for (const char* layout : {"GRAY8", "NV12", "YUY2", "P010", "GRAY16", "RGB", "RGBx", "GBR"})
    for (const auto channels :
         {clahe::Parameters::Channels::luminance, clahe::Parameters::Channels::each}) {
      ClaheCase test = plain_clahe_case(layout_named(layout, 3840, 2160), clahe::Tiles(), 3,
                                        Content::natural, 9);
      if (channels == clahe::Parameters::Channels::each && !is_rgb(test.layout))
        continue;
      test.parameters.channels = channels;
      SmoothedClaheSequence sequence;
      for (const Content content : {Content::natural, Content::gradient, Content::random}) {
        test.content = content;
        sequence.steps.push_back({test, input_block(test), {9000, 60000}, false});
      }
      EXPECT_EQ(difference(sequence, run_sequence(*cpu, sequence, poison),
                           run_sequence(*cuda, sequence, poison)),
                "")
          << layout;
    }
}

/// Tiles of one pixel, whose averages may all be 0.
TEST(SmoothedClaheSequences, TilesOfOnePixelEqualTheDefinition) {
  SmoothedClaheSequence sequence;
  ClaheCase test = plain_clahe_case(gray_layout(24, 18), {64, 64}, 2, Content::random, 1);
  for (std::uint64_t frame = 0; frame < 6; ++frame) {
    test.content_seed = frame;
    sequence.steps.push_back({test, input_block(test), {16384, 65536}, false});
  }
  const SmoothedClaheOutputs expected = defined_outputs(sequence, poison);
  const auto cpu = make_cpu_device();
  EXPECT_EQ(difference(sequence, expected, run_sequence(*cpu, sequence, poison)), "");
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  EXPECT_EQ(difference(sequence, expected, run_sequence(*cuda, sequence, poison)), "");
}

/* What smoothing is for. */

class SmoothedTiles : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, SmoothedTiles, both_devices(), device_name);

constexpr int width = 320, height = 200;

/// Equalises gray frames one after the other.
class Video {
 public:
  explicit Video(Device& device)
      : device_(device),
        test_(plain_clahe_case(gray_layout(width, height), {4, 4}, 3, Content::natural, 1)),
        equalize_(device, test_.layout, test_.tiles, test_.parameters) {}

  clahe::SmoothedClahe& equalize() { return equalize_; }
  const ClaheCase& test() const { return test_; }

  std::vector<std::uint8_t> run(const std::vector<std::uint8_t>& picture,
                                const histogramaverage::Parameters& smoothing) {
    const ClaheCase::Frames frames(device_, test_, picture);
    equalize_.run(frames.in, frames.out, smoothing);
    device_.finish();
    return frames.output();
  }

  /// Returns what Clahe makes of a picture.
  std::vector<std::uint8_t> by_itself(const std::vector<std::uint8_t>& picture) const {
    const ClaheCase::Frames frames(device_, test_, picture);
    clahe::Clahe(device_, test_.layout, test_.tiles, test_.parameters).run(frames.in, frames.out);
    device_.finish();
    return frames.output();
  }

 private:
  Device& device_;
  ClaheCase test_;
  clahe::SmoothedClahe equalize_;
};

TEST_P(SmoothedTiles, TheFirstFrameIsEqualizedByItself) {
  on_device([](Device& device) {
    Video video(device);
    const auto picture = input_block(video.test());
    EXPECT_EQ(video.run(picture, {100, 65536}), video.by_itself(picture));
    ClaheCase dark = video.test();
    dark.content = Content::narrow;
    const auto other = input_block(dark);
    ASSERT_NE(video.run(other, {100, 65536}), video.by_itself(other));
    video.equalize().restart();
    EXPECT_EQ(video.run(other, {100, 65536}), video.by_itself(other)) << "after restart()";
    EXPECT_EQ(video.run(picture, {100, 32768}), video.by_itself(picture)) << "at a scene cut";
  });
}

/// A change in one tile that would be a scene cut there is none of the whole frame.
TEST_P(SmoothedTiles, ASceneCutIsOneOfTheWholeFrame) {
  on_device([](Device& device) {
    Video video(device);
    auto picture = input_block(video.test());
    video.run(picture, {0, 32768});
    for (std::size_t y = 0; y < height / 4; ++y)
      std::fill_n(picture.begin() + static_cast<std::ptrdiff_t>(width * y), width / 4,
                  std::uint8_t{3});
    EXPECT_NE(video.run(picture, {0, 32768}), video.by_itself(picture));
    EXPECT_EQ(video.run(picture, {0, 0}), video.by_itself(picture)) << "every change is a cut";
  });
}

/// A block in each tile blinks. The rest must not follow.
TEST_P(SmoothedTiles, TheRestOfThePictureStaysWhileSomethingBlinks) {
  on_device([](Device& device) {
    Video video(device);
    const auto scene = input_block(video.test());
    const auto blinks = [](int i) { return i % width % 80 < 40 && i / width % 50 < 25; };
    double changes = 0, changes_by_itself = 0;
    std::vector<std::uint8_t> last, last_by_itself;
    for (int frame = 0; frame < 30; ++frame) {
      std::vector<std::uint8_t> picture = scene;
      for (int i = 0; i < width * height; ++i)
        if (blinks(i))
          picture[static_cast<std::size_t>(i)] = frame % 2 ? 230 : 25;
      const auto out = video.run(picture, {2570, 45875});
      const auto out_by_itself = video.by_itself(picture);
      for (int i = 0; frame > 0 && i < width * height; ++i)
        if (!blinks(i)) {
          const auto at = static_cast<std::size_t>(i);
          changes += std::abs(out[at] - last[at]);
          changes_by_itself += std::abs(out_by_itself[at] - last_by_itself[at]);
        }
      last = out;
      last_by_itself = out_by_itself;
    }
    EXPECT_GT(changes_by_itself, 0);
    EXPECT_LT(changes, changes_by_itself / 10);
  });
}

}  // namespace
}  // namespace cudavision::test
