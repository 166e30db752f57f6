// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every byte of SmoothedEqualize's output for sequences of frames: on the CPU device with
// the definition, and on the CUDA device with the CPU device. Also tests what smoothing is for.

#include <cmath>
#include <functional>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/histequalize/smoothed_sequence.h"

namespace cudavision::test {
namespace {

constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

void for_each_sequence(const std::function<void(const SmoothedSequence&)>& check) {
  for_each_case_number([&](int number) {
    const SmoothedSequence sequence =
        make_smoothed_sequence(settings().seed, number, settings().max_pixels);
    SCOPED_TRACE(describe(sequence));
    check(sequence);
  });
}

TEST(SmoothedSequences, CpuEqualsDefinition) {
  for_each_sequence([](const SmoothedSequence& sequence) {
    const auto device = make_cpu_device();
    const SmoothedOutputs outputs = run_sequence(*device, sequence, poison);
    ASSERT_EQ(difference(sequence, defined_outputs(sequence, poison), outputs), "");
    ASSERT_EQ(hash(sequence, run_sequence(*device, sequence, other_poison)),
              hash(sequence, outputs));
  });
}

TEST(SmoothedSequences, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_sequence([&](const SmoothedSequence& sequence) {
    const SmoothedOutputs expected = run_sequence(*cpu, sequence, poison);
    ASSERT_EQ(difference(sequence, expected, run_sequence(*cuda, sequence, poison)), "");
    ASSERT_EQ(hash(sequence, run_sequence(*cuda, sequence, other_poison)),
              hash(sequence, expected));
  });
}

/// The random sequences have few pixels, because the definition is slow.
TEST(SmoothedSequences, CudaEqualsCpuForLargeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(3840 * 2160);
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for (const char* layout : {"GRAY8", "NV12", "YUY2", "P010", "GRAY16", "RGB", "RGBx", "GBR"})
    for (const auto channels : {histequalize::Parameters::Channels::luminance,
                                histequalize::Parameters::Channels::each}) {
      HistEqualizeCase test =
          plain_histequalize_case(layout_named(layout, 3840, 2160), Content::natural, 9);
      if (channels == histequalize::Parameters::Channels::each && !is_rgb(test.layout))
        continue;
      test.parameters.channels = channels;
      SmoothedSequence sequence;
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

/* What smoothing is for. */

class Smoothing : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, Smoothing, both_devices(), device_name);

constexpr int width = 320, height = 200;

/// Equalises gray frames one after the other.
class Video {
 public:
  explicit Video(Device& device)
      : device_(device),
        test_(plain_histequalize_case(gray_layout(width, height), Content::natural, 1)),
        equalize_(device, test_.layout, test_.parameters) {}

  histequalize::SmoothedEqualize& equalize() { return equalize_; }
  const HistEqualizeCase& test() const { return test_; }

  std::vector<std::uint8_t> run(const std::vector<std::uint8_t>& picture,
                                const histogramaverage::Parameters& smoothing) {
    const HistEqualizeFrames frames(device_, test_, picture);
    equalize_.run(frames.in, frames.out, smoothing);
    device_.finish();
    return frames.output().out;
  }

  /// Returns what HistogramEqualize makes of a picture.
  std::vector<std::uint8_t> by_itself(const std::vector<std::uint8_t>& picture) const {
    const HistEqualizeFrames frames(device_, test_, picture);
    histequalize::HistogramEqualize(device_, test_.layout, test_.parameters)
        .run(frames.in, frames.out);
    device_.finish();
    return frames.output().out;
  }

 private:
  Device& device_;
  HistEqualizeCase test_;
  histequalize::SmoothedEqualize equalize_;
};

TEST_P(Smoothing, TheFirstFrameIsEqualizedByItself) {
  on_device([](Device& device) {
    Video video(device);
    const auto picture = input_block(video.test());
    EXPECT_EQ(video.run(picture, {100, 65536}), video.by_itself(picture));
    HistEqualizeCase dark = video.test();
    dark.content = Content::narrow;
    const auto other = input_block(dark);
    ASSERT_NE(video.run(other, {100, 65536}), video.by_itself(other));
    video.equalize().restart();
    EXPECT_EQ(video.run(other, {100, 65536}), video.by_itself(other)) << "after restart()";
    EXPECT_EQ(video.run(picture, {100, 32768}), video.by_itself(picture)) << "at a scene cut";
  });
}

/// The lower quarter of the picture blinks. The rest must not follow.
TEST_P(Smoothing, TheRestOfThePictureStaysWhileSomethingBlinks) {
  on_device([](Device& device) {
    Video video(device);
    const auto scene = input_block(video.test());
    double changes = 0, changes_by_itself = 0;
    std::vector<std::uint8_t> last, last_by_itself;
    for (int frame = 0; frame < 30; ++frame) {
      std::vector<std::uint8_t> picture = scene;
      std::fill(picture.begin() + 150 * width, picture.begin() + height * width,
                static_cast<std::uint8_t>(frame % 2 ? 230 : 25));
      const auto out = video.run(picture, {2570, 45875});
      const auto out_by_itself = video.by_itself(picture);
      for (std::size_t i = 0; frame > 0 && i < 150u * width; ++i) {
        changes += std::abs(out[i] - last[i]);
        changes_by_itself += std::abs(out_by_itself[i] - last_by_itself[i]);
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
