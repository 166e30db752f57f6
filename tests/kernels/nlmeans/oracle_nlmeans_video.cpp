// SPDX-License-Identifier: LGPL-2.1-or-later
// Adds noise to OpenCV's video of a street, and denoises it with and without neighbouring frames.
#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <vector>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/pictures/opencv_pictures.h"

namespace cudavision::test {
namespace {

constexpr char video_path[] = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
constexpr int first_frame = 40, frame_count = 20;

struct VideoFrames {
  std::vector<cv::Mat> clean, noisy;
};

VideoFrames noisy_video() {
  VideoFrames frames;
  cv::VideoCapture capture(video_path);
  cv::RNG random(1);
  cv::Mat colours;
  for (int i = 0; i < first_frame + frame_count && capture.read(colours); ++i) {
    if (i < first_frame)
      continue;
    cv::Mat clean, noise(colours.size(), CV_32F), noisy;
    cv::cvtColor(colours, clean, cv::COLOR_BGR2GRAY);
    random.fill(noise, cv::RNG::NORMAL, 0, 15);
    cv::add(clean, noise, noisy, cv::noArray(), CV_8U);
    frames.clean.push_back(clean);
    frames.noisy.push_back(noisy);
  }
  return frames;
}

/// Returns a mask of the pixels that change over time, mostly of walking people.
cv::Mat moving(const std::vector<cv::Mat>& clean, std::size_t i) {
  const auto differs = [&](std::size_t other) {
    cv::Mat a, b, difference;
    cv::GaussianBlur(clean[i], a, {5, 5}, 0);
    cv::GaussianBlur(clean[other], b, {5, 5}, 0);
    cv::absdiff(a, b, difference);
    return cv::Mat(difference > 20);
  };
  return differs(i - 4) & differs(i + 3);
}

struct Errors {
  double psnr;
  double largest_on_people;
};

Errors errors_after(const VideoFrames& frames, nlmeans::Parameters parameters) {
  const auto device = make_cpu_device();
  double squares = 0, largest = 0;
  std::size_t pixels = 0;
  for (std::size_t i = 4; i < 16; i += 5) {
    const cv::Mat& noisy = frames.noisy[i];
    const std::size_t each_side = static_cast<std::size_t>(parameters.frames) / 2;
    std::vector<ConstFrame> neighbours;
    for (std::size_t other = i - each_side; other <= i + each_side; ++other)
      if (other != i)
        neighbours.push_back(frame_of(frames.noisy[other]));
    const cv::Mat denoised =
        output_of(nlmeans::NlMeans(*device, gray_layout(noisy.cols, noisy.rows), parameters), noisy,
                  neighbours);
    cv::Mat difference;
    cv::absdiff(denoised, frames.clean[i], difference);
    squares += std::pow(cv::norm(difference), 2);
    pixels += difference.total();
    double maximum = 0;
    cv::minMaxLoc(difference, nullptr, &maximum, nullptr, nullptr, moving(frames.clean, i));
    largest = std::max(largest, maximum);
  }
  return {10 * std::log10(255.0 * 255 * static_cast<double>(pixels) / squares), largest};
}

TEST(NlMeansFilm, FiveFramesLeaveLessNoiseAndNoTrails) {
  const VideoFrames frames = noisy_video();
  if (frames.clean.size() < frame_count)
    GTEST_SKIP() << video_path << " cannot be read: install the Debian package opencv-doc";
  for (const double strength : {10.0, 12.0}) {
    nlmeans::Parameters parameters;
    parameters.strength = strength;
    const Errors one = errors_after(frames, parameters);
    parameters.frames = 5;
    const Errors five = errors_after(frames, parameters);
    SCOPED_TRACE(testing::Message() << "strength " << strength);
    EXPECT_GE(five.psnr, one.psnr + 1) << "one frame: " << one.psnr << " dB";
    EXPECT_LE(five.largest_on_people, one.largest_on_people);
    EXPECT_GT(five.largest_on_people, 0) << "nobody moves";
  }
}

}  // namespace
}  // namespace cudavision::test
