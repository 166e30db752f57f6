// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the elements in pipelines: frame rates, processor time, and requests to the GPU.
#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/gpu_probe.h"
#include "tests/bench/pipeline_run.h"
#include "tests/bench/pipeline_subjects.h"
#include "tests/bench/program.h"

namespace cudavision::bench {
namespace {

std::string usage() {
  return
      R"(usage: bench_pipelines [--backend auto|cpu|cuda] [--in-flight N] [--seconds S]
                       [--group NAME] [--filter REGEX] [--list] [--json FILE]

  --backend   the backend of the elements (default: auto)
  --in-flight frames-in-flight of rows whose names do not set it (default: 0, automatic)
  --seconds   the time for each row of the table in seconds (default: 1)
  --group     measure only these rows: )" +
      joined(pipeline_groups()) + R"(
  --filter    measure only rows whose names contain a match of REGEX
  --list      print the names of the rows instead of measuring them
  --json      also write the results to FILE, after each row

The columns: µs of wall-clock time per frame; host µs of processor time per frame,
summed over all threads, in total and for each element; bus µs of a copy of the frame in
the slower direction, and the copy's share of the time per frame; per frame the uploads,
downloads, copies on the GPU, launches of kernels or graphs, and allocations of device
memory. The last five are counted only if CUDA_INJECTION64_PATH is the path of
libcounttransfers.so, which tests/gpu/bundle.sh builds. Rows of the group streams show
the frame rate of all pipelines together, the time until every pipeline has output a
frame, and the GPU memory per pipeline.
)";
}

/// Throws std::invalid_argument with the rule and the value if !good.
void expect(bool good, const std::string& rule, const std::string& value) {
  if (!good)
    throw std::invalid_argument(rule + ", not \"" + value + "\"");
}

struct Request {
  const char *key, *title;
  std::uint64_t CudaCounts::*number;
};
constexpr Request requests[] = {{"uploads", "up", &CudaCounts::uploads},
                                {"downloads", "down", &CudaCounts::downloads},
                                {"device_copies", "on GPU", &CudaCounts::device_copies},
                                {"launches", "launches", &CudaCounts::launches},
                                {"allocations", "allocations", &CudaCounts::allocations}};
using Calls = std::array<double, std::size(requests)>;

/// A row of the table: elements in a pipeline, or a bus copy for comparison.
struct PipelineRow {
  PipelineSubject subject;
  std::string backend;
  double frames_per_second = 0;  ///< sum over all pipelines
  double host_microseconds = 0;  ///< processor time per frame; 0 if not measured
  int elements = 1;
  double bus_microseconds = 0;
  double start_seconds = 0;     ///< time until every pipeline has output a frame; 0 if not measured
  double device_megabytes = 0;  ///< GPU memory per pipeline; 0 if not measured
  std::optional<Calls> calls{};  ///< per frame; empty if not counted
};

Values values_of(const PipelineRow& row) {
  const PipelineSubject& subject = row.subject;
  const std::string width = std::to_string(subject.width), height = std::to_string(subject.height);
  const double microseconds = 1e6 / row.frames_per_second;
  const double of_bus = 100 * row.bus_microseconds / microseconds;
  Values values{text("pipeline", subject.title(), "pipeline"),
                text("format", subject.format, "format"),
                {"width", width},
                {"height", height},
                text(nullptr, width + "x" + height, "size"),
                text("memory", subject.memory_name(), "memory"),
                text("backend", row.backend, "backend"),
                number("frames_per_second", row.frames_per_second, "frames/s"),
                number(nullptr, microseconds, "µs"),
                number("host_microseconds", row.host_microseconds, "host µs"),
                {"elements", std::to_string(row.elements)},
                number(nullptr, row.host_microseconds / row.elements, "each"),
                number("bus_microseconds", row.bus_microseconds, "bus µs"),
                text(nullptr, of_bus > 0 ? fixed(of_bus, 0) + " %" : "-", "of bus")};
  for (std::size_t i = 0; i < std::size(requests); ++i)
    if (row.calls)
      values.push_back({requests[i].key, fixed((*row.calls)[i], 3), requests[i].title,
                        fixed((*row.calls)[i], 2)});
    else
      values.push_back(text(nullptr, "-", requests[i].title));
  const bool many = subject.streams > 0;
  if (many)
    values.push_back({"streams", std::to_string(subject.streams)});
  values.push_back(number(many ? "start_seconds" : nullptr, row.start_seconds, "start s", 2));
  values.push_back(number(many ? "device_megabytes" : nullptr, row.device_megabytes, "MB each"));
  return values;
}

/// Measures a bus copy of one frame of GRAY8 or NV12.
PipelineRow measure_bus(const PipelineSubject& subject, const test::CudaTestDevice& device) {
  const auto direction =
      subject.chain == copy_to_gpu ? BusDirection::to_gpu : BusDirection::from_gpu;
  const int pixels = subject.width * subject.height;
  const int bytes = subject.format == "NV12" ? pixels * 3 / 2 : pixels;
  const double time = bus_time(device, direction, static_cast<std::size_t>(bytes));
  return {subject, "cuda", 1e6 / time, 0, 1, time};
}

/// Counts the requests to the GPU per frame, from the difference between a long and a short stream.
std::optional<Calls> count_calls(const PipelineSubject& subject, const Options& options) {
  constexpr int short_stream = 20, long_stream = 60;
  const auto counts_of = [&](int frames) {
    return count_cuda([&] {
      PipelineRun run(subject, options);
      for (int i = 0; i < frames; ++i)
        run.push();
      run.end();
    });
  };
  const auto in_short = counts_of(short_stream), in_long = counts_of(long_stream);
  if (!in_short || !in_long)
    return std::nullopt;
  if (in_short->difference(&CudaCounts::lost) + in_long->difference(&CudaCounts::lost) > 0)
    throw std::runtime_error("CUPTI has lost records, so the counts would be too small");
  Calls calls;
  for (std::size_t i = 0; i < std::size(requests); ++i)
    calls[i] =
        (in_long->difference(requests[i].number) - in_short->difference(requests[i].number)) /
        static_cast<double>(long_stream - short_stream);
  return calls;
}

/// Runs the subject's pipelines concurrently, each with a thread that pushes frames.
PipelineRow measure_streams(const PipelineSubject& subject, const Options& options, bool on_gpu) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const auto free_bytes = [on_gpu] {
    return on_gpu ? static_cast<double>(free_device_memory()) : 0;
  };
  const double free_before = free_bytes();
  const auto start = Clock::now();
  std::vector<std::unique_ptr<PipelineRun>> runs;
  for (int i = 0; i < subject.streams; ++i)
    runs.push_back(std::make_unique<PipelineRun>(subject, options));
  struct Stop {
    std::atomic<bool>& flag;
    ~Stop() { flag = true; }
  };
  std::atomic<bool> stop{false};
  std::vector<std::future<void>> feeders;
  const Stop stop_before_feeders_join{stop};
  for (const auto& run : runs)
    feeders.push_back(
        std::async(std::launch::async, [&run = *run, &stop] { run.push_until(stop); }));
  const auto outputs = [&] {
    std::uint64_t sum = 0;
    for (const auto& run : runs)
      sum += run->outputs();
    return sum;
  };
  const auto all_put_out = [](const auto& run) { return run->outputs() > 0; };
  while (!std::all_of(runs.begin(), runs.end(), all_put_out))
    for (std::future<void>& feeder : feeders)
      if (feeder.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready)
        feeder.get();  // rethrows, because a feeder ends early only if it fails
  PipelineRow row{subject, runs.front()->active_backend()};
  row.start_seconds = Seconds(Clock::now() - start).count();
  // Warm-up: the elements page-lock the memory of frames, which takes some dozens of frames.
  std::this_thread::sleep_for(Seconds(std::max(options.seconds, subject.pace > 0 ? 3. : 1.)));
  const std::uint64_t first = outputs();
  const double processor_start = processor_seconds();
  const auto measured_from = Clock::now();
  std::this_thread::sleep_for(Seconds(3 * options.seconds));
  const auto frames = static_cast<double>(outputs() - first);
  row.frames_per_second = frames / Seconds(Clock::now() - measured_from).count();
  row.host_microseconds = 1e6 * (processor_seconds() - processor_start) / frames;
  row.device_megabytes = (free_before - free_bytes()) / 1e6 / subject.streams;
  row.elements = runs.front()->elements();
  stop = true;
  for (std::future<void>& feeder : feeders)
    feeder.get();
  return row;
}

PipelineRow measure_one(const PipelineSubject& subject, const Options& options,
                        const test::CudaTestDevice* device) {
  PipelineRun run(subject, options);
  constexpr double warm_up_seconds = 0.3;  // the elements allocate their memory
  run.measure(std::min(warm_up_seconds, options.seconds));
  const PipelineRun::Rates rates = run.measure(options.seconds);
  PipelineRow row{subject, run.active_backend(), rates.frames_per_second, rates.host_microseconds,
                  run.elements()};
  if (device && row.backend == "cuda" && subject.memory != FrameMemory::cuda)
    row.bus_microseconds = std::max(bus_time(*device, BusDirection::to_gpu, run.input_bytes()),
                                    bus_time(*device, BusDirection::from_gpu, run.output_bytes()));
  return row;
}

/// After each subject, calls `report` with all rows so far. Returns false if a row failed.
bool measure_all(const std::vector<PipelineSubject>& subjects, const Options& options,
                 const std::string& gpu_unusable,
                 const std::function<void(const std::vector<PipelineRow>&)>& report) {
  const auto is_copy = [](const PipelineSubject& subject) {
    return subject.memory == FrameMemory::page_locked;
  };
  bool good = true;
  std::vector<PipelineRow> rows;
  // Catches errors, so that the remaining rows are still measured.
  const auto attempt = [&](const PipelineSubject& subject, const std::function<void()>& work) {
    try {
      if (subject.group == gpus_group && (!gpu_unusable.empty() || count_gpus() < 2))
        std::cout << subject.name() << ": skipped, because it needs two GPUs" << std::endl;
      else if ((is_copy(subject) || subject.memory == FrameMemory::cuda) && !gpu_unusable.empty())
        std::cout << subject.name() << ": not run: " << gpu_unusable << std::endl;
      else
        work();
    } catch (const MissingElement& missing) {
      std::cout << subject.name() << ": skipped: " << missing.what() << std::endl;
    } catch (const std::exception& error) {
      std::cout << subject.name() << ": failed: " << error.what() << std::endl;
      good = false;
    }
    report(rows);
  };
  const auto device = gpu_unusable.empty() ? std::make_unique<test::CudaTestDevice>() : nullptr;
  for (const PipelineSubject& subject : subjects)
    attempt(subject, [&] {
      rows.push_back(is_copy(subject)      ? measure_bus(subject, *device)
                     : subject.streams > 0 ? measure_streams(subject, options, device != nullptr)
                                           : measure_one(subject, options, device.get()));
      // Show progress, because the table may be minutes away.
      const PipelineRow& row = rows.back();
      std::cerr << subject.name() << ": " << row.frames_per_second << " frames/s, "
                << row.host_microseconds << " µs of the host, " << row.bus_microseconds
                << " µs on the bus" << std::endl;
    });
  // Count requests after all times are measured, because counting slows the pipelines down.
  for (PipelineRow& row : rows)
    if (row.backend == "cuda" && row.subject.streams == 0 && !is_copy(row.subject))
      attempt(row.subject, [&] { row.calls = count_calls(row.subject, options); });
  return good;
}

bool run(int& argc, char** argv) {
  std::string backend = "auto", in_flight = "0", seconds = "1";
  const CommandLine line =
      parse(argc, argv, usage(), pipeline_groups(),
            {{"--backend", &backend}, {"--in-flight", &in_flight}, {"--seconds", &seconds}});
  expect(backend == "auto" || backend == "cpu" || backend == "cuda",
         "--backend must be auto, cpu or cuda", backend);
  guint64 frames = 0;
  expect(g_ascii_string_to_unsigned(in_flight.c_str(), 10, 0, 16, &frames, nullptr),
         "--in-flight must be a whole number from 0 to 16", in_flight);
  const double time = g_ascii_strtod(seconds.c_str(), nullptr);
  expect(time > 0 && time <= 3600, "--seconds must be above 0 and at most 3600", seconds);
  const Options options{backend, static_cast<int>(frames), time};
  gst_init(nullptr, nullptr);
  std::vector<PipelineSubject> subjects = pipeline_subjects();
  std::erase_if(subjects, [&](const PipelineSubject& subject) {
    return !line.wants(subject.group, subject.name());
  });
  if (subjects.empty())
    throw std::invalid_argument("no row matches; --list alone prints the names");
  if (line.list) {
    for (const PipelineSubject& subject : subjects)
      std::cout << subject.name() << "\n";
    return true;
  }
  if (!ObjectPtr<GstPlugin>(gst_plugin_load_by_name("cudavision")))
    throw std::runtime_error(
        "GStreamer finds no plug-in cudavision; run this within `meson devenv`, or "
        "set GST_PLUGIN_PATH");
  const std::string unusable =
      options.backend == "cpu" ? "--backend is cpu" : test::cuda_unusable();
  const std::string card = unusable.empty() ? test::cuda_card() : "";
  std::vector<Values> measured;
  const auto write = [&](const std::vector<PipelineRow>& rows) {
    measured.clear();
    for (const PipelineRow& row : rows)
      measured.push_back(values_of(row));
    write_json(line.json, {text("card", card)}, {{"pipelines", measured}});
  };
  write({});
  const bool good = measure_all(subjects, options, unusable, write);
  std::cout << "\n" << card << (card.empty() ? "" : "\n\n");
  print_table(std::cout, 5, measured);
  return good;
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  return cudavision::bench::run_benchmark("bench_pipelines", cudavision::bench::run, argc, argv);
}
