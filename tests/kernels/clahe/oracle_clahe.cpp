// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares Clahe with cv::createCLAHE, which supports one channel of 8 or 16 bits.
#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "cuda/clahe/clahe.h"
#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"

namespace cudavision::test {
namespace {

using namespace clahe;

void expect_opencv(const cv::Mat& image, const Tiles& tiles, double clip_limit) {
  const auto device = make_cpu_device();
  cv::Mat expected;
  cv::createCLAHE(clip_limit, cv::Size(tiles.columns, tiles.rows))->apply(image, expected);
  const int bits = image.depth() == CV_8U ? 8 : 16;
  const FrameLayout layout = gray_layout(image.cols, image.rows, bits);
  Parameters parameters;
  parameters.clip_limit = clip_limit;
  parameters.high = (1 << bits) - 1;
  const cv::Mat equalized = output_of(Clahe(*device, layout, tiles, parameters), image);
  EXPECT_EQ(differences(expected, equalized), 0)
      << "the number of samples that differ, in " << image.cols << "×" << image.rows << ", " << bits
      << " bits, " << tiles.columns << "×" << tiles.rows << " tiles, clip limit " << clip_limit;
}

void expect_opencv_in_case(int number) {
  Random random = random_of_case(settings().seed, number);
  const int bits = number % 3 == 2 ? 16 : 8;
  const Tiles tiles = random_tiles(random, bits);
  // OpenCV converts the limit to int, which cannot hold huge limits.
  double clip_limit = random_clip_limit(random);
  if (clip_limit > 1e6)
    clip_limit = 0;
  const auto [width, height] =
      random_picture_size(random, std::min(settings().max_pixels, 1 << 18));
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  expect_opencv(painted(gray_layout(width, height, bits), content, random.next()), tiles,
                clip_limit);
}

TEST(OpenCvClahe, EqualInRandomCases) {
  // Runs three cases for each number: two with 8 bits and one with 16 bits.
  for (int of_three = 0; of_three < 3; ++of_three)
    for_each_case_number([&](int number) { expect_opencv_in_case(3 * number + of_three); });
}

}  // namespace
}  // namespace cudavision::test
