// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <iosfwd>
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
};

/// One operation on one frame, timed on the CPU.
struct CpuRow {
  std::string name;
  double microseconds = 0;
};

void print_table(std::ostream& stream, const std::vector<Row>& rows);

/// Writes both halves as JSON. `card` is the GPU that measured the rows; it is empty if there are
/// none.
void write_json(std::ostream& stream, const std::string& card, const std::vector<Row>& rows,
                const std::vector<CpuRow>& cpu_rows);

}  // namespace cudavision::bench
