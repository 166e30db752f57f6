// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>

#include "cuda/core/device.h"

namespace cudavision::bench {

/// Measures the GPU time of work without the cost of launching it. The work is captured many times
/// in one CUDA graph. The result is the median time of the graph's replays, divided by the number
/// of repetitions.
class GraphTimer {
 public:
  /// `stream` must be the stream on which the work is enqueued.
  explicit GraphTimer(CudaStream stream) : stream_(stream) {}

  /// Runs the work until the GPU has reached the clock that it keeps under load.
  void warm_up(const std::function<void()>& work) const;

  double microseconds(const std::function<void()>& work) const;

  struct Launched {
    double microseconds;       ///< of the GPU
    double host_microseconds;  ///< of the calling thread, which enqueues the work
  };
  /// Measures work that launches graphs itself, as it is enqueued again and again. The GPU must
  /// take longer for it than the host.
  Launched launched(const std::function<void()>& work) const;

 private:
  CudaStream stream_;
};

/// Copies bytes at the speed of the memory bus; each thread copies 16 bytes. Both addresses and
/// `bytes` must be multiples of 16.
void enqueue_plain_copy(CudaStream stream, const void* from, void* to, std::size_t bytes);

}  // namespace cudavision::bench
