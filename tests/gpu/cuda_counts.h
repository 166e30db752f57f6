// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

/// Numbers of a process's operations on the GPU while counting was enabled.
struct CudaCounts {
  std::uint64_t uploads, downloads, device_copies;  ///< numbers of copies
  std::uint64_t launches;                           ///< launches of kernels and graphs of kernels
  std::uint64_t kernels;                            ///< executed kernels, including graphs' kernels
  std::uint64_t allocations;                        ///< allocations of device memory
  std::uint64_t lost;                               ///< lost records, which the other counts lack
};

/// The functions that libcounttransfers.so exports to the program that it is injected into.
extern "C" {
/// Starts or stops counting, without resetting the counts.
using CountCuda = void (*)(bool on);
/// Reads the counts, which may lack unfinished work.
using ReadCudaCounts = void (*)(CudaCounts* counts);
}
constexpr char count_cuda_symbol[] = "cudavision_count_cuda";
constexpr char read_cuda_counts_symbol[] = "cudavision_read_cuda_counts";
