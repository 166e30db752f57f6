// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares Guided with cv::ximgproc::guidedFilter, which works in binary32 and mirrors the picture
// at its edges. So only samples that no window reaches beyond an edge can be compared, and a result
// may be rounded to the neighbouring level. This is a separate program, so that the other tests
// need no OpenCV.

#include <opencv2/core.hpp>
#include <opencv2/ximgproc/edge_filter.hpp>

#include "cuda/guided/guided.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/opencv_pictures.h"

namespace cudavision::test {
namespace {

using namespace guided;

void expect_opencv(Device& device, const cv::Mat& image, const Parameters& parameters) {
  cv::Mat reference;
  cv::ximgproc::guidedFilter(image, image, reference, parameters.radius, parameters.epsilon);
  const FrameLayout layout = layout_named("GRAY8", image.cols, image.rows);
  const cv::Mat filtered = output_of(device, Guided(device, layout, parameters), image);
  const int edge = 2 * parameters.radius;
  const cv::Rect inside(edge, edge, image.cols - 2 * edge, image.rows - 2 * edge);
  cv::Mat distances;
  cv::absdiff(reference(inside), filtered(inside), distances);
  double largest = 0;
  cv::minMaxLoc(distances, nullptr, &largest);
  EXPECT_LE(largest, 1) << "radius " << parameters.radius << ", epsilon " << parameters.epsilon;
  // Where a picture has two levels only, many results lie together, and may do so between two
  // levels.
  EXPECT_LE(cv::countNonZero(distances), inside.area() / 10)
      << "the number of samples that differ, of " << inside.area() << ", radius "
      << parameters.radius << ", epsilon " << parameters.epsilon;
}

class OpenCvGuidedFilter : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, OpenCvGuidedFilter, both_devices(), device_name);

TEST_P(OpenCvGuidedFilter, IsAlmostEqual) {
  on_device([](Device& device) {
    for (const Content content : {Content::natural, Content::random, Content::two_valued})
      for (const int radius : {1, 2, 4, 8, 16, 30, 70})
        for (const double epsilon : {10.0, 100.0, 650.25, 2601.0})
          expect_opencv(device, painted(layout_named("GRAY8", 320, 300), content, 21),
                        {radius, epsilon});
  });
}

}  // namespace
}  // namespace cudavision::test
