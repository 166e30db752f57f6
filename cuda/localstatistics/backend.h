// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated all arguments and resolved range = 0.

#include <memory>

#include "cuda/localstatistics/localstatistics.h"

namespace cudavision::localstatistics {

CUDAVISION_HOST_DEVICE constexpr bool needs_squares(Parameters::Output output) {
  return output == Parameters::Output::stddev || output == Parameters::Output::sauvola;
}

CUDAVISION_HOST_DEVICE constexpr bool is_threshold(Parameters::Output output) {
  return output == Parameters::Output::bradley || output == Parameters::Output::sauvola;
}

class LocalStatistics::Backend {
 public:
  virtual ~Backend() = default;

  /// Called before the first run() and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  virtual void run(const SamplePlane& in, View<std::uint8_t> out) = 0;
};

/// squares: true if the parameters of a later set() may need the sums of squares.
std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cpu(Device& device,
                                                                    const PlaneSize& size,
                                                                    int output_bits, bool squares);
std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cuda(Device& device,
                                                                     const PlaneSize& size,
                                                                     int output_bits, bool squares);

}  // namespace cudavision::localstatistics
