// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/histogramaverage/smoothed_sequence.h"

/// Test suites for operations that can smooth histograms or tables over time.
namespace cudavision::test {

/// Makes sequences of large frames, for which the definition is too slow.
template <class Case>
std::vector<SmoothedSequence<Case>> large_sequences(Case (*make_case)(const FrameLayout& layout)) {
  using Channels = typename Case::Parameters::Channels;
  std::vector<SmoothedSequence<Case>> sequences;
  for (const char* layout : {"GRAY8", "NV12", "YUY2", "P010", "GRAY16", "RGB", "RGBx", "GBR"})
    for (const auto channels : {Channels::luminance, Channels::each}) {
      Case test = make_case(layout_named(layout, 3840, 2160));
      if (channels == Channels::each && !is_rgb(test.layout))
        continue;
      test.parameters.channels = channels;
      test.smoothing = {9000, 60000};
      auto& sequence = sequences.emplace_back();
      for (const Content content : {Content::natural, Content::gradient, Content::random}) {
        test.content = content;
        sequence.steps.push_back({test, input_block(test)});
      }
    }
  return sequences;
}

/// Defines a suite of random sequences, made by make_sequence(), and of sequences of large frames.
#define CUDAVISION_SMOOTHED_SEQUENCES(Suite, make_sequence, make_case) \
  CUDAVISION_NUMBERED_CASES(Suite, make_sequence);                     \
  TEST(Suite, CudaEqualsCpuForLargeFrames) {                           \
    CUDAVISION_NEEDS_CUDA();                                           \
    CUDAVISION_NEEDS_PIXELS(3840 * 2160);                              \
    CudaTestDevice cuda;                                               \
    for (const auto& sequence : large_sequences(make_case))            \
      expect_equal_devices(*cuda, sequence);                           \
  }

/// Equalises successive gray frames with one operation.
template <class Case>
class Video {
 public:
  using Picture = std::vector<std::uint8_t>;
  static constexpr int width = 320, height = 200;

  Video(Device& device, Case (*make_case)(const FrameLayout& layout))
      : device_(device),
        test_(smoothed(make_case(gray_layout(width, height)))),
        operation_(test_.make(device, test_.parameters)) {}

  Picture picture() const { return input_block(test_); }
  Picture picture(Content content) const {
    Case other = test_;
    other.content = content;
    return input_block(other);
  }

  Picture run(const Picture& picture, const histogramaverage::Parameters& smoothing) {
    return run(operation_, picture, smoothing, false);
  }
  Picture run_after_restart(const Picture& picture, const histogramaverage::Parameters& smoothing) {
    return run(operation_, picture, smoothing, true);
  }
  Picture run(const Picture& picture) { return run(operation_, picture, {}, false); }

  Picture by_itself(const Picture& picture) const {
    Case test = test_;
    test.smoothing.reset();
    auto operation = test.make(device_, test.parameters);
    return run(operation, picture, {}, false);
  }

 private:
  static Case smoothed(Case test) {
    test.smoothing.emplace();
    return test;
  }

  Picture run(typename Case::Operation& operation, const Picture& picture,
              const std::optional<histogramaverage::Parameters>& smoothing, bool restart) const {
    Case test = test_;
    test.smoothing = smoothing;
    test.restart = restart;
    const typename Case::Frames frames(device_, test, picture);
    frames.run(operation);
    device_.finish();
    return static_cast<const CaseFrames<Case>&>(frames).output();
  }

  Device& device_;
  Case test_;
  typename Case::Operation operation_;
};

template <class Case>
void expect_new_averages(Video<Case>& video) {
  const auto picture = video.picture(), other = video.picture(Content::narrow);
  EXPECT_EQ(video.run(picture, {100, 65536}), video.by_itself(picture));
  ASSERT_NE(video.run(other, {100, 65536}), video.by_itself(other));
  EXPECT_EQ(video.run_after_restart(other, {100, 65536}), video.by_itself(other));
  EXPECT_EQ(video.run(picture, {100, 32768}), video.by_itself(picture)) << "at a scene cut";
  EXPECT_EQ(video.run(picture), video.by_itself(picture)) << "without smoothing";
  EXPECT_EQ(video.run(other, {100, 65536}), video.by_itself(other))
      << "after a frame without smoothing";
}

template <class Case>
void expect_smoothing_refusals(Device& device, Case test) {
  test.smoothing = {2000, 40000};
  auto operation = test.make(device, test.parameters);
  const auto expect_refusal = [&](const char* words, const histogramaverage::Parameters& wrong) {
    Case one = test;
    one.smoothing = wrong;
    const typename Case::Frames frames(device, one);
    const auto untouched = frames.output();
    CUDAVISION_EXPECT_ERROR(frames.run(operation), invalid_argument, words);
    device.finish();
    EXPECT_EQ(difference(one, untouched, frames.output()), "") << "a refused run wrote";
  };
  expect_refusal("weight", {-1, 0});
  expect_refusal("threshold", {0, 65537});
  EXPECT_EQ(difference_after_run(device, test, operation), "") << "the first frame";
}

/// Defines a suite that tests when averages begin, and which parameters are refused.
#define CUDAVISION_SMOOTHING(Suite, make_case)                                  \
  CUDAVISION_ON_BOTH_DEVICES(Suite);                                            \
  TEST_P(Suite, TheFirstFrameIsEqualizedByItself) {                             \
    Video video(device, make_case);                                             \
    expect_new_averages(video);                                                 \
  }                                                                             \
  TEST_P(Suite, RefusesWrongSmoothingAndGoesOnAsBefore) {                       \
    expect_smoothing_refusals(device, make_case(layout_named("NV12", 34, 10))); \
  }

}  // namespace cudavision::test
