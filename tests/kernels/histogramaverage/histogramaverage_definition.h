// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/histogramaverage/histogramaverage.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/scenecut/scenecut_definition.h"

/// Definitions of averaging and hysteresis. One vector holds all histograms or tables contiguously.
namespace cudavision::test {

class DefinedAverage {
 public:
  std::vector<std::uint32_t> add(const std::vector<std::uint32_t>& counts, int histograms,
                                 const histogramaverage::Parameters& parameters, int area_change);

  void restart() { states_.clear(); }

  const histogramaverage::Status& status() const { return status_; }

 private:
  bool is_cut(const std::vector<std::uint32_t>& counts, int histograms, int threshold) const;

  std::vector<std::uint64_t> states_;  ///< empty before the first frame and after restart()
  histogramaverage::Status status_{};
};

class DefinedHysteresis {
 public:
  const std::vector<std::uint16_t>& follow(const std::vector<std::uint16_t>& made, int tables,
                                           const histogramaverage::Status& status);

 private:
  std::vector<std::uint16_t> in_use_;
};

class DefinedSmoothing {
 public:
  /// Returns the tables in use. make(begin, end) returns the table of an averaged histogram.
  template <class MakeTable>
  const std::vector<std::uint16_t>& next(const FrameLayout& layout, const ConstFrame& in,
                                         const std::vector<std::uint32_t>& counts, int histograms,
                                         const histogramaverage::Parameters& smoothing, int low,
                                         int high, const MakeTable& make) {
    if (low != low_ || high != high_)
      restart();
    low_ = low;
    high_ = high;
    const std::vector<std::uint32_t> averages =
        average_.add(counts, histograms, smoothing, areas_.change(layout, in));
    const auto bins = static_cast<std::ptrdiff_t>(counts.size()) / histograms;
    std::vector<std::uint16_t> made;
    for (auto first = averages.begin(); first != averages.end(); first += bins)
      for (const int entry : make(first, first + bins))
        made.push_back(static_cast<std::uint16_t>(entry));
    return hysteresis_.follow(made, histograms, status());
  }

  void restart() { average_.restart(); }

  const histogramaverage::Status& status() const { return average_.status(); }

 private:
  DefinedAreas areas_;
  DefinedAverage average_;
  DefinedHysteresis hysteresis_;
  int low_ = -1, high_ = -1;  ///< range of the previous frame
};

std::string difference(const histogramaverage::Status& expected,
                       const histogramaverage::Status& actual);

void add_status(Hash& hash, const histogramaverage::Status& status);

}  // namespace cudavision::test
