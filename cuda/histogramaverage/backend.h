// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interfaces of both backends. Callers have validated all arguments.

#include "cuda/histogramaverage/histogramaverage.h"

namespace cudavision::histogramaverage {

class HistogramAverage::Backend {
 public:
  virtual ~Backend() = default;

  /// begins: restart the average with this frame.
  virtual View<const std::uint32_t> run(View<const std::uint32_t> counts,
                                        const Parameters& parameters, bool begins,
                                        const std::uint32_t* area_change) = 0;
  virtual const Status* status() const noexcept = 0;
};

class TableHysteresis::Backend {
 public:
  virtual ~Backend() = default;

  virtual View<const std::uint16_t> run(View<const std::uint16_t> made, const Status* status) = 0;
};

/// Maximum difference between an entry in use and the new entry.
constexpr int play_of(int bits) {
  return 4 << (bits - 8);
}

std::unique_ptr<HistogramAverage::Backend> make_histogram_average_cpu(Device& device,
                                                                      int max_histograms, int bits);
std::unique_ptr<HistogramAverage::Backend> make_histogram_average_cuda(Device& device,
                                                                       int max_histograms,
                                                                       int bits);
std::unique_ptr<TableHysteresis::Backend> make_table_hysteresis_cpu(Device& device, int max_tables,
                                                                    int bits);
std::unique_ptr<TableHysteresis::Backend> make_table_hysteresis_cuda(Device& device, int max_tables,
                                                                     int bits);

}  // namespace cudavision::histogramaverage
