// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {

enum class BusDirection { to_gpu, from_gpu };

/// Returns the bytes of memory that are free on the GPU whose context is current.
std::size_t free_device_memory();

/// Measures how long copies over the bus take between page-locked memory and the GPU, with nothing
/// else on the bus. Each size is measured once.
class BusTimer {
 public:
  /// Requires that cuda_unusable() returns an empty string.
  BusTimer();

  double microseconds(BusDirection direction, std::size_t bytes);

 private:
  double measure(BusDirection direction, std::size_t bytes);

  test::CudaTestDevice device_;
  std::map<std::pair<BusDirection, std::size_t>, double> measured_;
};

}  // namespace cudavision::bench
