// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares GaussBlur with cv::GaussianBlur for 8 and 16 bits, 1 to 4 channels and every border.
#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <string>

#include "cuda/gaussblur/gausskernel.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

FrameLayout layout_of(int width, int height, int bits, int channels) {
  FrameLayout layout = gray_layout(width, height, bits);
  layout.planes[0].row_bytes *= channels;
  layout.channel_count = channels;
  for (int c = 0; c < channels; ++c)
    layout.channels[c] = {Role::luma, 0, c, channels, width, height};
  return layout;
}

FrameLayout layout_of(const cv::Mat& image) {
  return layout_of(image.cols, image.rows, image.depth() == CV_8U ? 8 : 16, image.channels());
}

int opencv_border(Border border) {
  switch (border) {
    case Border::reflect_101:
      return cv::BORDER_REFLECT_101;
    case Border::replicate:
      return cv::BORDER_REPLICATE;
    case Border::reflect:
      return cv::BORDER_REFLECT;
    case Border::wrap:
      return cv::BORDER_WRAP;
    default:
      return cv::BORDER_CONSTANT;
  }
}

/// If sigma and size of an axis are 0, the axis is not blurred; OpenCV then needs a size of 1.
cv::Size opencv_size(const gaussblur::Parameters& parameters) {
  return {parameters.sigma_x == 0 ? std::max(parameters.size_x, 1) : parameters.size_x,
          parameters.sigma_y == 0 ? std::max(parameters.size_y, 1) : parameters.size_y};
}

/// Returns OpenCV's result. OpenCV's blur has no wrapping border and only 0 as a constant, so the
/// image is padded for these borders.
cv::Mat reference(const cv::Mat& image, const gaussblur::Parameters& parameters) {
  cv::Mat result;
  const cv::Size size = opencv_size(parameters);
  // OpenCV replaces a sigma_y of 0 by sigma_x. With a size of 1, sigma_y has no effect.
  const double sigma_y = size.height == 1 ? 1 : parameters.sigma_y;
  if (parameters.border != Border::wrap && parameters.border != Border::constant) {
    cv::GaussianBlur(image, result, size, parameters.sigma_x, sigma_y,
                     opencv_border(parameters.border));
    return result;
  }
  const auto margin = [&](double sigma, int given) {
    return (given ? given : GaussKernel::size_for(sigma, image.depth() == CV_8U ? 8 : 16)) / 2;
  };
  const int right = margin(parameters.sigma_x, size.width);
  const int below = margin(parameters.sigma_y, size.height);
  const auto& values = parameters.border_values;
  cv::Mat padded;
  cv::copyMakeBorder(image, padded, below, below, right, right, opencv_border(parameters.border),
                     cv::Scalar(values[0], values[1], values[2], values[3]));
  cv::GaussianBlur(padded, result, size, parameters.sigma_x, sigma_y, cv::BORDER_REPLICATE);
  return result(cv::Rect(right, below, image.cols, image.rows));
}

std::string describe(const cv::Mat& image, const gaussblur::Parameters& p) {
  return std::to_string(image.cols) + "×" + std::to_string(image.rows) + ", " +
         std::to_string(image.channels()) + " channels of " +
         (image.depth() == CV_8U ? "8" : "16") + " bits, sigma " + std::to_string(p.sigma_x) +
         ", " + std::to_string(p.sigma_y) + ", size " + std::to_string(p.size_x) + ", " +
         std::to_string(p.size_y) + ", border " + std::to_string(static_cast<int>(p.border));
}

void expect_opencv(const cv::Mat& image, const gaussblur::Parameters& parameters) {
  const auto device = make_cpu_device();
  const cv::Mat blurred = output_of(GaussBlur(*device, layout_of(image), parameters), image);
  EXPECT_EQ(differences(reference(image, parameters), blurred), 0)
      << "the number of samples that differ, in " << describe(image, parameters);
}

gaussblur::Parameters random_parameters(Random& random, int largest, int channels) {
  const auto any_sigma = [&] { return random_sigma(random, 42); };
  const auto any_size = [&] { return random_kernel_size(random, 255); };
  gaussblur::Parameters parameters;
  // Sets sigmas, sizes or both. At 8 bits, the largest sigma, 42, results in a size of 253.
  const int given = random.between(0, 2);
  parameters.sigma_x = given == 1 ? 0 : any_sigma();
  parameters.sigma_y = given == 1 ? 0 : random.one_in(2) ? parameters.sigma_x : any_sigma();
  parameters.size_x = given == 0 ? 0 : any_size();
  parameters.size_y = given == 0 ? 0 : random.one_in(2) ? parameters.size_x : any_size();
  parameters.border = static_cast<Border>(random.between(0, 4));
  for (int c = 0; c < channels; ++c)
    parameters.border_values[c] = static_cast<std::uint16_t>(random.between(0, largest));
  return parameters;
}

void expect_opencv_in_case(int number) {
  Random random = random_of_case(settings().seed, number);
  const int bits = number % 2 ? 16 : 8;
  const int channels = number / 2 % 4 + 1;
  const auto [width, height] = random_picture_size(random, settings().max_pixels);
  const gaussblur::Parameters parameters = random_parameters(random, (1 << bits) - 1, channels);
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  expect_opencv(painted(layout_of(width, height, bits, channels), content, random.next()),
                parameters);
}

TEST(OpenCvGaussianBlur, EqualInRandomCases) {
  for_each_case_number(expect_opencv_in_case);
}

/// The blur of a single white sample shows the coefficients of the kernel.
TEST(OpenCvGaussianBlur, HasTheKernels) {
  for (const int depth : {CV_8U, CV_16U})
    for (int size = 1; size <= 1023; size += size < 255 ? 2 : 64)
      for (const double sigma : {0.0, 0.3, 1.2, 7.7, 42.0, 127.0}) {
        cv::Mat spark = cv::Mat::zeros(1, 1025, CV_MAKETYPE(depth, 1));
        spark.col(512).setTo(depth == CV_8U ? 255 : 65535);
        gaussblur::Parameters parameters = with_size(size, 1, Border::replicate);
        parameters.sigma_x = sigma;
        expect_opencv(spark, parameters);
      }
}

}  // namespace
}  // namespace cudavision::test
