// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "tests/gpu/cuda_counts.h"

namespace cudavision::bench {

/// Counts what this process asks of the GPU, if libcounttransfers.so of a bundle is injected into
/// it. That costs time, so times are measured while no CudaCounter exists.
class CudaCounter {
 public:
  /// Begins to count. Returns nullopt if there is nothing to count with.
  static std::optional<CudaCounter> begin();
  /// Ends the count and returns the counts since begin(). All work must be done.
  CudaCounts end() const;

 private:
  CudaCounter(CountCuda count, ReadCudaCounts read) : count_(count), read_(read) { read_(&first_); }

  CountCuda count_;
  ReadCudaCounts read_;
  CudaCounts first_;
};

}  // namespace cudavision::bench
