// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Integral against cv::integral, and localstatistics::LocalStatistics against the sums of
// cv::boxFilter. A program of its own, so that the others need no OpenCV.

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/integral/integral_frames.h"
#include "tests/kernels/localstatistics/localstatistics_frames.h"

namespace cudavision::test {
namespace {

using namespace integral;

constexpr TableKind kinds[] = {TableKind::sum, TableKind::squared_sum, TableKind::tilted_sum};

cv::Mat matrix_of(const DeviceFrames& frames) {
  const int depth = frames.layout.bits == 8 ? CV_8U : CV_16U;
  return cv::Mat(frames.layout.height, frames.layout.width, depth,
                 const_cast<std::uint8_t*>(frames.host.data()))
      .clone();
}

/// The rows of a dense plane as a matrix of that type.
cv::Mat matrix_of(const FrameLayout& plane, int type, std::vector<std::uint8_t>& rows) {
  const int width = plane.planes[0].row_bytes / static_cast<int>(CV_ELEM_SIZE(type));
  return {plane.planes[0].rows, width, type, rows.data()};
}

/// OpenCV's own tables of a picture. Those of 8 bits have sums of 32 bits that wrap around.
struct Reference {
  explicit Reference(const cv::Mat& image) {
    const int depth = image.depth() == CV_8U ? CV_32S : CV_64F;
    cv::integral(image, tables[0], tables[1], tables[2], depth, CV_64F);
  }

  const cv::Mat& of(TableKind kind) const { return tables[static_cast<int>(kind)]; }

  cv::Mat tables[3];
};

/// How many entries differ of the reference and of a table of element.
int differences(Device& device, const FrameLayout& layout, Content content, std::uint64_t seed,
                const cv::Mat& reference, const integral::Parameters& parameters) {
  const IntegralFrames frames(device, layout, parameters, content, seed);
  Integral(device, layout, parameters).run(frames.in(), frames.table());
  device.finish();
  std::vector<std::uint8_t> rows = frames.table_block.values();
  cv::Mat expected =
      parameters.same_size ? reference(cv::Rect(1, 1, layout.width, layout.height)) : reference;
  // Equal bits are equal numbers modulo 2^32, with a sign or without.
  const cv::Mat table = matrix_of(
      frames.table_layout, parameters.element == TableElement::uint32 ? CV_32S : CV_64F, rows);
  EXPECT_EQ(table.size(), expected.size());
  cv::Mat different;
  cv::compare(expected, table, different, cv::CMP_NE);
  return cv::countNonZero(different);
}

/// Every kind of table in both sizes, as an element that OpenCV has, too.
void expect_opencv(Device& device, const FrameLayout& layout, Content content, std::uint64_t seed) {
  const DeviceFrames frames(device, layout, content, seed);
  const Reference reference(matrix_of(frames));
  for (const TableKind kind : kinds)
    for (const bool same_size : {false, true}) {
      const bool wraps = reference.of(kind).depth() == CV_32S;
      const integral::Parameters parameters{
          kind, wraps ? TableElement::uint32 : TableElement::float64, same_size};
      EXPECT_EQ(differences(device, layout, content, seed, reference.of(kind), parameters), 0)
          << "entries differ of " << layout.width << "×" << layout.height << ", " << layout.bits
          << " bits, content " << name(content) << ", " << describe(parameters);
    }
}

void expect_opencv_in_random_cases(Device& device) {
  const int only = settings().only_case;
  for (int number = only < 0 ? 0 : only; number < (only < 0 ? settings().cases : only + 1);
       ++number) {
    Random random(mixed_seed(settings().seed, static_cast<std::uint64_t>(number)));
    const auto [width, height] = random_picture_size(random, settings().max_pixels);
    const auto content = static_cast<Content>(random.between(0, content_count - 1));
    SCOPED_TRACE("repeat with CUDAVISION_TEST_CASE=" + std::to_string(number));
    expect_opencv(device, gray_layout(width, height, number % 2 ? 16 : 8), content, random.next());
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(OpenCvIntegral, CpuEqualInRandomCases) {
  expect_opencv_in_random_cases(*make_cpu_device());
}

TEST(OpenCvIntegral, CudaEqualInRandomCases) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_opencv_in_random_cases(*device);
}

void expect_opencv_at_small_sizes(Device& device) {
  for (const int bits : {8, 16})
    for (int width = 1; width <= 20; ++width)
      for (int height = 1; height <= 20; ++height)
        expect_opencv(device, gray_layout(width, height, bits), Content::random,
                      static_cast<std::uint64_t>(20 * width + height));
}

TEST(OpenCvIntegral, CpuEqualAtSmallSizes) {
  expect_opencv_at_small_sizes(*make_cpu_device());
}

TEST(OpenCvIntegral, CudaEqualAtSmallSizes) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_opencv_at_small_sizes(*device);
}

/// White, so that the sums of OpenCV wrap around, and as pictures are. Squares of 16 bits add up to
/// almost 2^53: above that OpenCV rounds at every pixel.
void expect_opencv_in_8k(Device& device) {
  expect_opencv(device, gray_layout(7680, 4320), Content::maximum, 1);
  expect_opencv(device, gray_layout(7680, 4320), Content::natural, 2);
  expect_opencv(device, gray_layout(1920, 1080, 16), Content::maximum, 3);
}

TEST(OpenCvIntegral, CpuEqualIn8k) {
  CUDAVISION_NEEDS_PIXELS(7680 * 4320);
  expect_opencv_in_8k(*make_cpu_device());
}

TEST(OpenCvIntegral, CudaEqualIn8k) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(7680 * 4320);
  CudaTestDevice device;
  expect_opencv_in_8k(*device);
}

/// The sums of all windows of an image, which OpenCV continues with zeros: whole numbers, exact in
/// binary64.
cv::Mat window_sums(const cv::Mat& image, int radius) {
  cv::Mat sums;
  cv::boxFilter(image, sums, CV_64F, cv::Size(2 * radius + 1, 2 * radius + 1), cv::Point(-1, -1),
                false, cv::BORDER_CONSTANT);
  return sums;
}

/// Mean and deviation, from those sums by the formulas of localstatistics.h.
std::uint64_t mean_of(std::uint64_t area, std::uint64_t sum, std::uint64_t) {
  return defined_mean({area, sum, 0});
}

std::uint64_t deviation_of(std::uint64_t area, std::uint64_t sum, std::uint64_t squared_sum) {
  return defined_deviation({area, sum, squared_sum});
}

void expect_box_filter(Device& device, const FrameLayout& layout, int radius, Content content,
                       std::uint64_t seed) {
  SCOPED_TRACE(std::to_string(layout.width) + "×" + std::to_string(layout.height) + ", " +
               std::to_string(layout.bits) + " bits, content " + name(content) + ", radius " +
               std::to_string(radius));
  const StatisticsFrames frames(device, layout, layout.bits, content, seed);
  const cv::Mat image = matrix_of(frames);
  cv::Mat levels;
  image.convertTo(levels, CV_64F);
  const cv::Mat areas = window_sums(cv::Mat::ones(image.size(), CV_8U), radius);
  const cv::Mat sums = window_sums(image, radius);
  const cv::Mat squared_sums = window_sums(levels.mul(levels), radius);
  using Output = localstatistics::Parameters::Output;
  for (const auto& [output, value_of] :
       {std::pair(Output::mean, mean_of), {Output::stddev, deviation_of}}) {
    localstatistics::LocalStatistics(device, layout, layout.bits, statistics(output, radius))
        .run(frames.in(), frames.plane());
    device.finish();
    std::vector<std::uint8_t> rows = frames.plane_block.values();
    const cv::Mat plane = matrix_of(frames.plane_layout, image.type(), rows);
    for (int y = 0; y < image.rows; ++y)
      for (int x = 0; x < image.cols; ++x) {
        const auto number = [=](const cv::Mat& matrix) {
          return static_cast<std::uint64_t>(matrix.at<double>(y, x));
        };
        const unsigned actual =
            layout.bits == 8 ? plane.at<std::uint8_t>(y, x) : plane.at<std::uint16_t>(y, x);
        ASSERT_EQ(actual, value_of(number(areas), number(sums), number(squared_sums)))
            << "output " << static_cast<int>(output) << " at " << x << ", " << y;
      }
  }
}

void expect_box_filter_in_random_cases(Device& device) {
  const int only = settings().only_case;
  for (int number = only < 0 ? 0 : only; number < (only < 0 ? settings().cases : only + 1);
       ++number) {
    Random random(mixed_seed(settings().seed + 1, static_cast<std::uint64_t>(number)));
    const auto [width, height] =
        random_picture_size(random, std::min(settings().max_pixels, 1 << 16));
    const auto content = static_cast<Content>(random.between(0, content_count - 1));
    SCOPED_TRACE("repeat with CUDAVISION_TEST_CASE=" + std::to_string(number));
    expect_box_filter(device, gray_layout(width, height, number % 2 ? 16 : 8),
                      random.log_uniform(256) - 1, content, random.next());
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(OpenCvBoxFilter, CpuHasItsSums) {
  expect_box_filter_in_random_cases(*make_cpu_device());
}

TEST(OpenCvBoxFilter, CudaHasItsSums) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_box_filter_in_random_cases(*device);
}

}  // namespace
}  // namespace cudavision::test
