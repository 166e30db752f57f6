// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the operations of cuda/. On the GPU, also measures a plain copy of as many bytes.
#include <benchmark/benchmark.h>

#include <iostream>
#include <stdexcept>

#include "tests/bench/graph_timer.h"
#include "tests/bench/program.h"
#include "tests/bench/subject.h"
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {
namespace {

std::string usage() {
  return "usage: bench_kernels [--cpu | --cuda] [--group NAME] [--filter REGEX] [--list]\n"
         "                     [--json FILE] [--benchmark_...]\n"
         "\n"
         "  --cpu, --cuda     measure only the CPU half or only the CUDA half\n"
         "  --group NAME      measure only these rows: " +
         joined(subject_groups()) +
         "\n"
         "  --filter REGEX    measure only rows whose names contain a match of REGEX\n"
         "  --list            print the names of the rows instead of measuring them\n"
         "  --json FILE       also write the results to FILE, after each row\n"
         "  --benchmark_...   options of Google Benchmark, for the CPU half\n";
}

struct Results {
  std::string json, card = {};
  std::vector<Values> cuda_rows = {}, cpu_rows = {};

  void write() const {
    write_json(json, {text("card", card)}, {{"cuda", cuda_rows}, {"cpu", cpu_rows}});
  }
};

Values values_of(const Row& row) {
  const double missed = row.microseconds - row.required;
  const std::string verdict = missed > 0 ? "missed by " + fixed(missed, 2) : "reached";
  return {text("operation", row.operation, "operation"),
          text("format", row.format, "format"),
          {"width", std::to_string(row.width)},
          {"height", std::to_string(row.height)},
          text(nullptr, row.size(), "size"),
          text("content", row.content, "content"),
          number("microseconds", row.microseconds, "µs", 2),
          number("copy_microseconds", row.copy_microseconds, "copy µs", 2),
          number(nullptr, row.microseconds / row.copy_microseconds, "x copy", 2),
          number("host_microseconds", row.host_microseconds, "host µs"),
          number("required", row.required, "required", 2),
          text(nullptr, row.required > 0 ? verdict : "", "")};
}

/// Returns the GPU time in µs of a plain copy that reads and writes `bytes` in total.
double copy_time(const test::CudaTestDevice& device, std::size_t bytes) {
  const std::size_t copied = bytes / 2 / 16 * 16;
  const Buffer from = device->allocate(copied), to = device->allocate(copied);
  return graph_time(device.stream(),
                    [&] { enqueue_plain_copy(device.stream(), from.data(), to.data(), copied); });
}

/// Throws std::runtime_error if a result differs from the CPU device's.
void measure_on_cuda(const Subjects& subjects, Results& results) {
  results.card = test::cuda_card();
  std::cout << results.card << "\nGPU time per frame, without host time; the required times "
            << "apply to an NVIDIA H200\n"
            << std::endl;
  const test::CudaTestDevice device;
  const auto cpu_device = make_cpu_device();
  for (int i = 0; i < 3; ++i)  // warm-up: the GPU must reach its clock rate under load
    copy_time(device, 1 << 25);
  for (const Subject& subject : subjects) {
    const std::string different =
        subject.difference ? subject.difference(*cpu_device, *device) : "";
    if (!different.empty())
      throw std::runtime_error(subject.row.name() + ": CUDA differs from the CPU: " + different);
    const PreparedWork prepared = subject.prepare(*device);
    for (const Work& work : prepared.work) {
      Row row = subject.row;
      if (!work.part.empty())
        row.operation = work.part;
      if (work.launches_graphs) {
        const LaunchedTime time = launched_time(device.stream(), work.run);
        row.microseconds = time.microseconds;
        row.host_microseconds = time.host_microseconds;
      } else {
        row.microseconds = graph_time(device.stream(), work.run);
      }
      row.copy_microseconds = copy_time(device, work.bytes);
      std::cerr << row.name() << ": " << row.microseconds << " µs, copy " << row.copy_microseconds
                << " µs" << std::endl;
      results.cuda_rows.push_back(values_of(row));
      results.write();
    }
  }
  print_table(std::cout, 4, results.cuda_rows);
  std::cout << std::endl;
}

class KeepingReporter : public benchmark::ConsoleReporter {
 public:
  explicit KeepingReporter(Results& results) : ConsoleReporter(OO_Tabular), results_(results) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        results_.cpu_rows.push_back({text("name", run.run_name.function_name),
                                     number("microseconds", run.GetAdjustedRealTime())});
    results_.write();
  }

 private:
  Results& results_;
};

void measure_one_on_cpu(benchmark::State& state, const Subject& subject) {
  const auto device = make_cpu_device();
  const PreparedWork prepared = subject.prepare(*device);
  for ([[maybe_unused]] auto _ : state)
    prepared.work[0].run();
  const auto in_all = [&](std::size_t count) {
    return static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(count);
  };
  if (subject.items > 0)
    state.SetItemsProcessed(in_all(subject.items));
  else
    state.SetBytesProcessed(in_all(subject.input_bytes));
}

void measure_on_cpu(const Subjects& subjects, std::vector<char*> arguments, Results& results) {
  for (const Subject& subject : subjects)
    // Wall-clock time, because other threads do most of the work.
    benchmark::RegisterBenchmark(subject.name(cpu).c_str(), measure_one_on_cpu, subject)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  // The command line can override this option, but not a benchmark's MinTime().
  std::string min_time = "--benchmark_min_time=0.2";
  arguments.insert(arguments.begin() + 1, min_time.data());
  int argc = static_cast<int>(arguments.size());
  benchmark::Initialize(&argc, arguments.data());
  KeepingReporter reporter(results);
  benchmark::RunSpecifiedBenchmarks(&reporter);
}

bool run(int& argc, char** argv) {
  bool only_cpu = false, only_cuda = false;
  const CommandLine line = parse(argc, argv, usage(), subject_groups(),
                                 {{"--cpu", &only_cpu}, {"--cuda", &only_cuda}}, "--benchmark_");
  if (only_cpu && only_cuda)
    throw std::invalid_argument("--cpu and --cuda exclude each other");
  Subjects cuda_subjects, cpu_subjects;
  if (!only_cpu && built_with_cuda())
    cuda_subjects = wanted_subjects(line, cuda);
  if (!only_cuda)
    cpu_subjects = wanted_subjects(line, cpu);
  const bool measures = !only_cuda || test::cuda_unusable().empty();
  if (cuda_subjects.empty() && cpu_subjects.empty() && measures)
    throw std::invalid_argument("no row matches; --list alone prints the names");
  if (line.list) {
    for (const Subject& subject : cuda_subjects)
      std::cout << subject.name(cuda) << "\n";
    for (const Subject& subject : cpu_subjects)
      std::cout << subject.name(cpu) << "\n";
    return true;
  }

  Results results{line.json};
  results.write();
  if (!only_cpu && !test::cuda_unusable().empty())
    std::cout << "CUDA half not run: " << test::cuda_unusable() << "\n" << std::endl;
  else if (!cuda_subjects.empty())
    if constexpr (built_with_cuda())
      measure_on_cuda(cuda_subjects, results);
  if (!cpu_subjects.empty())
    measure_on_cpu(cpu_subjects, {argv, argv + argc}, results);
  return true;
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  return cudavision::bench::run_benchmark("bench_kernels", cudavision::bench::run, argc, argv);
}
