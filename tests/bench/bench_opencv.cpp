// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The blur on the CPU beside OpenCV's own, on one machine, in one process, with the same number of
// threads. A program of its own: bench_kernels goes to GPU hosts, which have no OpenCV.

#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

#include "blur_subjects.h"
#include "gaussblur_case.h"

namespace cudavision::bench {
namespace {

struct Subject {
  const char* layout;
  int width, height;
  GaussBlurParameters parameters;
};

const Subject subjects[] = {
    {"GRAY8", 1920, 1080, blur_of_size(3)},     {"GRAY8", 1920, 1080, blur_of_size(5)},
    {"GRAY8", 1920, 1080, blur_of_size(15)},    {"GRAY8", 1920, 1080, blur_of_size(31)},
    {"GRAY8", 1920, 1080, blur_of_sigma(1.2)},  {"GRAY8", 1920, 1080, blur_of_sigma(30)},
    {"GRAY8", 3840, 2160, blur_of_size(15)},    {"RGB", 1920, 1080, blur_of_size(5)},
    {"RGB", 1920, 1080, blur_of_size(15)},      {"RGBA", 1920, 1080, blur_of_size(5)},
    {"RGBA", 1920, 1080, blur_of_size(15)},     {"RGBA", 3840, 2160, blur_of_size(31)},
    {"GRAY16", 1920, 1080, blur_of_size(5)},    {"GRAY16", 1920, 1080, blur_of_size(15)},
    {"GRAY16", 1920, 1080, blur_of_sigma(1.2)}, {"GRAY16", 1920, 1080, blur_of_sigma(30)},
};

double milliseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

cv::Mat matrix(const FrameLayout& layout, std::vector<std::uint8_t>& block) {
  const int depth = layout.bits == 8 ? CV_8U : CV_16U;
  return {layout.height, layout.width, CV_MAKETYPE(depth, layout.channel_count), block.data(),
          static_cast<std::size_t>(layout.planes[0].row_bytes)};
}

void measure(const Subject& subject) {
  const GaussBlurParameters& parameters = subject.parameters;
  const test::GaussBlurCase test =
      test::plain_gaussblur_case(test::layout_named(subject.layout, subject.width, subject.height),
                                 parameters, test::Content::natural, 3);
  std::vector<std::uint8_t> input = test::input_block(test);
  std::vector<std::uint8_t> ours_block(test.out.bytes), opencv_block(test.out.bytes);
  const cv::Mat in = matrix(test.layout, input);
  const cv::Mat ours_out = matrix(test.layout, ours_block);
  cv::Mat opencv_out = matrix(test.layout, opencv_block);

  const auto device = make_cpu_device();
  GaussBlur blur(*device, test.layout, parameters);
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(input.data()));
  const Frame out_frame = frame_in(test.layout, test.out, ours_block.data());

  // In turns, and the best of all: whatever else the machine does meets both.
  double ours = 1e9, opencv = 1e9, spent = 0;
  for (int turn = 0; turn < 10 || (spent < 2000 && turn < 300); ++turn) {
    const double mine = milliseconds([&] { blur.run(in_frame, out_frame); });
    const double theirs = milliseconds([&] {
      cv::GaussianBlur(in, opencv_out, {parameters.size_x, parameters.size_y}, parameters.sigma_x,
                       parameters.sigma_y);
    });
    ours = std::min(ours, mine);
    opencv = std::min(opencv, theirs);
    spent += mine + theirs;
  }
  if (cv::norm(ours_out, opencv_out, cv::NORM_INF) != 0)
    throw std::runtime_error("bench_opencv: " + describe(test) + ": the results differ");
  std::printf("%-16s %-7s %4dx%-5d %9.3f %9.3f %9.2f\n", blur_name(parameters).c_str(),
              subject.layout, subject.width, subject.height, ours, opencv, ours / opencv);
  std::fflush(stdout);
}

void run() {
  const int threads = tbb::this_task_arena::max_concurrency();
  cv::setNumThreads(threads);
  std::printf("OpenCV %s, %d threads, best times in ms\n\n%-16s %-7s %-10s %9s %9s %9s\n",
              cv::getVersionString().c_str(), threads, "operation", "format", "size", "ours",
              "OpenCV", "ours / it");
  for (const Subject& subject : subjects)
    measure(subject);
}

}  // namespace
}  // namespace cudavision::bench

int main() {
  try {
    cudavision::bench::run();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
