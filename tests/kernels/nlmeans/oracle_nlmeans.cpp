// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares NlMeans with cv::fastNlMeansDenoising and cv::fastNlMeansDenoisingMulti for 8-bit
// samples, with one channel and with three channels together. This is a separate program, so that
// the other tests need no OpenCV.

#include <algorithm>
#include <opencv2/photo.hpp>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/opencv_pictures.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

FrameLayout layout_of(int width, int height, int channels) {
  return layout_named(channels == 1 ? "GRAY8" : "RGB", width, height);
}

void expect_opencv(Device& device, const cv::Mat& image, const nlmeans::Parameters& parameters) {
  cv::Mat reference;
  cv::fastNlMeansDenoising(image, reference, static_cast<float>(parameters.strength),
                           parameters.patch, parameters.search);
  const FrameLayout layout = layout_of(image.cols, image.rows, image.channels());
  const cv::Mat denoised = output_of(device, NlMeans(device, layout, parameters), image);
  EXPECT_EQ(differences(reference, denoised), 0)
      << "the number of samples that differ, in " << image.cols << "×" << image.rows << ", "
      << image.channels() << " channels, search " << parameters.search << ", patch "
      << parameters.patch << ", strength " << parameters.strength;
}

void expect_opencv_in_case(Device& device, int number) {
  Random random = random_of_case(settings().seed, number);
  const auto side = [&](int maximum) { return (random.log_uniform(maximum + 1) - 1) | 1; };
  // A strength of 0 cannot be compared, because OpenCV then divides 0 by 0.
  const nlmeans::Parameters parameters{
      random.one_in(10) ? 2 * random.between(10, 50) + 1 : side(15),
      side(random.one_in(4) ? 31 : 7), random.log_uniform(255 * 16) / 16.0};
  const int differences = parameters.search * parameters.search * parameters.patch;
  const auto [width, height] = random_picture_size(
      random, std::clamp((1 << 24) / differences, 1, std::min(settings().max_pixels, 1 << 16)));
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  expect_opencv(device,
                painted(layout_of(width, height, number % 2 ? 3 : 1), content, random.next()),
                parameters);
}

void expect_opencv_in_random_cases(Device& device) {
  for_each_case_number([&](int number) { expect_opencv_in_case(device, number); });
}

/// OpenCV denoises the frame in the middle of an odd number of frames.
void expect_opencv_in_frames(Device& device, const std::vector<cv::Mat>& images,
                             const nlmeans::Parameters& parameters) {
  const int middle = parameters.frames / 2;
  cv::Mat reference;
  cv::fastNlMeansDenoisingMulti(images, reference, middle, parameters.frames,
                                static_cast<float>(parameters.strength), parameters.patch,
                                parameters.search);
  const cv::Mat& image = images[static_cast<std::size_t>(middle)];
  const FrameLayout layout = layout_of(image.cols, image.rows, image.channels());
  const cv::Mat denoised = output_of(device, NlMeans(device, layout, parameters), images, middle);
  EXPECT_EQ(differences(reference, denoised), 0)
      << "the number of samples that differ, in " << image.cols << "×" << image.rows << ", "
      << image.channels() << " channels, " << parameters.frames << " frames, search "
      << parameters.search << ", patch " << parameters.patch << ", strength "
      << parameters.strength;
}

void expect_opencv_in_frames_case(Device& device, int number) {
  Random random = random_of_case(settings().seed, number);
  const auto side = [&](int maximum) { return (random.log_uniform(maximum + 1) - 1) | 1; };
  nlmeans::Parameters parameters{random.one_in(10) ? 2 * random.between(10, 50) + 1 : side(15),
                                 side(random.one_in(4) ? 31 : 7),
                                 random.log_uniform(255 * 16) / 16.0};
  parameters.frames = 2 * random.between(1, 4) + 1;
  const int differences =
      parameters.frames * parameters.search * parameters.search * parameters.patch;
  const auto [width, height] = random_picture_size(
      random, std::clamp((1 << 23) / differences, 1, std::min(settings().max_pixels, 1 << 16)));
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  const FrameLayout layout = layout_of(width, height, number % 2 ? 3 : 1);
  const std::uint64_t seed = random.next();
  std::vector<cv::Mat> images;
  for (int i = 0; i < parameters.frames; ++i) {
    images.push_back(painted(layout, content, random.one_in(3) ? random.next() : seed));
    // Neighbours that show the same differ by noise.
    cv::Mat noise(images.back().size(), images.back().type());
    cv::randu(noise, 0, i == parameters.frames / 2 ? 1 : 8);
    cv::add(images.back(), noise, images.back());
  }
  expect_opencv_in_frames(device, images, parameters);
}

class OpenCvFastNlMeansDenoising : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, OpenCvFastNlMeansDenoising, both_devices(), device_name);

TEST_P(OpenCvFastNlMeansDenoising, EqualInRandomCases) {
  on_device(expect_opencv_in_random_cases);
}

TEST_P(OpenCvFastNlMeansDenoising, EqualInRandomCasesOfSeveralFrames) {
  on_device([](Device& device) {
    for_each_case_number([&](int number) { expect_opencv_in_frames_case(device, number); });
  });
}

void expect_opencv_at_small_sizes(Device& device) {
  for (int width = 1; width <= 9; ++width)
    for (int height = 1; height <= 9; ++height)
      for (const nlmeans::Parameters& parameters :
           {nlmeans::Parameters{5, 3, 30}, {21, 7, 60}, {51, 5, 100}})
        expect_opencv(device,
                      painted(layout_of(width, height, (width + height) % 2 ? 3 : 1),
                              Content::random, static_cast<std::uint64_t>(width)),
                      parameters);
}

TEST_P(OpenCvFastNlMeansDenoising, EqualWhereSearchesAreLargerThanPictures) {
  on_device(expect_opencv_at_small_sizes);
}

/// Compares pictures with the default parameters, and with a lower and a higher strength.
void expect_opencv_in_pictures(Device& device) {
  for (const int channels : {1, 3})
    for (const double strength : {3.0, 10.0, 40.0})
      expect_opencv(device, painted(layout_of(320, 240, channels), Content::natural, 21),
                    {21, 7, strength});
}

TEST_P(OpenCvFastNlMeansDenoising, EqualInPictures) {
  CUDAVISION_NEEDS_PIXELS(320 * 240);
  on_device(expect_opencv_in_pictures);
}

}  // namespace
}  // namespace cudavision::test
