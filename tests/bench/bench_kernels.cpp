// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures the operations of cuda/. Google Benchmark times them on the CPU. On the GPU, they are
// compared with a plain copy of the same bytes and with the times that the project requires.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <utility>

#include "cuda/core/parallel.h"
#include "tests/bench/blur_subjects.h"
#include "tests/bench/cpu_rows.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/guided_subjects.h"
#include "tests/bench/nlmeans_subjects.h"
#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/guided/guided_case.h"
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
  } else {
    std::optional<histogramaverage::Parameters> smoothing;
    if (operation == Operation::smoothed)
      smoothing = {2570, 16384};
    histequalize::HistogramEqualize equalize(*device, test.layout, test.parameters);
    for ([[maybe_unused]] auto _ : state)
      equalize.run(in_frame, out_frame, {}, smoothing);
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

struct CpuGuidedSubject {
  const char* layout;
  int width, height;
  guided::Parameters parameters;
};

const CpuGuidedSubject cpu_guided_subjects[] = {
    {"GRAY8", 1920, 1080, {8, 100}},
    {"GRAY8", 1920, 1080, {50, 100}},
    {"NV12", 1920, 1080, {8, 100}},
    {"GRAY16", 1920, 1080, {8, 100}},
};

void measure_cpu_guided(benchmark::State& state, const CpuGuidedSubject& subject) {
  const test::GuidedCase test =
      test::plain_guided_case(test::layout_named(subject.layout, subject.width, subject.height),
                              subject.parameters, Content::natural, 3);
  const auto device = make_cpu_device();
  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  guided::Guided filter(*device, test.layout, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    filter.run(frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data())),
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

std::string size_of(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

void add_cpu_copies(CpuRows& rows) {
  for (const CpuSubject& subject : cpu_subjects)
    if (subject.content == Content::natural)
      rows.add(std::string("copy/") + subject.layout + "/" + size_of(subject.width, subject.height),
               measure_cpu_copy, subject);
}

void add_cpu_equalization(CpuRows& rows) {
  for (const Operation operation : {Operation::equalize, Operation::smoothed, Operation::histogram})
    for (const CpuSubject& subject : cpu_subjects)
      rows.add(std::string(name_of(operation)) + "/" + subject.layout + "/" +
                   size_of(subject.width, subject.height) + "/" + test::name(subject.content),
               measure_cpu, subject, operation);
}

void add_cpu_blur(CpuRows& rows) {
  for (const CpuBlurSubject& subject : cpu_blur_subjects)
    rows.add(blur_name(subject.parameters) + "/" + subject.layout + "/" +
                 size_of(subject.width, subject.height),
             measure_cpu_blur, subject);
}

void add_cpu_guided(CpuRows& rows) {
  for (const CpuGuidedSubject& subject : cpu_guided_subjects)
    rows.add(guided_name(subject.parameters) + "/" + subject.layout + "/" +
                 size_of(subject.width, subject.height),
             measure_cpu_guided, subject);
}

void add_cpu_nlmeans(CpuRows& rows) {
  for (const CpuNlMeansSubject& subject : cpu_nlmeans_subjects)
    rows.add(nlmeans_name(subject.parameters) + "/" + subject.layout + "/" +
                 size_of(subject.width, subject.height),
             measure_cpu_nlmeans, subject);
}

void add_none(CpuRows&) {}

/// A group of rows, as --group names it, and its rows of the CPU half.
struct Group {
  const char* name;
  void (*add)(CpuRows& rows);
};

constexpr Group groups[] = {
    {"copy", add_cpu_copies},   {"equalization", add_cpu_equalization},
    {"clahe", add_cpu_clahe},   {"blur", add_cpu_blur},
    {"guided", add_cpu_guided}, {"integral", add_cpu_integral},
    {"mosaic", add_cpu_mosaic}, {"nlmeans", add_cpu_nlmeans},
    {"regions", add_none},      {"remap", add_cpu_remap},
    {"repack", add_cpu_repack}, {"stereo", add_cpu_stereo},
};

std::string group_names() {
  std::string names;
  for (const Group& group : groups)
    names += (names.empty() ? "" : ", ") + std::string(group.name);
  return names;
}

/// Prints Google Benchmark's usual output, keeps the results and calls `report` after each row.
class KeepingReporter : public benchmark::ConsoleReporter {
 public:
  explicit KeepingReporter(std::function<void(const CpuRow&)> report)
      : ConsoleReporter(OO_Tabular), report_(std::move(report)) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        report_({run.run_name.function_name, run.GetAdjustedRealTime()});
  }

 private:
  std::function<void(const CpuRow&)> report_;
};

struct Options {
  bool cpu = true, cuda = true, list = false;
  std::string json;
  std::string group;
  std::regex filter{""};  ///< without a text, it would match nothing
};

std::string usage() {
  return "usage: bench_kernels [--cpu | --cuda] [--group NAME] [--filter REGEX] [--list]\n"
         "                     [--json FILE] [--benchmark_...]\n"
         "\n"
         "  --cpu, --cuda     measure only this half\n"
         "  --group NAME      measure only these rows: " +
         group_names() +
         "\n"
         "  --filter REGEX    measure only rows whose names contain a match of REGEX\n"
         "  --list            print the names of the rows instead of measuring them\n"
         "  --json FILE       also write the results to FILE, after each row\n"
         "  --benchmark_...   options of Google Benchmark, for the CPU half\n";
}

/// Removes this program's options from the argument list, so that only Google Benchmark's remain.
Options parse(int& argc, char** argv) {
  Options options;
  int kept = 1;
  const auto wrong = [](const std::string& what) {
    return std::invalid_argument("bench_kernels: " + what);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--cpu") {
      options.cuda = false;
    } else if (option == "--cuda") {
      options.cpu = false;
    } else if (option == "--list") {
      options.list = true;
    } else if (option == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (option == "--group" && i + 1 < argc) {
      options.group = argv[++i];
    } else if (option == "--filter" && i + 1 < argc) {
      try {
        options.filter = std::regex(argv[++i]);
      } catch (const std::regex_error&) {
        throw wrong("--filter must be a regular expression, not \"" + std::string(argv[i]) + "\"");
      }
    } else if (option == "--help" || option == "-h") {
      std::cout << usage();
      std::exit(0);
    } else if (option.rfind("--benchmark_", 0) == 0) {
      argv[kept++] = argv[i];
    } else {
      throw wrong("unknown argument \"" + option + "\"\n" + usage());
    }
  }
  if (!options.cpu && !options.cuda)
    throw wrong("--cpu and --cuda exclude each other");
  if (!options.group.empty() &&
      std::none_of(std::begin(groups), std::end(groups),
                   [&](const Group& group) { return options.group == group.name; }))
    throw wrong("there is no group \"" + options.group + "\"; use " + group_names());
  argc = kept;
  return options;
}

/// The results so far. The file that --json names always has all of them.
struct Results {
  std::string json, card;
  std::vector<Row> cuda;
  std::vector<CpuRow> cpu;

  void write() const {
    if (!json.empty())
      replace_file(json, [&](std::ostream& file) { write_json(file, card, cuda, cpu); });
  }
};

void measure_cuda(const CudaRows& rows, Results& results) {
  const std::string& unusable = test::cuda_unusable();
  if (!unusable.empty()) {
    std::cout << "CUDA half not run: " << unusable << "\n" << std::endl;
    return;
  }
  if (rows.names().empty())
    return;
  results.card = test::cuda_card();
  std::cout << results.card << "\nGPU time per frame, without the host's; the required times "
            << "apply to an NVIDIA H200\n"
            << std::endl;
  rows.measure([&](const Row& row) {
    // It can take minutes until the table is printed.
    std::cerr << row.name() << ": " << row.microseconds << " µs, copy " << row.copy_microseconds
              << " µs" << std::endl;
    results.cuda.push_back(row);
    results.write();
  });
  print_table(std::cout, results.cuda);
  std::cout << std::endl;
}

void measure_cpu_half(std::vector<char*> arguments, Results& results) {
  // A time that the command line can change, unlike one that is set for each benchmark.
  std::string min_time = "--benchmark_min_time=0.2";
  arguments.insert(arguments.begin() + 1, min_time.data());
  int argc = static_cast<int>(arguments.size());
  benchmark::Initialize(&argc, arguments.data());
  KeepingReporter reporter([&](const CpuRow& row) {
    results.cpu.push_back(row);
    results.write();
  });
  benchmark::RunSpecifiedBenchmarks(&reporter);
}

void run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  CudaRows cuda_rows(options.filter);
  CpuRows cpu_rows(options.filter);
  if (options.cuda)
    add_cuda_rows(cuda_rows, options.group);
  if (options.cpu)
    for (const Group& group : groups)
      if (options.group.empty() || options.group == group.name)
        group.add(cpu_rows);
  const bool usable = options.cuda && test::cuda_unusable().empty();
  if (cuda_rows.names().empty() && cpu_rows.names().empty() && (usable || options.cpu))
    throw std::invalid_argument("bench_kernels: no row has such a name; --list prints them");
  if (options.list) {
    for (const std::vector<std::string>& names : {cuda_rows.names(), cpu_rows.names()})
      for (const std::string& name : names)
        std::cout << name << "\n";
    return;
  }

  Results results;
  results.json = options.json;
  results.write();
  if (options.cuda)
    measure_cuda(cuda_rows, results);
  if (!cpu_rows.names().empty())
    measure_cpu_half({argv, argv + argc}, results);
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
