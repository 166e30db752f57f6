// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>

#include "cuda/core/device.h"

namespace cudavision::bench {

/// Replays a graph of repetitions of the work. Returns the median time per repetition in µs.
double graph_time(CudaStream stream, const std::function<void()>& work);

struct LaunchedTime {
  double microseconds;       ///< GPU time
  double host_microseconds;  ///< time of the calling thread, which enqueues the work
};
/// Measures work that launches graphs itself. The GPU must take longer for this work than the host.
LaunchedTime launched_time(CudaStream stream, const std::function<void()>& work);

/// Copies at memory bandwidth. Addresses and `bytes` must be multiples of 16.
void enqueue_plain_copy(CudaStream stream, const void* from, void* to, std::size_t bytes);

}  // namespace cudavision::bench
