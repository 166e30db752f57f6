// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

/// The requests of a process to the GPU while its calls were counted.
struct CudaCounts {
  std::uint64_t uploads, downloads, device_copies;  ///< copies, whatever their size
  std::uint64_t launches;                           ///< of kernels; that of a graph counts once
  std::uint64_t kernels;                            ///< that ran, those of graphs included
  std::uint64_t allocations;                        ///< of memory of the device
  std::uint64_t lost;  ///< records that are missing in the other numbers
};

/// The functions that libcounttransfers.so exports to the program that it is injected into.
extern "C" {
/// Begins or ends the counting. The counts go on from where they were.
using CountCuda = void (*)(bool on);
/// Reads the counts. The work that is to be in them must be done.
using ReadCudaCounts = void (*)(CudaCounts* counts);
}
constexpr char count_cuda_symbol[] = "cudavision_count_cuda";
constexpr char read_cuda_counts_symbol[] = "cudavision_read_cuda_counts";
