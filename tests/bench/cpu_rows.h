// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <benchmark/benchmark.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace cudavision::bench {

/// The rows of the CPU half. Registers those that are wanted with Google Benchmark.
class CpuRows {
 public:
  /// Leaves out rows whose names contain no match of `wanted`.
  explicit CpuRows(std::regex wanted) : wanted_(std::move(wanted)) {}

  /// Adds a row, which measure(state, subject...) measures.
  template <class Measure, class... Subject>
  void add(const std::string& name, Measure measure, const Subject&... subject) {
    if (!std::regex_search(name, wanted_))
      return;
    names_.push_back(name);
    // Real time, because other threads than the calling one do most of the work.
    benchmark::RegisterBenchmark(name.c_str(), measure, subject...)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::regex wanted_;
  std::vector<std::string> names_;
};

/// Adds adaptive equalisation.
void add_cpu_clahe(CpuRows& rows);

/// Adds the operations on integral images.
void add_cpu_integral(CpuRows& rows);

/// Adds the mosaic and the solid colour.
void add_cpu_mosaic(CpuRows& rows);

/// Adds the remap.
void add_cpu_remap(CpuRows& rows);

/// Adds the conversions of frames.
void add_cpu_repack(CpuRows& rows);

/// Adds stereo matching.
void add_cpu_stereo(CpuRows& rows);

}  // namespace cudavision::bench
