// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The sums of a block's columns from left to right, which its threads share.

#include "cuda/core/warp.cuh"

namespace cudavision::localstatistics {
namespace {

constexpr int max_window_warps = 16;  // of a block

template <class Sum>
__device__ Sum whole_warp(Sum sum) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Sum) == 4)
    return __reduce_add_sync(~0u, sum);
#endif
  return sum_of_warp(sum);
}

/// The same as inclusive_scan(), which needs a comparison for each step.
template <class Sum>
__device__ Sum scan_of_warp(Sum sum) {
  if constexpr (sizeof(Sum) == 8) {
    return inclusive_scan(sum);
  } else {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
      asm volatile(
          "{\n\t.reg .pred inside;\n\t.reg .b32 below;\n\t"
          "shfl.sync.up.b32 below|inside, %0, %1, 0, -1;\n\t"
          "@inside add.u32 %0, %0, below;\n\t}"
          : "+r"(sum)
          : "r"(distance));
    return sum;
  }
}

/// The prefix sums of a block's columns in shared memory, those of even rows and of odd rows apart.
/// Columns whose numbers have the same rest of 4 are side by side, so that neither threads that
/// write the sums of neighbouring columns nor those that read every fourth one meet in a bank.
template <class Sum, int kPixels>
class PrefixSums {
 public:
  __host__ __device__ static constexpr int plane(int threads) { return threads * kPixels / 4 + 4; }
  __host__ __device__ static constexpr std::size_t bytes(int threads) {
    return sizeof(Sum) * 8 * static_cast<std::size_t>(plane(threads));
  }

  __device__ explicit PrefixSums(void* memory)
      : entries_(static_cast<Sum*>(memory)), plane_(plane(static_cast<int>(blockDim.x))) {
    if (threadIdx.x < 2)
      entries_[threadIdx.x * 4 * plane_ + place(-1)] = 0;
  }

  /// Returns the place of the sum of all columns up to this one, which may be −1.
  __device__ int place(int column) const { return (column & 3) * plane_ + (column >> 2) + 4; }

  __device__ std::uint32_t address(int column) const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(entries_ + place(column)));
  }
  __device__ int row_bytes() const { return 4 * plane_ * static_cast<int>(sizeof(Sum)); }

  /// Writes the sums up to each of the thread's columns.
  __device__ void store(int parity, const Sum (&sums)[kPixels]) {
    constexpr int kEntries = kPixels / 4;
    struct alignas(sizeof(Sum) * kEntries < 16 ? sizeof(Sum) * kEntries : 16) Entries {
      Sum sums[kEntries];
    };
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Entries entries;
#pragma unroll
      for (int i = 0; i < kEntries; ++i)
        entries.sums[i] = sums[4 * i + j];
      *reinterpret_cast<Entries*>(entries_ + (4 * parity + j) * plane_ + 4 +
                                  kEntries * static_cast<int>(threadIdx.x)) = entries;
    }
  }

  __device__ Sum at(int parity, int place) const {
    return (entries_ + 4 * parity * plane_)[place];
  }

 private:
  Sum* entries_;
  int plane_;
};

/// The places of the prefix sums that a thread reads for four neighbouring pixels, as addresses in
/// shared memory that move from row to row.
template <class Sum>
class PrefixReader {
 public:
  template <int kPixels>
  __device__ PrefixReader(const PrefixSums<Sum, kPixels>& prefix, int left, int right)
      : step_(prefix.row_bytes()) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      left_[j] = prefix.address(left + j);
      right_[j] = prefix.address(right + j);
    }
  }

  /// Returns the sum of the window of pixel j of group k.
  __device__ Sum window(int j, int k) const {
    const int bytes = 32 * k * static_cast<int>(sizeof(Sum));
    return load(right_[j], bytes) - load(left_[j], bytes);
  }

  __device__ void next_row() {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      left_[j] += step_;
      right_[j] += step_;
    }
    step_ = -step_;
  }

 private:
  static __device__ Sum load(std::uint32_t address, int bytes) {
    Sum sum;
    if constexpr (sizeof(Sum) == 4)
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(sum) : "r"(address + bytes));
    else
      asm volatile("ld.shared.u64 %0, [%1];" : "=l"(sum) : "r"(address + bytes));
    return sum;
  }

  std::uint32_t left_[4], right_[4];
  int step_;
};

/// The sums of the warps' columns in shared memory, of even and of odd rows.
template <class Sum>
struct WarpTotals {
  Sum columns[2][max_window_warps];
  Sum gaps[2][max_window_warps];  // shares of the columns in the gap

  __device__ void publish(int parity, Sum inclusive, Sum gap, bool has_gap) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (has_gap)
      gap = whole_warp(gap);
    if (threadIdx.x % 32 == 31) {
      columns[parity][warp] = inclusive;
      gaps[parity][warp] = gap;
    }
  }

  /// Returns the sum of all columns to the left of the warp.
  __device__ Sum before(int parity, bool has_gap) const {
    const int warps = static_cast<int>(blockDim.x) / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    Sum sum = 0;
    if (lane < warp)
      sum = columns[parity][lane];
    if (has_gap && lane < warps && warp >= warps / 2)
      sum += gaps[parity][lane];
    return whole_warp(sum);
  }
};

}  // namespace
}  // namespace cudavision::localstatistics
