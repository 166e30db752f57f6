// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares Speckles with the components of cv::connectedComponentsWithStats.
#include <opencv2/imgproc.hpp>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"
#include "tests/kernels/speckles/speckles_case.h"

namespace cudavision::test {
namespace {

cv::Mat without_speckles_by_opencv(const cv::Mat& picture, double largest,
                                   const speckles::Parameters& parameters) {
  const cv::Mat ink = picture == (parameters.white ? largest : 0);
  cv::Mat labels, statistics, centroids;
  const int count = cv::connectedComponentsWithStats(ink, labels, statistics, centroids, 8, CV_32S);
  cv::Mat result = picture.clone();
  for (int label = 1; label < count; ++label) {
    if (statistics.at<int>(label, cv::CC_STAT_AREA) > parameters.size)
      continue;
    const cv::Rect box(statistics.at<int>(label, cv::CC_STAT_LEFT),
                       statistics.at<int>(label, cv::CC_STAT_TOP),
                       statistics.at<int>(label, cv::CC_STAT_WIDTH),
                       statistics.at<int>(label, cv::CC_STAT_HEIGHT));
    result(box).setTo(parameters.white ? 0 : largest, labels(box) == label);
  }
  return result;
}

TEST(OpenCvSpeckles, EqualInRandomCases) {
  const auto device = make_cpu_device();
  int removed = 0, kept = 0;
  for_each_case_number([&](int number) {
    SpecklesCase test = make_speckles_case(settings().seed, number, settings().max_pixels);
    test.in = test.out = dense_placement(test.layout);
    SCOPED_TRACE(describe(test));
    std::vector<std::uint8_t> block = input_block(test);
    const View<std::uint8_t> rows = frame_in(test.layout, test.in, block.data()).planes[0];
    const bool words = test.layout.bits == 16;
    const cv::Mat picture(test.layout.height, test.layout.width, words ? CV_16U : CV_8U, rows.data,
                          static_cast<std::size_t>(rows.pitch));
    const cv::Mat ours =
        output_of(CopyWithoutSpeckles(*device, test.layout, test.parameters), picture);
    EXPECT_EQ(differences(without_speckles_by_opencv(picture, words ? 65535 : 255, test.parameters),
                          ours),
              0);
    (differences(picture, ours) > 0 ? removed : kept) += 1;
  });
  if (settings().cases < 30 || settings().only_case >= 0)
    return;
  EXPECT_GT(removed, 0);
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace cudavision::test
