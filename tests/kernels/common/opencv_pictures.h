// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <opencv2/core.hpp>
#include <vector>

#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/device_block.h"

/// Conversions between frames and OpenCV's matrices, for the programs that compare with OpenCV. The
/// layouts have one plane with interleaved channels.
namespace cudavision::test {

inline cv::Mat painted(const FrameLayout& layout, Content content, std::uint64_t seed) {
  const int depth = layout.bits == 8 ? CV_8U : CV_16U;
  cv::Mat image(layout.height, layout.width, CV_MAKETYPE(depth, layout.channel_count));
  Frame frame;
  frame.planes[0] = {image.data, layout.planes[0].row_bytes, image.rows,
                     static_cast<std::ptrdiff_t>(image.step)};
  paint(layout, frame, content, seed);
  return image;
}

/// Returns the operation's result for an image, computed on the device. The image may have gaps
/// between its rows.
template <class Operation>
cv::Mat output_of(Device& device, Operation operation, const cv::Mat& image) {
  const auto pitch = static_cast<std::ptrdiff_t>(image.step);
  const int row_bytes = image.cols * static_cast<int>(image.elemSize());
  const std::vector<std::uint8_t> bytes(image.data,
                                        image.data + pitch * (image.rows - 1) + row_bytes);
  const DeviceBlock<std::uint8_t> in(device, bytes);
  const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(bytes.size(), 0xcd));
  ConstFrame in_frame;
  Frame out_frame;
  in_frame.planes[0] = {in.data(), row_bytes, image.rows, pitch};
  out_frame.planes[0] = {out.data(), row_bytes, image.rows, pitch};
  operation.run(in_frame, out_frame);
  device.finish();
  const std::vector<std::uint8_t> rows = out.values();
  cv::Mat result(image.rows, image.cols, image.type());
  for (int y = 0; y < image.rows; ++y)
    std::copy_n(rows.data() + pitch * y, row_bytes, result.ptr(y));
  return result;
}

/// Counts the samples that differ.
inline int differences(const cv::Mat& expected, const cv::Mat& actual) {
  cv::Mat different;
  cv::compare(expected.reshape(1), actual.reshape(1), different, cv::CMP_NE);
  return cv::countNonZero(different);
}

}  // namespace cudavision::test
