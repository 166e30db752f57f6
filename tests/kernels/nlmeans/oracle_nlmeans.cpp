// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares NlMeans with cv::fastNlMeansDenoising for 8-bit samples, with one channel and with three
// channels together. This is a separate program, so that the other tests need no OpenCV.

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/photo.hpp>
#include <string>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

FrameLayout layout_of(const cv::Mat& image) {
  return layout_named(image.channels() == 1 ? "GRAY8" : "RGB", image.cols, image.rows);
}

cv::Mat painted(int width, int height, int channels, Content content, std::uint64_t seed) {
  cv::Mat image(height, width, CV_MAKETYPE(CV_8U, channels));
  const FrameLayout layout = layout_of(image);
  Frame frame;
  frame.planes[0] = {image.data, layout.planes[0].row_bytes, image.rows,
                     static_cast<std::ptrdiff_t>(image.step)};
  paint(layout, frame, content, seed);
  return image;
}

cv::Mat denoised(Device& device, const cv::Mat& image, const nlmeans::Parameters& parameters) {
  const FrameLayout layout = layout_of(image);
  const int row_bytes = layout.planes[0].row_bytes;
  const std::vector<std::uint8_t> bytes(image.data, image.data + image.total() * image.elemSize());
  const DeviceBlock<std::uint8_t> in(device, bytes);
  const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(bytes.size(), 0xcd));
  ConstFrame in_frame;
  Frame out_frame;
  in_frame.planes[0] = {in.data(), row_bytes, image.rows, row_bytes};
  out_frame.planes[0] = {out.data(), row_bytes, image.rows, row_bytes};
  NlMeans(device, layout, parameters).run(in_frame, out_frame);
  device.finish();
  const std::vector<std::uint8_t> rows = out.values();
  cv::Mat result(image.rows, image.cols, image.type());
  std::copy(rows.begin(), rows.end(), result.data);
  return result;
}

void expect_opencv(Device& device, const cv::Mat& image, const nlmeans::Parameters& parameters) {
  cv::Mat reference, difference;
  cv::fastNlMeansDenoising(image, reference, static_cast<float>(parameters.strength),
                           parameters.patch, parameters.search);
  cv::compare(reference.reshape(1), denoised(device, image, parameters).reshape(1), difference,
              cv::CMP_NE);
  EXPECT_EQ(cv::countNonZero(difference), 0)
      << "the number of samples that differ, in " << image.cols << "×" << image.rows << ", "
      << image.channels() << " channels, search " << parameters.search << ", patch "
      << parameters.patch << ", strength " << parameters.strength;
}

void expect_opencv_in_case(Device& device, int number) {
  Random random(mixed_seed(settings().seed, static_cast<std::uint64_t>(number)));
  const auto side = [&](int most) { return (random.log_uniform(most + 1) - 1) | 1; };
  // A strength of 0 cannot be compared, because OpenCV then divides 0 by 0.
  const nlmeans::Parameters parameters{
      random.one_in(10) ? 2 * random.between(10, 50) + 1 : side(15),
      side(random.one_in(4) ? 31 : 7), random.log_uniform(255 * 16) / 16.0};
  const int differences = parameters.search * parameters.search * parameters.patch;
  const auto [width, height] = random_picture_size(
      random, std::clamp((1 << 24) / differences, 1, std::min(settings().max_pixels, 1 << 16)));
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  SCOPED_TRACE("repeat with CUDAVISION_TEST_CASE=" + std::to_string(number));
  expect_opencv(device, painted(width, height, number % 2 ? 3 : 1, content, random.next()),
                parameters);
}

void expect_opencv_in_random_cases(Device& device) {
  const int only = settings().only_case;
  for (int number = only < 0 ? 0 : only; number < (only < 0 ? settings().cases : only + 1);
       ++number) {
    expect_opencv_in_case(device, number);
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(OpenCvFastNlMeansDenoising, CpuEqualInRandomCases) {
  expect_opencv_in_random_cases(*make_cpu_device());
}

TEST(OpenCvFastNlMeansDenoising, CudaEqualInRandomCases) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_opencv_in_random_cases(*device);
}

void expect_opencv_at_small_sizes(Device& device) {
  for (int width = 1; width <= 9; ++width)
    for (int height = 1; height <= 9; ++height)
      for (const nlmeans::Parameters& parameters :
           {nlmeans::Parameters{5, 3, 30}, {21, 7, 60}, {51, 5, 100}})
        expect_opencv(device,
                      painted(width, height, (width + height) % 2 ? 3 : 1, Content::random,
                              static_cast<std::uint64_t>(width)),
                      parameters);
}

TEST(OpenCvFastNlMeansDenoising, CpuEqualWhereSearchesAreLargerThanPictures) {
  expect_opencv_at_small_sizes(*make_cpu_device());
}

TEST(OpenCvFastNlMeansDenoising, CudaEqualWhereSearchesAreLargerThanPictures) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_opencv_at_small_sizes(*device);
}

/// Compares pictures with the default parameters, and with a lower and a higher strength.
void expect_opencv_in_pictures(Device& device) {
  for (const int channels : {1, 3})
    for (const double strength : {3.0, 10.0, 40.0})
      expect_opencv(device, painted(320, 240, channels, Content::natural, 21), {21, 7, strength});
}

TEST(OpenCvFastNlMeansDenoising, CpuEqualInPictures) {
  CUDAVISION_NEEDS_PIXELS(320 * 240);
  expect_opencv_in_pictures(*make_cpu_device());
}

TEST(OpenCvFastNlMeansDenoising, CudaEqualInPictures) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(320 * 240);
  CudaTestDevice device;
  expect_opencv_in_pictures(*device);
}

}  // namespace
}  // namespace cudavision::test
