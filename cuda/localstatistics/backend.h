// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a backend implements of localstatistics.h. Everything arrives validated.

#include <memory>

#include "cuda/integral/backend.h"
#include "cuda/localstatistics/localstatistics.h"

namespace cudavision {

/// Whether an output asks for the sums of squares.
CUDAVISION_HOST_DEVICE constexpr bool needs_squares(LocalStatisticsParameters::Output output) {
  return output == LocalStatisticsParameters::Output::deviation ||
         output == LocalStatisticsParameters::Output::sauvola;
}

class LocalStatistics::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual void run(const SamplePlane& in, View<std::uint8_t> out,
                   const LocalStatisticsParameters& parameters) = 0;
};

/// squares: whether any set of parameters is going to need them.
std::unique_ptr<LocalStatistics::Implementation> make_local_statistics_cpu(Device& device,
                                                                           const PictureSize& size,
                                                                           int output_bits,
                                                                           bool squares);
std::unique_ptr<LocalStatistics::Implementation> make_local_statistics_cuda(Device& device,
                                                                            const PictureSize& size,
                                                                            int output_bits,
                                                                            bool squares);

}  // namespace cudavision
