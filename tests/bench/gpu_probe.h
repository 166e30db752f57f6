// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "tests/gpu/cuda_counts.h"
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {

/// Returns how many GPUs the driver finds, once it has been used.
int count_gpus();

std::size_t free_device_memory();

enum class BusDirection { to_gpu, from_gpu };

/// Measures how long a copy over the bus takes between page-locked memory and the GPU, with nothing
/// else on the bus, in µs. Measures each size once.
double bus_time(const test::CudaTestDevice& device, BusDirection direction, std::size_t bytes);

struct CountsAround {
  CudaCounts before, after;

  double difference(std::uint64_t CudaCounts::*number) const {
    return static_cast<double>(after.*number - before.*number);
  }
};
/// Counts what this process asks of the GPU while the work runs, which must be complete when the
/// call returns. Returns nullopt, without running the work, unless libcounttransfers.so of a bundle
/// is injected into the process. Counting costs time, so measure no times meanwhile.
std::optional<CountsAround> count_cuda(const std::function<void()>& work);

}  // namespace cudavision::bench
