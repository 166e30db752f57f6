// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures the operations of cuda/. Google Benchmark times them on the CPU. On the GPU, they are
// compared with a plain copy of the same bytes and with the times that the project requires.

#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "cuda/core/parallel.h"
#include "cuda/histequalize/smoothedequalize.h"
#include "tests/bench/blur_subjects.h"
#include "tests/bench/cpu_rows.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/nlmeans_subjects.h"
#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::bench {
namespace {

using test::Content;
using test::DeviceBlock;

struct CpuSubject {
  const char* layout;
  int width, height;
  Content content;
};

constexpr CpuSubject cpu_subjects[] = {
    {"GRAY8", 640, 480, Content::natural},   {"GRAY8", 1920, 1080, Content::natural},
    {"GRAY8", 1920, 1080, Content::flat},    {"GRAY8", 1920, 1080, Content::random},
    {"GRAY8", 3840, 2160, Content::natural}, {"GRAY16", 1920, 1080, Content::natural},
    {"NV12", 1920, 1080, Content::natural},  {"YUY2", 1920, 1080, Content::natural},
    {"P010", 1920, 1080, Content::natural},  {"RGB", 1920, 1080, Content::natural},
    {"RGBx", 1920, 1080, Content::natural},  {"RGBx", 3840, 2160, Content::natural},
};

/// Copies a frame's bytes with all threads, as the operations read and write them.
void measure_cpu_copy(benchmark::State& state, const CpuSubject& subject) {
  const test::HistEqualizeCase test = test::plain_histequalize_case(
      test::layout_named(subject.layout, subject.width, subject.height), subject.content, 3);
  const std::vector<std::uint8_t> in = test::input_block(test);
  std::vector<std::uint8_t> out(in.size());
  const Bands bands(subject.height);
  const auto edge = [&](int row) {
    return in.size() * static_cast<std::size_t>(row) / static_cast<std::size_t>(subject.height);
  };
  for ([[maybe_unused]] auto _ : state)
    bands.for_each([&](const Band& band) {
      std::memcpy(out.data() + edge(band.begin), in.data() + edge(band.begin),
                  edge(band.end) - edge(band.begin));
    });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(in.size()));
}

enum class Operation { equalize, smoothed, histogram };

const char* name_of(Operation operation) {
  return operation == Operation::equalize   ? "equalise"
         : operation == Operation::smoothed ? "equalise with smoothing"
                                            : "histogram";
}

void measure_cpu(benchmark::State& state, const CpuSubject& subject, Operation operation) {
  const test::HistEqualizeCase test = test::plain_histequalize_case(
      test::layout_named(subject.layout, subject.width, subject.height), subject.content, 3);
  const auto device = make_cpu_device();
  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const int bin_count = 1 << test.layout.bits;
  const DeviceBlock<std::uint32_t> bins(
      *device, std::vector<std::uint32_t>(static_cast<std::size_t>(bin_count)));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.layout, test.out, out.data());

  if (operation == Operation::histogram) {
    histequalize::Histogram histogram(*device, test.layout);
    for ([[maybe_unused]] auto _ : state)
      histogram.run(in_frame, {bins.data(), bin_count, 1, bin_count * std::ptrdiff_t{4}});
  } else if (operation == Operation::smoothed) {
    histequalize::SmoothedEqualize equalize(*device, test.layout, test.parameters);
    for ([[maybe_unused]] auto _ : state)
      equalize.run(in_frame, out_frame, {2570, 16384});
  } else {
    histequalize::HistogramEqualize equalize(*device, test.layout, test.parameters);
    for ([[maybe_unused]] auto _ : state)
      equalize.run(in_frame, out_frame);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

struct CpuBlurSubject {
  const char* layout;
  int width, height;
  gaussblur::Parameters parameters;
};

const CpuBlurSubject cpu_blur_subjects[] = {
    {"GRAY8", 1920, 1080, blur_of_size(5)},
    {"GRAY8", 1920, 1080, blur_of_size(15)},
    {"GRAY8", 1920, 1080, blur_of_size(31)},
    {"GRAY8", 1920, 1080, blur_of_sigma(30)},
    {"GRAY8", 3840, 2160, blur_of_size(15)},
    {"GRAY8", 1920, 1080, fine(blur_of_size(15))},
    {"GRAY16", 1920, 1080, blur_of_size(15)},
    {"NV12", 1920, 1080, blur_of_sigma(1.2)},
    {"NV12", 1920, 1080, blur_of_size(15)},
    {"YUY2", 1920, 1080, blur_of_size(15)},
    {"P010", 1920, 1080, blur_of_size(15)},
    {"RGB", 1920, 1080, blur_of_size(15)},
    {"RGBx", 1920, 1080, blur_of_size(15)},
    {"RGBA", 3840, 2160, blur_of_size(31)},
    {"NV12", 1920, 1080, sharpening(blur_of_sigma(1.2))},
};

void measure_cpu_blur(benchmark::State& state, const CpuBlurSubject& subject) {
  const test::GaussBlurCase test =
      test::plain_gaussblur_case(test::layout_named(subject.layout, subject.width, subject.height),
                                 subject.parameters, Content::natural, 3);
  const auto device = make_cpu_device();
  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  gaussblur::GaussBlur blur(*device, test.layout, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    blur.run(frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data())),
             frame_in(test.layout, test.out, out.data()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

struct CpuNlMeansSubject {
  const char* layout;
  int width, height;
  nlmeans::Parameters parameters;
};

const CpuNlMeansSubject cpu_nlmeans_subjects[] = {
    {"GRAY8", 640, 480, {21, 7, 10}},
    {"GRAY8", 1920, 1080, {21, 7, 10}},
    {"RGB", 640, 480, {21, 7, 10}},
    {"GRAY16", 640, 480, {21, 7, 10}},
};

void measure_cpu_nlmeans(benchmark::State& state, const CpuNlMeansSubject& subject) {
  const test::NlMeansCase test =
      test::plain_nlmeans_case(test::layout_named(subject.layout, subject.width, subject.height),
                               subject.parameters, Content::natural, 3);
  const auto device = make_cpu_device();
  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  nlmeans::NlMeans denoising(*device, test.layout, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    denoising.run(frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data())),
                  frame_in(test.layout, test.out, out.data()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

void register_cpu() {
  for (const CpuSubject& subject : cpu_subjects)
    if (subject.content == Content::natural) {
      const std::string name = std::string("copy/") + subject.layout + "/" +
                               std::to_string(subject.width) + "x" + std::to_string(subject.height);
      measured_in_real_time(benchmark::RegisterBenchmark(name.c_str(), measure_cpu_copy, subject));
    }
  for (const Operation operation : {Operation::equalize, Operation::smoothed, Operation::histogram})
    for (const CpuSubject& subject : cpu_subjects) {
      const std::string name = std::string(name_of(operation)) + "/" + subject.layout + "/" +
                               std::to_string(subject.width) + "x" +
                               std::to_string(subject.height) + "/" + test::name(subject.content);
      measured_in_real_time(
          benchmark::RegisterBenchmark(name.c_str(), measure_cpu, subject, operation));
    }
  register_clahe();
  for (const CpuBlurSubject& subject : cpu_blur_subjects) {
    const std::string name = blur_name(subject.parameters) + "/" + subject.layout + "/" +
                             std::to_string(subject.width) + "x" + std::to_string(subject.height);
    measured_in_real_time(benchmark::RegisterBenchmark(name.c_str(), measure_cpu_blur, subject));
  }
  register_integral();
  for (const CpuNlMeansSubject& subject : cpu_nlmeans_subjects) {
    const std::string name = nlmeans_name(subject.parameters) + "/" + subject.layout + "/" +
                             std::to_string(subject.width) + "x" + std::to_string(subject.height);
    measured_in_real_time(benchmark::RegisterBenchmark(name.c_str(), measure_cpu_nlmeans, subject));
  }
  register_mosaic();
  register_remap();
  register_repack();
  register_stereo();
}

/// Prints Google Benchmark's usual output and keeps the results.
class KeepingReporter : public benchmark::ConsoleReporter {
 public:
  KeepingReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        rows.push_back({run.run_name.function_name, run.GetAdjustedRealTime()});
    ConsoleReporter::ReportRuns(runs);
  }

  std::vector<CpuRow> rows;
};

struct Options {
  bool cpu = true, cuda = true;
  std::string json;
  std::string group;
};

constexpr const char* usage =
    "usage: bench_kernels [--cpu | --cuda] [--group NAME] [--json FILE] [--benchmark_...]\n"
    "\n"
    "  --cpu, --cuda     measure only this half\n"
    "  --group NAME      in the CUDA half, measure only the operations NAME: equalization, clahe,\n"
    "                    blur, integral, mosaic, nlmeans, regions, remap, repack or stereo\n"
    "  --json FILE       also write the results to FILE\n"
    "  --benchmark_...   options of Google Benchmark, for the CPU half\n";

/// Removes this program's options from the argument list, so that only Google Benchmark's remain.
Options parse(int& argc, char** argv) {
  Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--cpu") {
      options.cuda = false;
    } else if (option == "--cuda") {
      options.cpu = false;
    } else if (option == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (option == "--group" && i + 1 < argc) {
      options.group = argv[++i];
    } else if (option == "--help" || option == "-h") {
      std::cout << usage;
      std::exit(0);
    } else if (option.rfind("--benchmark_", 0) == 0) {
      argv[kept++] = argv[i];
    } else {
      throw std::invalid_argument("bench_kernels: unknown argument \"" + option + "\"\n" + usage);
    }
  }
  if (!options.cpu && !options.cuda)
    throw std::invalid_argument("bench_kernels: --cpu and --cuda exclude each other");
  argc = kept;
  return options;
}

void run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw std::runtime_error("bench_kernels: cannot write " + options.json);
  }

  std::string card;
  std::vector<Row> rows;
  if (options.cuda) {
    const std::string& unusable = test::cuda_unusable();
    if (!unusable.empty()) {
      std::cout << "CUDA half not run: " << unusable << "\n";
    } else {
      card = test::cuda_card();
      std::cout << card << "\nGPU time per frame, without the host's; the required times "
                << "apply to an NVIDIA H200\n\n";
      rows = measure_cuda(options.group);
      print_table(std::cout, rows);
    }
    std::cout << std::endl;
  }

  KeepingReporter reporter;
  if (options.cpu) {
    register_cpu();
    // A time that the command line can change, unlike one that is set for each benchmark.
    std::string min_time = "--benchmark_min_time=0.2";
    std::vector<char*> arguments(argv, argv + argc);
    arguments.insert(arguments.begin() + 1, min_time.data());
    argc = static_cast<int>(arguments.size());
    benchmark::Initialize(&argc, arguments.data());
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
  if (json.is_open()) {
    write_json(json, card, rows, reporter.rows);
    json.flush();
    if (!json)
      throw std::runtime_error("bench_kernels: writing " + options.json + " failed");
  }
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  try {
    cudavision::bench::run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
