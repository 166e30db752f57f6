// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares HistogramEqualize with cv::equalizeHist, which supports one 8-bit channel in full range.
// This is a separate program, so that the other tests need no OpenCV.

#include <algorithm>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/opencv_pictures.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

void expect_opencv(Device& device, const cv::Mat& image) {
  cv::Mat expected;
  cv::equalizeHist(image, expected);
  const FrameLayout layout = gray_layout(image.cols, image.rows);
  const cv::Mat equalized = output_of(device, HistogramEqualize(device, layout, {}), image);
  EXPECT_EQ(differences(expected, equalized), 0) << image.cols << "×" << image.rows;
}

void expect_opencv_at_all_sizes(Device& device) {
  for (int c = 0; c < content_count; ++c) {
    const auto content = static_cast<Content>(c);
    SCOPED_TRACE(name(content));
    for (const auto& [width, height] : {std::pair{1, 1},
                                        {2, 1},
                                        {1, 2},
                                        {3, 3},
                                        {17, 5},
                                        {1, 333},
                                        {333, 1},
                                        {255, 257},
                                        {641, 479},
                                        {1920, 1080}})
      expect_opencv(device, painted(gray_layout(width, height), content, 11));
    Random random = random_of_case(settings().seed, c);
    const int sizes = std::max(1, settings().cases / content_count);
    for (int i = 0; i < sizes; ++i) {
      const int width = random.log_uniform(700), height = random.log_uniform(700);
      expect_opencv(device, painted(gray_layout(width, height), content, random.next()));
    }
  }
}

class OpenCvEqualizeHist : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, OpenCvEqualizeHist, both_devices(), device_name);

TEST_P(OpenCvEqualizeHist, Equal) {
  on_device(expect_opencv_at_all_sizes);
}

void expect_opencv_at_8k(Device& device) {
  for (const Content content : {Content::natural, Content::flat, Content::spark})
    expect_opencv(device, painted(gray_layout(7680, 4320), content, 12));
}

TEST_P(OpenCvEqualizeHist, EqualAt8k) {
  on_device(expect_opencv_at_8k);
}

/// Photographs from Debian's package opencv-doc.
class OpenCvPhotographs : public testing::TestWithParam<const char*> {
 protected:
  static std::string folder() { return "/usr/share/doc/opencv-doc/examples/data"; }

  void expect_equal(Device& device) {
    const std::string path = folder() + "/" + GetParam();
    const cv::Mat image = cv::imread(path, cv::IMREAD_GRAYSCALE);
    ASSERT_FALSE(image.empty()) << path << " cannot be read";
    expect_opencv(device, image);
    // Also compares a part of the image, which has gaps between its rows.
    if (image.cols > 8 && image.rows > 8)
      expect_opencv(device, image(cv::Rect(3, 2, image.cols - 7, image.rows - 5)));
  }
};

#define CUDAVISION_NEEDS_PHOTOGRAPH()                                              \
  if (!std::filesystem::exists(folder() + "/" + GetParam()))                       \
  GTEST_SKIP() << folder() << "/" << GetParam() << " is missing; install Debian's" \
               << " package opencv-doc"

TEST_P(OpenCvPhotographs, CpuEqual) {
  CUDAVISION_NEEDS_PHOTOGRAPH();
  expect_equal(*make_cpu_device());
}

TEST_P(OpenCvPhotographs, CudaEqual) {
  CUDAVISION_NEEDS_PHOTOGRAPH();
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_equal(*device);
}

INSTANTIATE_TEST_SUITE_P(Debian, OpenCvPhotographs,
                         testing::Values("aloeL.jpg", "baboon.jpg", "board.jpg", "building.jpg",
                                         "butterfly.jpg", "fruits.jpg", "graf1.png", "home.jpg",
                                         "messi5.jpg", "starry_night.jpg", "sudoku.png",
                                         "text_defocus.jpg"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

}  // namespace
}  // namespace cudavision::test
