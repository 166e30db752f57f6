// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares Remap and PictureRemap with bilinear cv::remap with a constant border. For samples of 9
// to 14 bits, OpenCV rounds half to even, so the test rounds the definition's sums in the same way.
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>

#include "cuda/remap/packed_map.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"
#include "tests/kernels/remap/pictureremap_case.h"
#include "tests/kernels/remap/remap_case.h"
#include "tests/kernels/remap/remap_definition.h"

namespace cudavision::test {
namespace {

// OpenCV supports images and maps of fewer than 32767 pixels in each dimension.
constexpr int largest_side = 32766;

struct OpenCvMap {
  remap::Map view() const {
    return {{places.ptr<std::int16_t>(), 2 * places.cols, places.rows,
             static_cast<std::ptrdiff_t>(places.step)},
            {fractions.ptr<std::uint16_t>(), fractions.cols, fractions.rows,
             static_cast<std::ptrdiff_t>(fractions.step)}};
  }

  cv::Mat places, fractions;
};

OpenCvMap matrices_of(HostMap& map) {
  return {{map.height, map.width, CV_16SC2, map.places.data()},
          {map.height, map.width, CV_16UC1, map.fractions.data()}};
}

cv::Mat opencv_remap(const cv::Mat& image, const OpenCvMap& map) {
  cv::Mat out;
  cv::remap(image, out, map.places, map.fractions, cv::INTER_LINEAR, cv::BORDER_CONSTANT,
            cv::Scalar(0));
  return out;
}

cv::Mat our_remap(const cv::Mat& image, int bits, const OpenCvMap& map) {
  const auto device = make_cpu_device();
  remap::Remap remap(*device, {image.cols, image.rows, bits}, map.view());
  const ConstFrame frame = frame_of(image);
  const SamplePlane out = remap.run({frame.planes[0], image.cols, bits, 0});
  cv::Mat result(out.height(), out.width, image.type());
  device->download(out.rows, frame_of(result).planes[0]);
  return result;
}

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

TEST(OpenCvRemap, EqualInRandomCases) {
  for_each_case_number([](int number) {
    OracleCase test(number, 8);
    const OpenCvMap map = matrices_of(test.map);
    EXPECT_EQ(differences(opencv_remap(test.image, map), our_remap(test.image, 8, map)), 0)
        << "the number of samples that differ, " << test.text();
  });
}

/// OpenCV sums in binary32, which is exact for samples of up to 14 bits.
TEST(OpenCvRemap, EqualToDeepSamplesUpToTheRoundingOfHalves) {
  for_each_case_number([](int number) {
    constexpr int depths[] = {9, 10, 12, 14};
    OracleCase test(number, depths[number % 4]);
    const cv::Mat reference = opencv_remap(test.image, matrices_of(test.map));
    const cv::Mat ours = our_remap(test.image, test.layout.bits, matrices_of(test.map));
    const DefinedLuminance picture(test.layout, frame_of(test.image));
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
}

/// Sums of 16-bit samples have 26 bits, but OpenCV's binary32 sums have only 24.
TEST(OpenCvRemap, WithinOneOfWordsOf16Bits) {
  for_each_case_number([](int number) {
    OracleCase test(number, 16);
    const OpenCvMap map = matrices_of(test.map);
    EXPECT_LE(cv::norm(opencv_remap(test.image, map), our_remap(test.image, 16, map), cv::NORM_INF),
              1)
        << test.text();
  });
}

/// Samples outside the image have the level `black`.
TEST(OpenCvRemap, EqualToPicturesWithABorder) {
  const auto device = make_cpu_device();
  for_each_case_number([&](int number) {
    Random random = random_of_case(settings().seed, number);
    const auto [width, height] = random_picture_size(random, settings().max_pixels / 4);
    const FrameLayout layout =
        layout_named("RGB", std::min(width, largest_side), std::min(height, largest_side));
    const cv::Mat image = painted(layout, Content::random, random.next());
    const PictureMapParameters parameters = {
        static_cast<MapKind>(random.between(0, map_kind_count - 1)), random.next(),
        random.between(0, 255)};
    HostPictureMaps maps(layout, parameters);
    const OpenCvMap map = matrices_of(maps.full);
    cv::Mat expected;
    cv::remap(image, expected, map.places, map.fractions, cv::INTER_LINEAR, cv::BORDER_CONSTANT,
              cv::Scalar::all(parameters.black));
    RemappedPicture picture(*device, layout, parameters);
    EXPECT_EQ(differences(expected, output_of<RemappedPicture&>(picture, image)), 0)
        << "the number of samples that differ, " << layout.width << "×" << layout.height << ", map "
        << name(parameters.kind) << ", black " << parameters.black;
  });
}

/// Returns maps that rectify a slightly rotated camera, with a standard lens and a fisheye lens.
std::vector<OpenCvMap> lenses(const cv::Size& size) {
  const double focal = 0.7 * size.width;
  const cv::Matx33d camera(focal, 0, 0.49 * size.width, 0, focal, 0.52 * size.height, 0, 0, 1);
  cv::Mat turned;
  cv::Rodrigues(cv::Vec3d(0.02, -0.05, 0.03), turned);
  std::vector<OpenCvMap> maps(2);
  cv::initUndistortRectifyMap(camera, cv::Vec<double, 5>(-0.31, 0.12, 0.001, -0.0005, -0.02),
                              turned, camera, size, CV_16SC2, maps[0].places, maps[0].fractions);
  cv::fisheye::initUndistortRectifyMap(camera, cv::Vec4d(-0.02, 0.01, -0.004, 0.0007), turned,
                                       camera, size, CV_16SC2, maps[1].places, maps[1].fractions);
  return maps;
}

TEST(OpenCvRemap, EqualThroughLenses) {
  CUDAVISION_NEEDS_PIXELS(3840 * 2160);
  const auto device = make_cpu_device();
  for (const cv::Size& size : {cv::Size(640, 480), cv::Size(1920, 1080), cv::Size(3840, 2160)}) {
    const cv::Mat image = painted(gray_layout(size.width, size.height), Content::natural, 8);
    for (const OpenCvMap& map : lenses(size)) {
      EXPECT_EQ(differences(opencv_remap(image, map), our_remap(image, 8, map)), 0)
          << "the number of samples that differ, " << size;
      EXPECT_FALSE(remap::PackedMap(*device, {size.width, size.height, 8}, map.view()).view().wide)
          << "the map takes 8 bytes for each pixel, " << size;
    }
  }
}

}  // namespace
}  // namespace cudavision::test
