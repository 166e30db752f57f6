// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures the elements in pipelines: frame rates, the host's processor time, and what each frame
// asks of the GPU; beside them GStreamer's own elements, and copies over the bus.

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/bus_timer.h"
#include "tests/bench/cuda_counter.h"
#include "tests/bench/pipeline_run.h"
#include "tests/bench/pipeline_subjects.h"
#include "tests/bench/rows.h"

namespace cudavision::bench {
namespace {

struct Options {
  ElementSettings settings;
  std::string group, json;
  std::regex filter{""};  ///< without a text, it would match nothing
  double seconds = 1;
  bool list = false;
};

std::string group_names() {
  std::string names = "bus";
  for (const std::string& group : pipeline_groups())
    names += ", " + group;
  return names;
}

std::string usage() {
  return "usage: bench_pipelines [--backend auto|cpu|cuda] [--in-flight N] [--seconds S]\n"
         "                       [--group NAME] [--filter REGEX] [--list] [--json FILE]\n"
         "\n"
         "  --backend   the backend of the elements (default: auto)\n"
         "  --in-flight frames-in-flight in rows whose names do not say it (default: 0, "
         "automatic)\n"
         "  --seconds   the time for each row of the table in seconds (default: 1)\n"
         "  --group     measure only these rows: " +
         group_names() +
         "\n"
         "  --filter    measure only rows whose names contain a match of REGEX\n"
         "  --list      print the names of the rows instead of measuring them\n"
         "  --json      also write the results to FILE, after each row\n"
         "\n"
         "The columns: µs of wall-clock time per frame; host µs of processor time per frame, "
         "summed\n"
         "over all threads, and the same for each element; bus µs that a copy of the frame takes "
         "in\n"
         "the direction that takes longer, and its share in the time per frame; per frame the\n"
         "uploads, downloads, copies on the GPU, launches of kernels or graphs, and allocations "
         "of\n"
         "device memory. They are counted if CUDA_INJECTION64_PATH names libcounttransfers.so,\n"
         "which tests/gpu/bundle.sh builds. Of the group streams, whose frames per second are "
         "those\n"
         "of all pipelines together: the time until each has put out a frame, and the GPU memory "
         "of\n"
         "each.\n";
}

Options parse(int argc, char** argv) {
  Options options;
  const auto wrong = [](const std::string& what) {
    return std::invalid_argument("bench_pipelines: " + what);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      std::cout << usage();
      std::exit(0);
    }
    if (option == "--list") {
      options.list = true;
      continue;
    }
    const bool known = option == "--backend" || option == "--in-flight" || option == "--seconds" ||
                       option == "--group" || option == "--filter" || option == "--json";
    if (!known || i + 1 == argc)
      throw wrong("unknown argument \"" + option + "\"\n" + usage());
    const std::string value = argv[++i];
    if (option == "--json") {
      options.json = value;
    } else if (option == "--group") {
      options.group = value;
    } else if (option == "--filter") {
      try {
        options.filter = std::regex(value);
      } catch (const std::regex_error&) {
        throw wrong("--filter must be a regular expression, not \"" + value + "\"");
      }
    } else if (option == "--backend") {
      if (value != "auto" && value != "cpu" && value != "cuda")
        throw wrong("--backend must be auto, cpu or cuda, not \"" + value + "\"");
      options.settings.backend = value;
    } else if (option == "--in-flight") {
      guint64 number = 0;
      if (!g_ascii_string_to_unsigned(value.c_str(), 10, 0, 16, &number, nullptr))
        throw wrong("--in-flight must be 0 to 16, not \"" + value + "\"");
      options.settings.frames_in_flight = static_cast<int>(number);
    } else {
      options.seconds = g_ascii_strtod(value.c_str(), nullptr);
      if (!(options.seconds > 0 && options.seconds <= 3600))
        throw wrong("--seconds must be above 0, at most 3600, not \"" + value + "\"");
    }
  }
  return options;
}

/// A copy of as many bytes as a frame has.
struct BusSubject {
  BusDirection direction;
  const char* format;
  std::size_t bytes;

  std::string title() const {
    return direction == BusDirection::to_gpu ? "copy to the GPU" : "copy from the GPU";
  }
  std::string name() const { return title() + "/" + format + "/1920x1080/page-locked"; }
};

constexpr std::size_t gray_bytes = 1920 * 1080;
constexpr BusSubject bus_subjects[] = {
    {BusDirection::to_gpu, "GRAY8", gray_bytes},
    {BusDirection::from_gpu, "GRAY8", gray_bytes},
    {BusDirection::to_gpu, "NV12", gray_bytes * 3 / 2},
    {BusDirection::from_gpu, "NV12", gray_bytes * 3 / 2},
};

PipelineRow measure(const BusSubject& subject, BusTimer& bus) {
  PipelineRow row;
  row.pipeline = subject.title();
  row.format = subject.format;
  row.width = 1920;
  row.height = 1080;
  row.memory = "page-locked";
  row.backend = "cuda";
  row.bus_microseconds = bus.microseconds(subject.direction, subject.bytes);
  row.frames_per_second = 1e6 / row.bus_microseconds;
  return row;
}

/// Counts what a frame asks of the GPU: the difference between a short and a long stream, because
/// what happens once in each of them is not the frame's.
std::optional<PipelineRow::Calls> count_calls(const PipelineSubject& subject,
                                              const ElementSettings& settings) {
  constexpr long short_stream = 20, long_stream = 60;
  const auto counts_after = [&](long frames) -> std::optional<CudaCounts> {
    const auto counter = CudaCounter::begin();
    if (!counter)
      return std::nullopt;
    {
      PipelineRun run(subject, settings);
      run.push(frames);
      run.end();
    }
    return counter->end();
  };
  const auto in_short = counts_after(short_stream), in_long = counts_after(long_stream);
  if (!in_short || !in_long)
    return std::nullopt;
  if (in_short->lost + in_long->lost > 0)
    throw std::runtime_error("CUPTI has lost records, so the counts would be too small");
  const auto per_frame = [&](std::uint64_t CudaCounts::*number) {
    const CudaCounts &less = *in_short, &more = *in_long;
    return (static_cast<double>(more.*number) - static_cast<double>(less.*number)) /
           static_cast<double>(long_stream - short_stream);
  };
  return PipelineRow::Calls{per_frame(&CudaCounts::uploads), per_frame(&CudaCounts::downloads),
                            per_frame(&CudaCounts::device_copies), per_frame(&CudaCounts::launches),
                            per_frame(&CudaCounts::allocations)};
}

/// Runs the subject's pipelines side by side, each with a thread that pushes frames.
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
    runs.push_back(std::make_unique<PipelineRun>(subject, options.settings));
  struct Stop {
    std::atomic<bool>& flag;
    ~Stop() { flag = true; }
  };
  std::atomic<bool> stop{false};
  std::vector<std::future<void>> feeders;
  const Stop stop_before_feeders_join{stop};
  for (const auto& run : runs)
    feeders.push_back(std::async(std::launch::async, [&run = *run, &stop, pace = subject.pace] {
      run.push_until(stop, pace);
    }));
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
        feeder.get();  // throws: it ends only by itself if its frames are refused
  PipelineRow row;
  row.start_seconds = Seconds(Clock::now() - start).count();
  // Meanwhile the elements lock the memory of frames, which takes some dozens of them.
  std::this_thread::sleep_for(Seconds(std::max(options.seconds, subject.pace > 0 ? 3. : 1.)));
  const std::uint64_t first = outputs();
  const double processor_start = processor_seconds();
  const auto measured_from = Clock::now();
  std::this_thread::sleep_for(Seconds(3 * options.seconds));
  const auto frames = static_cast<double>(outputs() - first);
  row.frames_per_second = frames / Seconds(Clock::now() - measured_from).count();
  row.host_microseconds = 1e6 * (processor_seconds() - processor_start) / frames;
  row.device_megabytes = (free_before - free_bytes()) / 1e6 / subject.streams;
  row.backend = runs.front()->active_backend();
  row.elements = runs.front()->elements();
  row.streams = subject.streams;
  stop = true;
  for (std::future<void>& feeder : feeders)
    feeder.get();
  return row;
}

PipelineRow measure_one(const PipelineSubject& subject, const Options& options,
                        std::optional<BusTimer>& bus) {
  PipelineRun run(subject, options.settings);
  constexpr double warm_up_seconds = 0.3;  // meanwhile, the elements allocate their memory
  run.measure(std::min(warm_up_seconds, options.seconds));
  const PipelineRun::Rates rates = run.measure(options.seconds);
  PipelineRow row;
  row.backend = run.active_backend();
  row.frames_per_second = rates.frames_per_second;
  row.host_microseconds = rates.host_microseconds;
  row.elements = run.elements();
  if (bus && row.backend == "cuda" && subject.memory != FrameMemory::cuda)
    row.bus_microseconds = std::max(bus->microseconds(BusDirection::to_gpu, run.input_bytes()),
                                    bus->microseconds(BusDirection::from_gpu, run.output_bytes()));
  return row;
}

PipelineRow measure(const PipelineSubject& subject, const Options& options,
                    std::optional<BusTimer>& bus) {
  PipelineRow row = subject.streams > 0 ? measure_streams(subject, options, bus.has_value())
                                        : measure_one(subject, options, bus);
  row.pipeline = subject.title();
  row.format = subject.format;
  row.width = subject.width;
  row.height = subject.height;
  row.memory = name_of(subject.memory);
  return row;
}

/// Returns why rows that need a GPU cannot be measured, or an empty string.
std::string gpu_unusable(const Options& options) {
  if (options.settings.backend == "cpu")
    return "--backend is cpu";
  return test::cuda_unusable();
}

/// The rows to measure, and what has become of them.
class Rows {
 public:
  explicit Rows(const Options& options) : options_(options), gpu_unusable_(gpu_unusable(options)) {
    const auto& groups = pipeline_groups();
    if (!options.group.empty() && options.group != "bus" &&
        std::find(groups.begin(), groups.end(), options.group) == groups.end())
      throw std::invalid_argument("bench_pipelines: there is no group \"" + options.group +
                                  "\"; use " + group_names());
    for (const BusSubject& subject : bus_subjects)
      if (wanted("bus", subject.name()))
        bus_subjects_.push_back(subject);
    for (const PipelineSubject& subject : pipeline_subjects())
      if (wanted(subject.group, subject.name()))
        subjects_.push_back(subject);
    if (bus_subjects_.empty() && subjects_.empty())
      throw std::invalid_argument("bench_pipelines: no row has such a name; --list prints them");
  }

  void list() const {
    for (const BusSubject& subject : bus_subjects_)
      std::cout << subject.name() << "\n";
    for (const PipelineSubject& subject : subjects_)
      std::cout << subject.name() << "\n";
  }

  /// Calls `report` with all rows so far after each measurement.
  std::vector<PipelineRow> measure_all(
      const std::function<void(const std::vector<PipelineRow>&)>& report) {
    std::optional<BusTimer> bus;
    if (gpu_unusable_.empty())
      bus.emplace();
    std::vector<PipelineRow> rows;
    for (const BusSubject& subject : bus_subjects_) {
      attempt(subject.name(), true, [&] { return &rows.emplace_back(measure(subject, *bus)); });
      report(rows);
    }

    std::vector<std::pair<std::size_t, const PipelineSubject*>> to_count;
    for (const PipelineSubject& subject : subjects_) {
      attempt(subject.name(), subject.memory == FrameMemory::cuda, [&] {
        rows.push_back(measure(subject, options_, bus));
        if (rows.back().backend == "cuda" && subject.streams == 0)
          to_count.emplace_back(rows.size() - 1, &subject);
        return &rows.back();
      });
      report(rows);
    }
    // Count only after all times are measured, lest the counting slows anything down.
    for (const auto& [row, subject] : to_count) {
      attempt(subject->name(), true, [&, row = row, subject = subject] {
        rows[row].calls = count_calls(*subject, options_.settings);
        return nullptr;
      });
      report(rows);
    }
    return rows;
  }

  bool failed() const { return failed_; }

 private:
  bool wanted(const std::string& group, const std::string& name) const {
    return (options_.group.empty() || group == options_.group) &&
           std::regex_search(name, options_.filter);
  }

  /// Measures one row, and goes on with the others if it cannot be measured. Prints its rate at
  /// once, because it can take minutes until the table is printed.
  void attempt(const std::string& name, bool needs_gpu,
               const std::function<const PipelineRow*()>& work) {
    if (needs_gpu && !gpu_unusable_.empty()) {
      std::cout << name << ": not run: " << gpu_unusable_ << std::endl;
      return;
    }
    try {
      if (const PipelineRow* row = work())
        std::cerr << name << ": " << row->frames_per_second << " frames/s, "
                  << row->host_microseconds << " µs of the host, " << row->bus_microseconds
                  << " µs on the bus" << std::endl;
    } catch (const MissingElement& missing) {
      std::cout << name << ": left out: " << missing.what() << std::endl;
    } catch (const std::exception& error) {
      std::cout << name << ": failed: " << error.what() << std::endl;
      failed_ = true;
    }
  }

  const Options& options_;
  const std::string gpu_unusable_;
  std::vector<BusSubject> bus_subjects_;
  std::vector<PipelineSubject> subjects_;
  bool failed_ = false;
};

void require_plugin() {
  const ObjectPtr<GstPlugin> ours(gst_plugin_load_by_name("cudavision"));
  if (!ours)
    throw std::runtime_error(
        "bench_pipelines: there is no plug-in cudavision; run this within `meson devenv`, or "
        "set GST_PLUGIN_PATH");
}

/// Returns false if a row failed.
bool run(const Options& options) {
  Rows rows(options);
  if (options.list) {
    rows.list();
    return true;
  }
  require_plugin();
  const std::string card = gpu_unusable(options).empty() ? test::cuda_card() : "";
  const auto keep = [&](const std::vector<PipelineRow>& so_far) {
    if (!options.json.empty())
      replace_file(options.json, [&](std::ostream& file) { write_json(file, card, so_far); });
  };
  keep({});
  const std::vector<PipelineRow> measured = rows.measure_all(keep);
  std::cout << "\n" << card << (card.empty() ? "" : "\n\n");
  print_table(std::cout, measured);
  return !rows.failed();
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  try {
    const auto options = cudavision::bench::parse(argc, argv);
    gst_init(nullptr, nullptr);
    return cudavision::bench::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
