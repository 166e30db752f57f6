// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares Remap with cv::remap with bilinear interpolation and a border of 0. For 8-bit samples,
// no sample may differ. OpenCV computes deeper samples in binary32 and rounds halves to even, where
// Remap rounds them up, so these are compared with the definition's sums, rounded as OpenCV does.
// This is a separate program, so that the other tests need no OpenCV.

#include <opencv2/imgproc.hpp>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/opencv_pictures.h"
#include "tests/kernels/remap/remap_case.h"
#include "tests/kernels/remap/remap_definition.h"

namespace cudavision::test {
namespace {

// OpenCV takes pictures and maps of less than 32767 pixels each way.
constexpr int largest_side = 32766;

cv::Mat opencv_remap(const cv::Mat& image, HostMap& map) {
  const cv::Mat places(map.height, map.width, CV_16SC2, map.places.data());
  const cv::Mat fractions(map.height, map.width, CV_16UC1, map.fractions.data());
  cv::Mat out;
  cv::remap(image, out, places, fractions, cv::INTER_LINEAR, cv::BORDER_CONSTANT, cv::Scalar(0));
  return out;
}

cv::Mat our_remap(Device& device, const cv::Mat& image, int bits, const HostMap& map) {
  const int row_bytes = image.cols * static_cast<int>(image.elemSize());
  const std::vector<std::uint8_t> bytes(image.datastart, image.dataend);
  const DeviceBlock<std::uint8_t> in(device, bytes);
  remap::Remap remap(device, {image.cols, image.rows, bits}, map.view());
  const SamplePlane out =
      remap.run({{in.data(), row_bytes, image.rows, row_bytes}, image.cols, bits, 0});
  cv::Mat result(out.height(), out.width, image.type());
  device.download(out.rows, {result.data, out.rows.width, out.height(),
                             static_cast<std::ptrdiff_t>(result.step)});
  device.finish();
  return result;
}

/// Draws a picture of these bits and a map.
struct OracleCase {
  OracleCase(int number, int bits)
      : random(random_of_case(settings().seed, number)),
        layout(random_layout(bits)),
        image(painted(layout, static_cast<Content>(random.between(0, content_count - 1)),
                      random.next())),
        parameters(random_parameters()),
        map(parameters, layout.width, layout.height) {}

  std::string text() const {
    return std::to_string(layout.width) + "×" + std::to_string(layout.height) + " of " +
           std::to_string(layout.bits) + " bits, map " + name(parameters.kind) + " of " +
           std::to_string(map.width) + "×" + std::to_string(map.height);
  }

  Random random;
  FrameLayout layout;
  cv::Mat image;
  MapParameters parameters;
  HostMap map;

 private:
  FrameLayout random_layout(int bits) {
    const auto [width, height] = random_picture_size(random, settings().max_pixels / 4);
    return gray_layout(std::min(width, largest_side), std::min(height, largest_side), bits);
  }

  MapParameters random_parameters() {
    const auto kind = static_cast<MapKind>(random.between(0, map_kind_count - 1));
    const auto [width, height] = random_picture_size(random, settings().max_pixels / 4);
    return {kind, random.next(), std::min(width, largest_side), std::min(height, largest_side)};
  }
};

class OpenCvRemap : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, OpenCvRemap, both_devices(), device_name);

TEST_P(OpenCvRemap, EqualInRandomCases) {
  on_device([](Device& device) {
    for_each_case_number([&](int number) {
      OracleCase test(number, 8);
      EXPECT_EQ(differences(opencv_remap(test.image, test.map),
                            our_remap(device, test.image, 8, test.map)),
                0)
          << "the number of samples that differ, " << test.text();
    });
  });
}

/// Binary32 holds the sums of up to 14 bits exactly.
TEST_P(OpenCvRemap, EqualToDeepSamplesUpToTheRoundingOfHalves) {
  on_device([](Device& device) {
    for_each_case_number([&](int number) {
      constexpr int depths[] = {9, 10, 12, 14};
      OracleCase test(number, depths[number % 4]);
      const cv::Mat reference = opencv_remap(test.image, test.map);
      const cv::Mat ours = our_remap(device, test.image, test.layout.bits, test.map);
      ConstFrame frame;
      frame.planes[0] = {test.image.data, test.layout.planes[0].row_bytes, test.image.rows,
                         static_cast<std::ptrdiff_t>(test.image.step)};
      const DefinedLuminance picture(test.layout, frame);
      int wrong = 0;
      for (int y = 0; y < reference.rows; ++y)
        for (int x = 0; x < reference.cols; ++x) {
          const std::int64_t sum = defined_remap_sum(picture, test.map.view(), x, y);
          const std::int64_t half_to_even = (sum + 511 + (sum >> 10 & 1)) >> 10;
          const std::int64_t half_up = (sum + 512) >> 10;
          wrong += reference.at<std::uint16_t>(y, x) != half_to_even;
          wrong += ours.at<std::uint16_t>(y, x) != half_up;
        }
      EXPECT_EQ(wrong, 0) << "the number of samples that differ, " << test.text();
    });
  });
}

/// The sums of 16 bits have 26 bits, of which binary32 keeps 24.
TEST_P(OpenCvRemap, WithinOneOfWordsOf16Bits) {
  on_device([](Device& device) {
    for_each_case_number([&](int number) {
      OracleCase test(number, 16);
      const double most = cv::norm(opencv_remap(test.image, test.map),
                                   our_remap(device, test.image, 16, test.map), cv::NORM_INF);
      EXPECT_LE(most, 1) << test.text();
    });
  });
}

}  // namespace
}  // namespace cudavision::test
