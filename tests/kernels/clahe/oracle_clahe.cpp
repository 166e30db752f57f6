// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares Clahe with cv::createCLAHE, which supports one channel of 8 or 16 bits in full range.
// This is a separate program, so that the other tests need no OpenCV.

#include <algorithm>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cuda/clahe/clahe.h"
#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/opencv_pictures.h"

namespace cudavision::test {
namespace {

using namespace clahe;

void expect_opencv(Device& device, const cv::Mat& image, const Tiles& tiles, double clip_limit) {
  cv::Mat expected;
  cv::createCLAHE(clip_limit, cv::Size(tiles.columns, tiles.rows))->apply(image, expected);
  const int bits = image.depth() == CV_8U ? 8 : 16;
  const FrameLayout layout = gray_layout(image.cols, image.rows, bits);
  Parameters parameters;
  parameters.clip_limit = clip_limit;
  parameters.high = (1 << bits) - 1;
  const cv::Mat equalized = output_of(device, Clahe(device, layout, tiles, parameters), image);
  EXPECT_EQ(differences(expected, equalized), 0)
      << "the number of samples that differ, in " << image.cols << "×" << image.rows << ", " << bits
      << " bits, " << tiles.columns << "×" << tiles.rows << " tiles, clip limit " << clip_limit;
}

void expect_opencv_in_case(Device& device, int number) {
  Random random = random_of_case(settings().seed, number);
  const int bits = number % 3 == 2 ? 16 : 8;
  const Tiles tiles = random_tiles(random, bits);
  // OpenCV converts the limit to an int, which this one exceeds.
  double clip_limit = random_clip_limit(random);
  if (clip_limit > 1e6)
    clip_limit = 0;
  const auto [width, height] =
      random_picture_size(random, std::min(settings().max_pixels, 1 << 18));
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  expect_opencv(device, painted(gray_layout(width, height, bits), content, random.next()), tiles,
                clip_limit);
}

void expect_opencv_in_random_cases(Device& device) {
  // Two of three cases have 8 bits, and one of four grids is the usual one.
  for (int of_three = 0; of_three < 3; ++of_three)
    for_each_case_number([&](int number) { expect_opencv_in_case(device, 3 * number + of_three); });
}

class OpenCvClahe : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, OpenCvClahe, both_devices(), device_name);

TEST_P(OpenCvClahe, EqualInRandomCases) {
  on_device(expect_opencv_in_random_cases);
}

void expect_opencv_at_small_sizes(Device& device) {
  for (const int bits : {8, 16})
    for (int width = 1; width <= 9; width += 2)
      for (int height = 1; height <= 9; ++height)
        for (const Tiles& tiles : {Tiles{8, 8}, {1, 1}, {3, 5}, {9, 2}})
          expect_opencv(device,
                        painted(gray_layout(width, height, bits), Content::random,
                                static_cast<std::uint64_t>(width)),
                        tiles, 2);
}

TEST_P(OpenCvClahe, EqualWherePicturesAreSmallerThanTheirGrid) {
  on_device(expect_opencv_at_small_sizes);
}

void expect_opencv_at_usual_sizes(Device& device) {
  for (const auto& [width, height] : {std::pair{640, 480}, {1280, 720}, {1920, 1080}})
    for (const int bits : {8, 16})
      for (const double clip_limit : {2.0, 40.0})
        expect_opencv(device, painted(gray_layout(width, height, bits), Content::natural, 21),
                      {8, 8}, clip_limit);
}

TEST_P(OpenCvClahe, EqualAtUsualSizes) {
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  on_device(expect_opencv_at_usual_sizes);
}

/// Photographs from Debian's package opencv-doc.
class OpenCvClahePhotographs : public testing::TestWithParam<const char*> {
 protected:
  static std::string path() {
    return std::string("/usr/share/doc/opencv-doc/examples/data/") + GetParam();
  }

  static void expect_equal(Device& device) {
    const cv::Mat image = cv::imread(path(), cv::IMREAD_GRAYSCALE);
    ASSERT_FALSE(image.empty()) << path() << " cannot be read";
    expect_opencv(device, image, {8, 8}, 2);
    expect_opencv(device, image, {4, 16}, 3.5);
  }
};

#define CUDAVISION_NEEDS_PHOTOGRAPH()   \
  if (!std::filesystem::exists(path())) \
  GTEST_SKIP() << path() << " is missing; install Debian's package opencv-doc"

TEST_P(OpenCvClahePhotographs, CpuEqual) {
  CUDAVISION_NEEDS_PHOTOGRAPH();
  expect_equal(*make_cpu_device());
}

TEST_P(OpenCvClahePhotographs, CudaEqual) {
  CUDAVISION_NEEDS_PHOTOGRAPH();
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_equal(*device);
}

INSTANTIATE_TEST_SUITE_P(Debian, OpenCvClahePhotographs,
                         testing::Values("aloeL.jpg", "baboon.jpg", "building.jpg", "fruits.jpg",
                                         "home.jpg", "starry_night.jpg", "sudoku.png"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace cudavision::test
