// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace cudavision::bench {

/// One operation on one frame, timed on the GPU.
struct Row {
  std::string operation, format;
  int width = 0, height = 0;
  std::string content;
  double microseconds = 0;       ///< GPU time of the whole operation
  double copy_microseconds = 0;  ///< GPU time of a plain copy of the same bytes
  double required = 0;           ///< the time that the project requires; 0 if there is none
  double host_microseconds = 0;  ///< time of the thread that enqueues it; 0 if not measured

  std::string name() const {
    return operation + "/" + format + "/" + std::to_string(width) + "x" + std::to_string(height) +
           "/" + content;
  }
};

/// One operation on one frame, timed on the CPU.
struct CpuRow {
  std::string name;
  double microseconds = 0;
};

/// Elements in a pipeline, or a copy over the bus to compare them with.
struct PipelineRow {
  std::string pipeline, format;
  int width = 0, height = 0;
  std::string memory, backend;
  double frames_per_second = 0;
  double host_microseconds = 0;  ///< processor time per frame; 0 if not measured
  int elements = 1;
  /// The time of the frame's transfers in the direction that takes longer; 0 without transfers.
  double bus_microseconds = 0;

  int streams = 1;              ///< pipelines side by side; frames_per_second is their sum
  double start_seconds = 0;     ///< until each has put out a frame; 0 if not measured
  double device_megabytes = 0;  ///< of GPU memory for each pipeline; 0 if not measured

  /// The requests of one frame to the GPU.
  struct Calls {
    double uploads, downloads, device_copies, launches, allocations;
  };
  std::optional<Calls> calls;  ///< if they were counted
};

void print_table(std::ostream& stream, const std::vector<Row>& rows);
void print_table(std::ostream& stream, const std::vector<PipelineRow>& rows);

/// Writes both halves as JSON. `card` is the GPU that measured the rows; it is empty if there are
/// none.
void write_json(std::ostream& stream, const std::string& card, const std::vector<Row>& rows,
                const std::vector<CpuRow>& cpu_rows);
void write_json(std::ostream& stream, const std::string& card,
                const std::vector<PipelineRow>& rows);

/// Writes a file at once: whatever stops the program, the file holds what it held before or all
/// that `write` gives. Devices and pipes are written to directly. Throws std::runtime_error if that
/// fails.
void replace_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace cudavision::bench
