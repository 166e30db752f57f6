// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares Integral with cv::integral, and LocalStatistics with sums of cv::boxFilter.
#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace cudavision::test {
namespace {

using namespace integral;

cv::Mat matrix_of(const FrameLayout& plane, int type, std::vector<std::uint8_t>& rows) {
  const int width = plane.planes[0].row_bytes / static_cast<int>(CV_ELEM_SIZE(type));
  return {plane.planes[0].rows, width, type, rows.data()};
}

cv::Mat picture_of(const FrameLayout& layout, std::vector<std::uint8_t>& rows) {
  return matrix_of(layout, layout.bits == 8 ? CV_8UC1 : CV_16UC1, rows);
}

/// OpenCV's tables. For 8-bit images, the plain and tilted sums have 32 bits and wrap around.
struct Reference {
  explicit Reference(const cv::Mat& image) {
    const int depth = image.depth() == CV_8U ? CV_32S : CV_64F;
    cv::integral(image, tables[0], tables[1], tables[2], depth, CV_64F);
  }

  const cv::Mat& of(TableKind kind) const { return tables[static_cast<int>(kind)]; }

  cv::Mat tables[3];
};

int differences(const IntegralCase& test, const std::vector<std::uint8_t>& input,
                const cv::Mat& reference) {
  const auto device = make_cpu_device();
  std::vector<std::uint8_t> rows = IntegralRunner(*device, test).run(input, 0xcd).table;
  const cv::Mat expected = test.parameters.same_size
                               ? reference(cv::Rect(1, 1, test.layout.width, test.layout.height))
                               : reference;
  // OpenCV's 32-bit sums are signed and ours unsigned; sums with equal bits are equal modulo 2^32.
  const cv::Mat table = matrix_of(
      test.out_layout, test.parameters.element == TableElement::uint32 ? CV_32S : CV_64F, rows);
  EXPECT_EQ(table.size(), expected.size());
  cv::Mat different;
  cv::compare(expected, table, different, cv::CMP_NE);
  return cv::countNonZero(different);
}

/// Compares every kind of table in OpenCV's element type, both with and without same_size.
void expect_opencv(const FrameLayout& layout, Content content, std::uint64_t seed) {
  std::vector<std::uint8_t> input = input_block(plain_integral_case(layout, {}, content, seed));
  const Reference reference(picture_of(layout, input));
  for (const TableKind kind : table_kinds)
    for (const bool same_size : {false, true}) {
      const bool wraps = reference.of(kind).depth() == CV_32S;
      const IntegralCase test = plain_integral_case(
          layout, {kind, wraps ? TableElement::uint32 : TableElement::float64, same_size}, content,
          seed);
      EXPECT_EQ(differences(test, input, reference.of(kind)), 0)
          << "the number of entries that differ, in " << describe(test);
    }
}

template <class Check>
void for_each_random_case(std::uint64_t seed, int max_pixels, const Check& check) {
  for_each_case_number([&](int number) {
    Random random = random_of_case(seed, number);
    const auto [width, height] = random_picture_size(random, max_pixels);
    check(random, gray_layout(width, height, number % 2 ? 16 : 8));
  });
}

TEST(OpenCvIntegral, EqualInRandomCases) {
  for_each_random_case(
      settings().seed, settings().max_pixels, [](Random& random, const FrameLayout& layout) {
        const auto content = static_cast<Content>(random.between(0, content_count - 1));
        expect_opencv(layout, content, random.next());
      });
}

/// Tests white and natural images. In 8K, OpenCV's 32-bit sums of a white image wrap around.
TEST(OpenCvIntegral, EqualIn8k) {
  CUDAVISION_NEEDS_PIXELS(7680 * 4320);
  expect_opencv(gray_layout(7680, 4320), Content::maximum, 1);
  expect_opencv(gray_layout(7680, 4320), Content::natural, 2);
  expect_opencv(gray_layout(1920, 1080, 16), Content::maximum, 3);
}

/// Returns the sum over each pixel's window; pixels outside the image are 0. The image must be
/// CV_64F, because OpenCV's integer sums overflow.
cv::Mat window_sums(const cv::Mat& image, int radius) {
  cv::Mat sums;
  cv::boxFilter(image, sums, CV_64F, cv::Size(2 * radius + 1, 2 * radius + 1), cv::Point(-1, -1),
                false, cv::BORDER_CONSTANT);
  return sums;
}

/// Compares all outputs with the formulas of localstatistics.h, applied to OpenCV's sums.
void expect_box_filter(const FrameLayout& layout, int radius, Content content, std::uint64_t seed) {
  using Output = localstatistics::Parameters::Output;
  const auto device = make_cpu_device();
  std::vector<localstatistics::Parameters> all;
  for (const Output output : {Output::mean, Output::stddev, Output::bradley, Output::sauvola})
    all.push_back(statistics(output, radius));
  for (const Output output : {Output::bradley, Output::sauvola})
    all.push_back(in_limited_range(statistics(output, radius)));
  for (const localstatistics::Parameters& parameters : all) {
    const LocalStatisticsCase test = plain_localstatistics_case(layout, parameters, content, seed);
    const int low = parameters.limited_range ? 16 << (layout.bits - 8) : 0;
    const double range = std::ldexp(parameters.limited_range ? 109.5 : 128, layout.bits - 8);
    const unsigned white = (1u << layout.bits) - 1;
    SCOPED_TRACE(describe(test));
    std::vector<std::uint8_t> input = input_block(test);
    const cv::Mat image = picture_of(layout, input);
    cv::Mat levels;
    image.convertTo(levels, CV_64F);
    const cv::Mat areas = window_sums(cv::Mat::ones(image.size(), CV_64F), radius);
    const cv::Mat sums = window_sums(levels, radius);
    const cv::Mat squared_sums = window_sums(levels.mul(levels), radius);
    std::vector<std::uint8_t> rows = LocalStatisticsRunner(*device, test).run(input, 0xcd);
    const cv::Mat plane = picture_of(layout, rows);
    for (int y = 0; y < image.rows; ++y)
      for (int x = 0; x < image.cols; ++x) {
        const auto number = [=](const cv::Mat& matrix) {
          return static_cast<std::uint64_t>(matrix.at<double>(y, x));
        };
        const DefinedWindow window{number(areas), number(sums), number(squared_sums)};
        const unsigned actual =
            layout.bits == 8 ? plane.at<std::uint8_t>(y, x) : plane.at<std::uint16_t>(y, x);
        const auto level = static_cast<std::uint64_t>(levels.at<double>(y, x));
        const auto expected = [&]() -> std::uint64_t {
          switch (parameters.output) {
            case Output::mean:
              return defined_mean(window);
            case Output::stddev:
              return defined_deviation(window);
            case Output::bradley:
              return defined_bradley_black(window, level, parameters.ratio, low) ? 0 : white;
            default:
              return defined_sauvola_black(window, level, parameters.k, range, low) ? 0 : white;
          }
        };
        ASSERT_EQ(actual, expected()) << "at " << x << ", " << y;
      }
  }
}

TEST(OpenCvBoxFilter, HasItsSums) {
  for_each_random_case(settings().seed + 1, std::min(settings().max_pixels, 1 << 16),
                       [](Random& random, const FrameLayout& layout) {
                         const auto content =
                             static_cast<Content>(random.between(0, content_count - 1));
                         const int radius = random.log_uniform(256) - 1;
                         expect_box_filter(layout, radius, content, random.next());
                       });
}

}  // namespace
}  // namespace cudavision::test
