// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>

#include "cuda/core/device.h"

namespace cudavision::bench {

/// The GPU time of work, without what launching it costs: work is captured many times over into a
/// CUDA graph, the graph is replayed, and the median replay is divided by the number of repeats.
class GraphTimer {
 public:
  /// stream: where work enqueues.
  explicit GraphTimer(CudaStream stream) : stream_(stream) {}

  /// Brings the card to the clock that it holds under load.
  void warm_up(const std::function<void()>& work) const;

  double microseconds(const std::function<void()>& work) const;

 private:
  CudaStream stream_;
};

/// What the memory bus allows: each thread copies 16 bytes. Both addresses and bytes are multiples
/// of 16.
void enqueue_plain_copy(CudaStream stream, const void* from, void* to, std::size_t bytes);

}  // namespace cudavision::bench
