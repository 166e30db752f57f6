// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares HistogramEqualize with cv::equalizeHist, which supports one 8-bit channel.
#include <opencv2/imgproc.hpp>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

TEST(OpenCvEqualizeHist, Equal) {
  const auto device = make_cpu_device();
  for_each_case_number([&](int number) {
    Random random = random_of_case(settings().seed, number);
    const auto [width, height] = random_picture_size(random, settings().max_pixels);
    const FrameLayout layout = gray_layout(width, height);
    const auto content = static_cast<Content>(number % content_count);
    const cv::Mat image = painted(layout, content, random.next());
    cv::Mat expected;
    cv::equalizeHist(image, expected);
    EXPECT_EQ(differences(expected, output_of(HistogramEqualize(*device, layout, {}), image)), 0)
        << width << "×" << height << ", " << name(content);
  });
}

}  // namespace
}  // namespace cudavision::test
