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

/// An image in the memory of a device. It may have gaps between its rows.
class DeviceImage {
 public:
  DeviceImage(Device& device, const cv::Mat& image)
      : block_(device,
               std::vector<std::uint8_t>(image.data, image.data + image.step * (image.rows - 1) +
                                                         image.cols * image.elemSize())) {
    frame.planes[0] = {block_.data(), image.cols * static_cast<int>(image.elemSize()), image.rows,
                       static_cast<std::ptrdiff_t>(image.step)};
  }

 private:
  DeviceBlock<std::uint8_t> block_;

 public:
  ConstFrame frame;
};

/// Returns what enqueue(out) writes, which is an image of the size and type of another one.
template <class Enqueue>
cv::Mat output_like(Device& device, const cv::Mat& image, const Enqueue& enqueue) {
  const auto pitch = static_cast<std::ptrdiff_t>(image.step);
  const int row_bytes = image.cols * static_cast<int>(image.elemSize());
  const DeviceBlock<std::uint8_t> out(
      device, std::vector<std::uint8_t>(
                  static_cast<std::size_t>(pitch * (image.rows - 1) + row_bytes), 0xcd));
  Frame out_frame;
  out_frame.planes[0] = {out.data(), row_bytes, image.rows, pitch};
  enqueue(out_frame);
  device.finish();
  const std::vector<std::uint8_t> rows = out.values();
  cv::Mat result(image.rows, image.cols, image.type());
  for (int y = 0; y < image.rows; ++y)
    std::copy_n(rows.data() + pitch * y, row_bytes, result.ptr(y));
  return result;
}

/// Returns the operation's result for an image, computed on the device.
template <class Operation>
cv::Mat output_of(Device& device, Operation operation, const cv::Mat& image) {
  const DeviceImage in(device, image);
  return output_like(device, image, [&](const Frame& out) { operation.run(in.frame, out); });
}

/// Returns the result for image number `middle`, whose neighbours are the others.
template <class Operation>
cv::Mat output_of(Device& device, Operation operation, const std::vector<cv::Mat>& images,
                  int middle) {
  std::vector<DeviceImage> in;
  in.reserve(images.size());
  for (const cv::Mat& image : images)
    in.emplace_back(device, image);
  std::vector<ConstFrame> neighbours;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (i != static_cast<std::size_t>(middle))
      neighbours.push_back(in[i].frame);
  return output_like(device, images[static_cast<std::size_t>(middle)], [&](const Frame& out) {
    operation.run(in[static_cast<std::size_t>(middle)].frame, neighbours, out);
  });
}

/// Counts the samples that differ.
inline int differences(const cv::Mat& expected, const cv::Mat& actual) {
  cv::Mat different;
  cv::compare(expected.reshape(1), actual.reshape(1), different, cv::CMP_NE);
  return cv::countNonZero(different);
}

}  // namespace cudavision::test
