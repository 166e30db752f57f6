// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <opencv2/core.hpp>

#include "tests/kernels/common/contents.h"

/// OpenCV matrices as frames of one plane with interleaved channels, on the CPU device.
namespace cudavision::test {

inline Frame frame_of(const cv::Mat& image) {
  Frame frame;
  frame.planes[0] = {image.data, image.cols * static_cast<int>(image.elemSize()), image.rows,
                     static_cast<std::ptrdiff_t>(image.step)};
  return frame;
}

inline cv::Mat painted(const FrameLayout& layout, Content content, std::uint64_t seed) {
  const int depth = layout.bits == 8 ? CV_8U : CV_16U;
  cv::Mat image(layout.height, layout.width, CV_MAKETYPE(depth, layout.channel_count));
  paint(layout, frame_of(image), content, seed);
  return image;
}

/// Returns an operation's output for an image. `more`: arguments of run() between in and out.
template <class Operation, class... More>
cv::Mat output_of(Operation operation, const cv::Mat& image, const More&... more) {
  cv::Mat result(image.rows, image.cols, image.type());
  operation.run(frame_of(image), more..., frame_of(result));
  return result;
}

inline int differences(const cv::Mat& expected, const cv::Mat& actual) {
  cv::Mat different;
  cv::compare(expected.reshape(1), actual.reshape(1), different, cv::CMP_NE);
  return cv::countNonZero(different);
}

}  // namespace cudavision::test
