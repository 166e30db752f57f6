// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the speed of the CPU backend with the speed of OpenCV.
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/photo.hpp>
#include <stdexcept>
#include <type_traits>

#include "cuda/sgm/backend.h"
#include "tests/bench/program.h"
#include "tests/bench/subject.h"
#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/remap/remap_case.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::bench {
namespace {

cv::Mat matrix(const FrameLayout& layout, std::vector<std::uint8_t>& dense) {
  const int type = CV_MAKETYPE(layout.bits == 8 ? CV_8U : CV_16U, layout.channel_count);
  return {layout.height, layout.width, type, dense.data()};
}

void expect_equal(const cv::Mat& ours, const cv::Mat& opencv, const std::string& name) {
  if (cv::norm(ours, opencv, cv::NORM_INF) != 0)
    throw std::runtime_error(name + ": the results of the CPU backend and of OpenCV differ");
}

class Comparison {
 public:
  Comparison(std::string json, bool quick) : json_(std::move(json)), quick_(quick) { write(); }

  void measure(const Subject& subject) {
    compare<test::HistEqualizeCase>(subject, [](const auto&) {
      return [](Input in, Output out) { cv::equalizeHist(in, out); };
    });
    compare<test::ClaheCase>(subject, [](const auto& test) {
      const cv::Size tiles(test.tiles.columns, test.tiles.rows);
      return [=](Input in, Output out) { cv::createCLAHE(2, tiles)->apply(in, out); };
    });
    compare<test::GaussBlurCase>(subject, [](const auto& test) {
      return [p = test.parameters](Input in, Output out) {
        cv::GaussianBlur(in, out, {p.size_x, p.size_y}, p.sigma_x, p.sigma_y);
      };
    });
    compare<test::IntegralCase>(subject, [](const auto& test) {
      const bool whole = test.parameters.element == integral::TableElement::uint32;
      return [=](Input in, Output out) { cv::integral(in, out, whole ? CV_32S : CV_64F); };
    });
    compare<test::LocalStatisticsCase>(subject, [](const auto& test) {
      const int size = 2 * test.parameters.radius + 1;
      return [=](Input in, Output out) { cv::boxFilter(in, out, -1, {size, size}); };
    });
    compare<test::NlMeansCase>(subject, [](const auto& test) {
      return [p = test.parameters](Input in, Output out) {
        cv::fastNlMeansDenoising(in, out, p.strength, p.patch, p.search);
      };
    });
    compare<test::RemapCase>(subject, [](const auto& test) {
      return [map = test.map()](Input in, Output out) mutable {
        const cv::Mat places(map.height, map.width, CV_16SC2, map.places.data());
        const cv::Mat fractions(map.height, map.width, CV_16UC1, map.fractions.data());
        cv::remap(in, out, places, fractions, cv::INTER_LINEAR, cv::BORDER_CONSTANT);
      };
    });
    if (const auto* test = std::any_cast<test::SgmCase>(&subject.test))
      measure_stereo(subject, *test);
  }

  /// Both filters work in place, so both times include a copy of the map.
  void measure_speckles(const Row& row) {
    constexpr int size = 100, max_step = 16;
    sgm::Parameters parameters;
    parameters.speckle_size = 0;
    parameters.refine = parameters.slanted_surfaces = false;
    parameters.noise = 0;
    const auto device = make_cpu_device();
    const test::SgmCase test = test::plain_sgm_case(test::gray_layout(row.width, row.height),
                                                    parameters, Content::natural, 3);
    auto disparities = test::SgmRunner(*device, test).run(input_block(test), 0).disparity;
    // Both filters mark unknown disparities by 0xFFFF, which is −1 in OpenCV's signed maps.
    const auto invalid =
        static_cast<std::uint16_t>(sgm::disparity_scale(sgm::resolved(parameters)).invalid);
    cv::Mat map(row.height, row.width, CV_16U, disparities.data());
    map.setTo(sgm::unknown, map == invalid);

    const auto stages = sgm::make_stages_cpu(*device, sgm::StageConfig(test.layout, parameters));
    cv::Mat ours = map.clone(), opencv_map(row.height, row.width, CV_16S), buffer;
    print_best(
        row,
        [&] {
          map.copyTo(ours);
          stages->run(sgm::RemoveSpeckles{size, max_step, ours.ptr<std::uint16_t>()});
        },
        [&] {
          std::memcpy(opencv_map.data, map.data, map.total() * map.elemSize());
          cv::filterSpeckles(opencv_map, -1, size, max_step, buffer);
        });
    expect_equal(ours, cv::Mat(row.height, row.width, CV_16U, opencv_map.data), "speckles");
  }

 private:
  using Input = const cv::Mat&;
  using Output = cv::Mat&;

  /// Measures the subject if its case is of type Case. make_opencv(case) returns OpenCV's function.
  template <class Case, class Make>
  void compare(const Subject& subject, const Make& make_opencv) {
    const auto* const test = std::any_cast<Case>(&subject.test);
    if (!test)
      return;
    std::vector<std::uint8_t> input = input_block(*test);
    const cv::Mat in = matrix(test->layout, input);
    cv::Mat out;
    auto opencv = make_opencv(*test);
    const auto device = make_cpu_device();
    const PreparedWork ours = subject.prepare(*device);
    print_best(subject.row, ours.work[0].run, [&] { opencv(in, out); });

    cv::Rect exact({0, 0}, out.size());
    constexpr bool is_mean = std::is_same_v<Case, test::LocalStatisticsCase>,
                   is_remap = std::is_same_v<Case, test::RemapCase>;
    if ((is_mean || is_remap) && test->layout.bits > 8)
      return;  // OpenCV rounds samples of more than 8 bits differently
    // At the edges, OpenCV extrapolates the image, but our mean includes only existing pixels.
    if constexpr (is_mean) {
      const int radius = test->parameters.radius;
      exact = {radius, radius, out.cols - 2 * radius, out.rows - 2 * radius};
    }
    auto result = block_of(test::Runner<Case>(*device, *test).run(input, 0));
    expect_equal(cv::Mat(out.size(), out.type(), result.data())(exact), out(exact),
                 subject.row.name());
  }

  template <class Result>
  static std::vector<std::uint8_t> block_of(const Result& result) {
    if constexpr (requires { result.table; })
      return result.table;
    else if constexpr (requires { result.out; })
      return result.out;
    else
      return result;
  }

  /// Measures times only. The maps differ, because OpenCV uses other matching costs.
  void measure_stereo(const Subject& subject, const test::SgmCase& test) {
    test::SgmInput input = input_block(test);
    const cv::Mat left = matrix(test.layout, input.left), right = matrix(test.layout, input.right);
    // P1 and P2 follow OpenCV's documentation. MODE_SGBM has 5 paths, MODE_HH has 8.
    const auto opencv = cv::StereoSGBM::create(
        0, test.parameters.disparities, 5, 8 * 25, 32 * 25, 1, 63, 5, 0, 0,
        test.parameters.paths == 4 ? cv::StereoSGBM::MODE_SGBM : cv::StereoSGBM::MODE_HH);
    cv::Mat map;
    const auto device = make_cpu_device();
    const PreparedWork ours = subject.prepare(*device);
    print_best(subject.row, ours.work[0].run, [&] { opencv->compute(left, right, map); });
  }

  /// Prints the best time of each. Runs alternate, so that other load on the machine affects both.
  void print_best(const Row& row, const std::function<void()>& ours,
                  const std::function<void()>& theirs) {
    const auto milliseconds = [](const std::function<void()>& work) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      const auto end = std::chrono::steady_clock::now();
      return std::chrono::duration<double, std::milli>(end - begin).count();
    };
    double ours_best = 1e9, opencv_best = 1e9, spent = 0;
    const int minimum = quick_ ? 1 : 10, maximum = quick_ ? 1 : 300;
    for (int turn = 0; turn < minimum || (spent < 2000 && turn < maximum); ++turn) {
      const double ours_time = milliseconds(ours), opencv_time = milliseconds(theirs);
      ours_best = std::min(ours_best, ours_time);
      opencv_best = std::min(opencv_best, opencv_time);
      spent += ours_time + opencv_time;
    }
    std::printf("%-32s %-7s %-10s %9.3f %9.3f %9.2f\n", row.operation.c_str(), row.format.c_str(),
                row.size().c_str(), ours_best, opencv_best, ours_best / opencv_best);
    std::fflush(stdout);
    rows_.push_back({text("name", row.operation + "/" + row.format + "/" + row.size()),
                     number("microseconds", 1000 * ours_best),
                     number("opencv_microseconds", 1000 * opencv_best)});
    write();
  }

  void write() const {
    write_json(json_, {text("opencv", cv::getVersionString())}, {{"rows", rows_}});
  }

  const std::string json_;
  const bool quick_;
  std::vector<Values> rows_;
};

std::string usage() {
  return "usage: bench_opencv [--quick] [--group NAME] [--filter REGEX] [--list] [--json FILE]\n"
         "\n"
         "  --quick          run each operation once only\n"
         "  --group NAME     measure only these rows: " +
         joined(subject_groups()) +
         "\n"
         "  --filter REGEX   measure only rows whose names contain a match of REGEX\n"
         "  --list           print the names of the rows instead of measuring them\n"
         "  --json FILE      also write the results to FILE\n";
}

bool run(int& argc, char** argv) {
  bool quick = false;
  const CommandLine line = parse(argc, argv, usage(), subject_groups(), {{"--quick", &quick}});
  Subjects subjects = wanted_subjects(line, opencv);
  for (const Row& row :
       {Row{"speckles", "GRAY16", 640, 480}, Row{"speckles", "GRAY16", 1920, 1080}})
    if (Subject speckles{row, opencv}; line.wants("stereo", speckles.name(opencv)))
      subjects.push_back(speckles);
  if (line.list) {
    for (const Subject& subject : subjects)
      std::cout << subject.name(opencv) << "\n";
    return true;
  }
  const int threads = tbb::this_task_arena::max_concurrency();
  cv::setNumThreads(threads);
  std::printf("OpenCV %s, %d threads, best times in ms\n\n%-32s %-7s %-10s %9s %9s %9s\n",
              cv::getVersionString().c_str(), threads, "operation", "format", "size", "ours",
              "OpenCV", "ratio");
  Comparison comparison(line.json, quick);
  for (const Subject& subject : subjects)
    if (subject.prepare)
      comparison.measure(subject);
    else
      comparison.measure_speckles(subject.row);
  return true;
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  return cudavision::bench::run_benchmark("bench_opencv", cudavision::bench::run, argc, argv);
}
