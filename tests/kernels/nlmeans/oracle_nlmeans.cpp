// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares NlMeans with cv::fastNlMeansDenoising and …DenoisingMulti, for one and three channels.
#include <algorithm>
#include <opencv2/photo.hpp>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

void expect_opencv(const std::vector<cv::Mat>& images, const FrameLayout& layout,
                   const nlmeans::Parameters& parameters) {
  const int middle = parameters.frames / 2;
  const cv::Mat& image = images[middle];
  const auto strength = static_cast<float>(parameters.strength);
  cv::Mat reference;
  if (parameters.frames == 1)
    cv::fastNlMeansDenoising(image, reference, strength, parameters.patch, parameters.search);
  else
    cv::fastNlMeansDenoisingMulti(images, reference, middle, parameters.frames, strength,
                                  parameters.patch, parameters.search);
  std::vector<ConstFrame> neighbours;
  for (const cv::Mat& other : images)
    if (&other != &image)
      neighbours.push_back(frame_of(other));
  const auto device = make_cpu_device();
  const cv::Mat denoised = output_of(NlMeans(*device, layout, parameters), image, neighbours);
  EXPECT_EQ(differences(reference, denoised), 0)
      << "the number of samples that differ, in " << image.cols << "×" << image.rows << ", "
      << image.channels() << " channels, " << parameters.frames << " frames, search "
      << parameters.search << ", patch " << parameters.patch << ", strength "
      << parameters.strength;
}

void expect_opencv_in_case(int number) {
  Random random = random_of_case(settings().seed, number);
  const auto side = [&](int maximum) { return (random.log_uniform(maximum + 1) - 1) | 1; };
  // Strength 0 is not tested, because OpenCV does not copy the samples then.
  nlmeans::Parameters parameters{random.one_in(10) ? 2 * random.between(10, 50) + 1 : side(15),
                                 side(random.one_in(4) ? 31 : 7),
                                 random.log_uniform(255 * 16) / 16.0};
  parameters.frames = number % 2 ? 1 : 2 * random.between(1, 4) + 1;
  const int differences =
      parameters.frames * parameters.search * parameters.search * parameters.patch;
  const auto [width, height] = random_picture_size(
      random, std::clamp((1 << 23) / differences, 1, std::min(settings().max_pixels, 1 << 16)));
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  const FrameLayout layout = layout_named(number / 2 % 2 ? "RGB" : "GRAY8", width, height);
  const std::uint64_t seed = random.next();
  std::vector<cv::Mat> images;
  for (int i = 0; i < parameters.frames; ++i) {
    images.push_back(painted(layout, content, random.one_in(3) ? random.next() : seed));
    // Frames that have the same content differ by noise.
    cv::Mat noise(images.back().size(), images.back().type());
    cv::randu(noise, 0, i == parameters.frames / 2 ? 1 : 8);
    cv::add(images.back(), noise, images.back());
  }
  expect_opencv(images, layout, parameters);
}

TEST(OpenCvFastNlMeansDenoising, EqualInRandomCases) {
  for (int half = 0; half < 2; ++half)
    for_each_case_number([&](int number) { expect_opencv_in_case(2 * number + half); });
}

}  // namespace
}  // namespace cudavision::test
