// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "tests/gpu/cuda_counts.h"
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {

/// Returns the number of GPUs, or 0 if the driver is not initialised.
int count_gpus();

std::size_t free_device_memory();

enum class BusDirection { to_gpu, from_gpu };

/// Returns the µs of a copy between page-locked memory and the GPU. Stores and reuses results.
double bus_time(const test::CudaTestDevice& device, BusDirection direction, std::size_t bytes);

struct CountsAround {
  CudaCounts before, after;

  double difference(std::uint64_t CudaCounts::*number) const {
    return static_cast<double>(after.*number - before.*number);
  }
};
/// Runs the work and counts this process's requests to the GPU. Counting slows the work down. If
/// libcounttransfers.so is not injected, returns nullopt without running the work.
std::optional<CountsAround> count_cuda(const std::function<void()>& work);

}  // namespace cudavision::bench
