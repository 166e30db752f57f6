// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares HistogramEqualize with cv::equalizeHist, its special case of one 8-bit channel in full
// range. A program of its own, so that the others need no OpenCV.

#include <algorithm>
#include <filesystem>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

cv::Mat equalized(Device& device, const cv::Mat& image) {
  const FrameLayout layout = gray_layout(image.cols, image.rows);
  const auto pitch = static_cast<std::ptrdiff_t>(image.step);
  const std::vector<std::uint8_t> bytes(image.data,
                                        image.data + pitch * (image.rows - 1) + image.cols);
  const DeviceBlock<std::uint8_t> in(device, bytes);
  const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(bytes.size(), 0xcd));
  ConstFrame in_frame;
  Frame out_frame;
  in_frame.planes[0] = {in.data(), image.cols, image.rows, pitch};
  out_frame.planes[0] = {out.data(), image.cols, image.rows, pitch};
  HistogramEqualize(device, layout, {}).run(in_frame, out_frame);
  device.finish();
  const std::vector<std::uint8_t> rows = out.values();
  cv::Mat result(image.rows, image.cols, CV_8UC1);
  for (int y = 0; y < image.rows; ++y)
    std::copy_n(rows.data() + pitch * y, image.cols, result.ptr(y));
  return result;
}

void expect_opencv(Device& device, const cv::Mat& image) {
  cv::Mat expected;
  cv::equalizeHist(image, expected);
  EXPECT_EQ(cv::norm(expected, equalized(device, image), cv::NORM_INF), 0)
      << image.cols << "×" << image.rows;
}

cv::Mat painted(int width, int height, Content content, std::uint64_t seed) {
  cv::Mat image(height, width, CV_8UC1);
  Frame frame;
  frame.planes[0] = {image.data, width, height, static_cast<std::ptrdiff_t>(image.step)};
  paint(gray_layout(width, height), frame, content, seed);
  return image;
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
      expect_opencv(device, painted(width, height, content, 11));
    Random random(mixed_seed(settings().seed, static_cast<std::uint64_t>(c)));
    const int sizes = std::max(1, settings().cases / content_count);
    for (int i = 0; i < sizes; ++i)
      expect_opencv(device, painted(random.log_uniform(700), random.log_uniform(700), content,
                                    random.next()));
  }
}

TEST(OpenCvEqualizeHist, CpuEqual) {
  expect_opencv_at_all_sizes(*make_cpu_device());
}

TEST(OpenCvEqualizeHist, CudaEqual) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_opencv_at_all_sizes(*device);
}

TEST(OpenCvEqualizeHist, CpuEqualAt8k) {
  const auto device = make_cpu_device();
  for (const Content content : {Content::natural, Content::flat, Content::spark})
    expect_opencv(*device, painted(7680, 4320, content, 12));
}

TEST(OpenCvEqualizeHist, CudaEqualAt8k) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const Content content : {Content::natural, Content::flat, Content::spark})
    expect_opencv(*device, painted(7680, 4320, content, 12));
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
    // A part of the image, with gaps between its rows.
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
