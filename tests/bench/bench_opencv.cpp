// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the speed of the CPU half with OpenCV's, for operations that OpenCV has as well. Both
// run in one process with the same number of threads. This is a separate program because
// bench_kernels also runs on GPU hosts, which have no OpenCV.

#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/photo.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "tests/bench/blur_subjects.h"
#include "tests/bench/clahe_subjects.h"
#include "tests/bench/integral_subjects.h"
#include "tests/bench/nlmeans_subjects.h"
#include "tests/bench/remap_subjects.h"
#include "tests/bench/stereo_subjects.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::bench {
namespace {

struct Subject {
  const char* layout;
  int width, height;
  gaussblur::Parameters parameters;
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

struct Options {
  bool quick = false;
  std::string json;
};

Options options;

/// The best times of both, in ms.
struct Result {
  std::string name;
  double ours, opencv;
};

std::vector<Result> results;

/// Prints the best times of both. They alternate, so that other load on the machine affects both.
void print_best(const std::string& operation, const char* layout_name, const FrameLayout& layout,
                const std::function<void()>& ours, const std::function<void()>& opencv) {
  double ours_best = 1e9, opencv_best = 1e9, spent = 0;
  const int minimum = options.quick ? 1 : 10, maximum = options.quick ? 1 : 300;
  for (int turn = 0; turn < minimum || (spent < 2000 && turn < maximum); ++turn) {
    const double mine = milliseconds(ours);
    const double theirs = milliseconds(opencv);
    ours_best = std::min(ours_best, mine);
    opencv_best = std::min(opencv_best, theirs);
    spent += mine + theirs;
  }
  std::printf("%-32s %-7s %4dx%-5d %9.3f %9.3f %9.2f\n", operation.c_str(), layout_name,
              layout.width, layout.height, ours_best, opencv_best, ours_best / opencv_best);
  std::fflush(stdout);
  results.push_back({operation + "/" + layout_name + "/" + std::to_string(layout.width) + "x" +
                         std::to_string(layout.height),
                     ours_best, opencv_best});
}

void expect_equal(const cv::Mat& ours, const cv::Mat& opencv, const std::string& description) {
  if (cv::norm(ours, opencv, cv::NORM_INF) != 0)
    throw std::runtime_error("bench_opencv: " + description + ": the results differ");
}

template <class Operation, class Case>
Operation make_operation(Device& device, const Case& test) {
  if constexpr (std::is_same_v<Operation, typename Case::Operation>)
    return test.make(device, test.parameters);
  else  // the case has more operations than this one
    return Operation(device, test.layout, test.parameters);
}

/// Measures an operation whose output has the layout of its input. The results must be equal.
template <class Operation, class Case>
void measure_filter(const Case& test, const std::string& operation, const char* layout_name,
                    const std::function<void(const cv::Mat& in, cv::Mat& out)>& opencv) {
  std::vector<std::uint8_t> input = test::input_block(test);
  std::vector<std::uint8_t> ours_block(test.out.bytes), opencv_block(test.out.bytes);
  const cv::Mat in = matrix(test.layout, input);
  cv::Mat opencv_out = matrix(test.layout, opencv_block);

  const auto device = make_cpu_device();
  Operation ours = make_operation<Operation>(*device, test);
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(input.data()));
  const Frame out_frame = frame_in(test.layout, test.out, ours_block.data());
  print_best(
      operation, layout_name, test.layout, [&] { ours.run(in_frame, out_frame); },
      [&] { opencv(in, opencv_out); });
  expect_equal(matrix(test.layout, ours_block), opencv_out, describe(test));
}

void measure(const Subject& subject) {
  const gaussblur::Parameters& parameters = subject.parameters;
  const test::GaussBlurCase test =
      test::plain_gaussblur_case(test::layout_named(subject.layout, subject.width, subject.height),
                                 parameters, test::Content::natural, 3);
  measure_filter<gaussblur::GaussBlur>(
      test, blur_name(parameters), subject.layout, [&](const cv::Mat& in, cv::Mat& out) {
        cv::GaussianBlur(in, out, {parameters.size_x, parameters.size_y}, parameters.sigma_x,
                         parameters.sigma_y);
      });
}

const TableSubject tables[] = {
    {"GRAY8", 640, 480, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"GRAY8", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::float64)},
    {"GRAY16", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::float64)},
};

void measure(const TableSubject& subject) {
  const test::IntegralCase test =
      test::plain_integral_case(test::layout_named(subject.layout, subject.width, subject.height),
                                subject.parameters, test::Content::natural, 3);
  std::vector<std::uint8_t> input = test::input_block(test);
  std::vector<std::uint8_t> table(test.out.bytes);
  const cv::Mat in = matrix(test.layout, input);
  const int depth = subject.parameters.element == integral::TableElement::uint32 ? CV_32S : CV_64F;
  cv::Mat opencv_table;

  const auto device = make_cpu_device();
  integral::Integral integral(*device, test.layout, test.parameters);
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(input.data()));
  const Frame table_frame = frame_in(test.out_layout, test.out, table.data());
  print_best(
      table_name(test.parameters), subject.layout, test.layout,
      [&] { integral.run(in_frame, table_frame.planes[0]); },
      [&] { cv::integral(in, opencv_table, depth); });
  expect_equal({test.layout.height + 1, test.layout.width + 1, depth, table.data()}, opencv_table,
               describe(test));
}

struct MeanSubject {
  const char* layout;
  int width, height, radius;
};

constexpr MeanSubject means[] = {
    {"GRAY8", 1920, 1080, 1},    {"GRAY8", 1920, 1080, 7}, {"GRAY8", 1920, 1080, 50},
    {"GRAY8", 1920, 1080, 500},  {"GRAY8", 3840, 2160, 7}, {"GRAY16", 1920, 1080, 7},
    {"GRAY16", 1920, 1080, 500},
};

/// Compares the results only where the window lies within the picture: beyond the edges, OpenCV
/// continues the picture, while the mean counts only existing pixels. Only results of 8 bits are
/// compared, because OpenCV rounds those of 16 bits differently.
void measure(const MeanSubject& subject) {
  const test::LocalStatisticsCase test = test::plain_localstatistics_case(
      test::layout_named(subject.layout, subject.width, subject.height),
      test::statistics(localstatistics::Parameters::Output::mean, subject.radius),
      test::Content::natural, 3);
  std::vector<std::uint8_t> input = test::input_block(test);
  std::vector<std::uint8_t> ours_block(test.out.bytes), opencv_block(test.out.bytes);
  const cv::Mat in = matrix(test.layout, input);
  cv::Mat opencv_out = matrix(test.layout, opencv_block);
  const int size = 2 * subject.radius + 1;

  const auto device = make_cpu_device();
  localstatistics::LocalStatistics operation(*device, test.layout, test.out_layout.bits,
                                             test.parameters);
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(input.data()));
  const Frame out_frame = frame_in(test.out_layout, test.out, ours_block.data());
  print_best(
      statistics_name(test.parameters), subject.layout, test.layout,
      [&] { operation.run(in_frame, out_frame.planes[0]); },
      [&] {
        cv::boxFilter(in, opencv_out, -1, {size, size});
      });
  if (test.layout.bits != 8)
    return;
  const cv::Rect inside(subject.radius, subject.radius, subject.width - size + 1,
                        subject.height - size + 1);
  expect_equal(matrix(test.layout, ours_block)(inside), opencv_out(inside), describe(test));
}

/// OpenCV rounds samples of 16 bits differently, so only results of 8 bits are compared.
void measure(const RemapSubject& subject) {
  const test::RemapCase test = subject.make_case();
  std::vector<std::uint8_t> input = test::input_block(test);
  const cv::Mat in = matrix(test.layout, input);
  test::HostMap map = test.map();
  const cv::Mat places(map.height, map.width, CV_16SC2, map.places.data());
  const cv::Mat fractions(map.height, map.width, CV_16UC1, map.fractions.data());
  cv::Mat opencv_out;

  const auto device = make_cpu_device();
  remap::Remap remap(*device, {subject.width, subject.height, test.layout.bits}, map.view());
  const SamplePlane plane = plane_of(
      test, frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(input.data())));
  SamplePlane out;
  print_best(
      "remap", subject.layout, test.layout, [&] { out = remap.run(plane); },
      [&] { cv::remap(in, opencv_out, places, fractions, cv::INTER_LINEAR, cv::BORDER_CONSTANT); });
  if (test.layout.bits == 8)
    expect_equal({out.height(), out.width, CV_8U, const_cast<std::uint8_t*>(out.rows.data),
                  static_cast<std::size_t>(out.rows.pitch)},
                 opencv_out, describe(test));
}

struct StereoSubject {
  int width, height, disparities, paths;
  int mode;  ///< an OpenCV mode with at least as many paths
};

constexpr StereoSubject pairs[] = {
    {640, 480, 64, 4, cv::StereoSGBM::MODE_SGBM},
    {640, 480, 64, 8, cv::StereoSGBM::MODE_HH},
    {640, 480, 128, 8, cv::StereoSGBM::MODE_HH},
    {1280, 720, 128, 8, cv::StereoSGBM::MODE_HH},
};

/// Does not compare the maps, because OpenCV's matching cost is a different one.
void measure(const StereoSubject& subject) {
  const sgm::Parameters parameters = stereo_of(subject.disparities, subject.paths);
  const auto device = make_cpu_device();
  const test::SgmFrames frames(
      *device, test::plain_sgm_case(test::gray_layout(subject.width, subject.height), parameters,
                                    test::Content::natural, 3));
  sgm::SgmStereo stereo(*device, frames.test.layout, frames.test.layout, parameters);
  test::SgmInput input = frames.input();
  const cv::Mat left = matrix(frames.test.layout, input.left),
                right = matrix(frames.test.layout, input.right);
  // These are the settings of OpenCV's own example: penalties for blocks of five pixels and a
  // left-right check.
  const auto opencv = cv::StereoSGBM::create(0, subject.disparities, 5, 8 * 25, 32 * 25, 1, 63, 5,
                                             0, 0, subject.mode);
  cv::Mat map;
  print_best(
      stereo_name(parameters).c_str(), "GRAY8", frames.test.layout,
      [&] { stereo.run(frames.left, frames.right, frames.disparity); },
      [&] { opencv->compute(left, right, map); });
}

/// Removes the speckles of a map as matching finds it. Both work in place, so the times include a
/// copy of the map.
void measure_speckles(int width, int height) {
  constexpr int size = 100, max_step = 16;
  const auto device = make_cpu_device();
  const test::SgmFrames frames(
      *device, test::plain_sgm_case(test::gray_layout(width, height), stereo_of(128, 4),
                                    test::Content::natural, 3));
  sgm::SgmStereo(*device, frames.test.layout, frames.test.layout, frames.test.parameters)
      .run(frames.left, frames.right, frames.disparity);
  // OpenCV's maps are signed: `unknown`, the largest number, is -1 there.
  const auto invalid = static_cast<std::uint16_t>(
      sgm::disparity_scale(sgm::resolved(frames.test.parameters)).invalid);
  cv::Mat map(height, width, CV_16U, frames.disparity.data,
              static_cast<std::size_t>(frames.disparity.pitch));
  map.setTo(sgm::unknown, map == invalid);

  const auto stages =
      sgm::make_stages_cpu(*device, sgm::StageConfig(frames.test.layout, frames.test.parameters));
  cv::Mat ours = map.clone(), opencv_map(height, width, CV_16S), buffer;
  print_best(
      "speckles", "GRAY16", frames.test.layout,
      [&] {
        map.copyTo(ours);
        stages->remove_speckles(size, max_step, ours.ptr<std::uint16_t>());
      },
      [&] {
        std::memcpy(opencv_map.data, map.data, map.total() * map.elemSize());
        cv::filterSpeckles(opencv_map, -1, size, max_step, buffer);
      });
  expect_equal(ours, cv::Mat(height, width, CV_16U, opencv_map.data), "speckles");
}

void measure_equalization(int width, int height) {
  measure_filter<histequalize::HistogramEqualize>(
      test::plain_histequalize_case(test::gray_layout(width, height), test::Content::natural, 3),
      "equalise", "GRAY8", [](const cv::Mat& in, cv::Mat& out) { cv::equalizeHist(in, out); });
}

void measure(const ClaheSubject& subject) {
  measure_filter<clahe::Clahe>(
      subject.make_case(test::Content::natural), clahe_name(subject), subject.layout,
      [&](const cv::Mat& in, cv::Mat& out) {
        cv::createCLAHE(2, {subject.tiles.columns, subject.tiles.rows})->apply(in, out);
      });
}

void measure_denoising(int width, int height) {
  const nlmeans::Parameters parameters{21, 7, 10};
  measure_filter<nlmeans::NlMeans>(
      test::plain_nlmeans_case(test::gray_layout(width, height), parameters, test::Content::natural,
                               3),
      nlmeans_name(parameters), "GRAY8", [&](const cv::Mat& in, cv::Mat& out) {
        cv::fastNlMeansDenoising(in, out, parameters.strength, parameters.patch, parameters.search);
      });
}

void write_json(std::ostream& stream) {
  stream << "{\n  \"opencv\": \"" << cv::getVersionString() << "\",\n  \"rows\": [";
  const char* separator = "\n";
  for (const Result& result : results) {
    stream << separator << "    {\"name\": \"" << result.name
           << "\", \"microseconds\": " << 1000 * result.ours
           << ", \"opencv_microseconds\": " << 1000 * result.opencv << "}";
    separator = ",\n";
  }
  stream << "\n  ]\n}\n";
}

constexpr const char* usage =
    "usage: bench_opencv [--quick] [--json FILE]\n"
    "\n"
    "  --quick       run each operation once only\n"
    "  --json FILE   also write the results to FILE\n";

void parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      std::cout << usage;
      std::exit(0);
    }
    if (option == "--quick")
      options.quick = true;
    else if (option == "--json" && i + 1 < argc)
      options.json = argv[++i];
    else
      throw std::invalid_argument("bench_opencv: unknown argument \"" + option + "\"\n" + usage);
  }
}

void run() {
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw std::runtime_error("bench_opencv: cannot write " + options.json);
  }
  const int threads = tbb::this_task_arena::max_concurrency();
  cv::setNumThreads(threads);
  std::printf("OpenCV %s, %d threads, best times in ms\n\n%-32s %-7s %-10s %9s %9s %9s\n",
              cv::getVersionString().c_str(), threads, "operation", "format", "size", "ours",
              "OpenCV", "ratio");
  measure_equalization(1920, 1080);
  for (const ClaheSubject& subject : clahe_subjects)
    if (std::string(subject.layout).rfind("GRAY", 0) == 0)
      measure(subject);
  for (const Subject& subject : subjects)
    measure(subject);
  for (const TableSubject& subject : tables)
    measure(subject);
  for (const MeanSubject& subject : means)
    measure(subject);
  measure_denoising(640, 480);
  for (const RemapSubject& subject : remap_subjects)
    measure(subject);
  measure_speckles(640, 480);
  measure_speckles(1920, 1080);
  for (const StereoSubject& subject : pairs)
    measure(subject);
  if (json.is_open()) {
    write_json(json);
    json.flush();
    if (!json)
      throw std::runtime_error("bench_opencv: writing " + options.json + " failed");
  }
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  try {
    cudavision::bench::parse(argc, argv);
    cudavision::bench::run();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
