// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The sums of a block's columns from left to right, which its threads share.

#include "cuda/core/warp_scan.cuh"

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

/// The prefix sums of a block's columns in shared memory, those of even rows and of odd rows apart.
/// In tiles of 128 columns, those whose numbers have the same rest of 4 are side by side, so that
/// neither threads that write the sums of neighbouring columns nor those that read every fourth one
/// meet in a bank. A tile with the sum of no columns comes first. A square's place follows from
/// that of the sum, because squares that are twice as long as sums are kept as their halves.
template <class Sum, class Square, bool kSquared, int kPixels>
class PrefixSums {
 public:
  __host__ __device__ static constexpr int row_bytes(int threads) {
    return (threads * kPixels / tile_columns + 1) * tile_bytes;
  }
  __host__ __device__ static constexpr int bytes(int threads) { return 2 * row_bytes(threads); }

  __device__ explicit PrefixSums(void* memory)
      : memory_(static_cast<std::uint8_t*>(memory)),
        row_bytes_(row_bytes(static_cast<int>(blockDim.x))) {
    if (threadIdx.x < 2) {
      at<Sum>(static_cast<int>(threadIdx.x), sum_place(-1)) = 0;
      if constexpr (kSquared) {
        at<Sum>(static_cast<int>(threadIdx.x), sum_place(-1) + sum_bytes) = 0;
        if constexpr (kHalves)
          at<Sum>(static_cast<int>(threadIdx.x), sum_place(-1) + 2 * sum_bytes) = 0;
      }
    }
  }

  /// Writes the sums up to each of the thread's columns.
  __device__ void store(int parity, const Sum (&sums)[kPixels]) {
    store_at(parity, sum_place(static_cast<int>(threadIdx.x) * kPixels), sums);
  }
  __device__ void store_squares(int parity, const Square (&squares)[kPixels]) {
    const int to = sum_place(static_cast<int>(threadIdx.x) * kPixels) + sum_bytes;
    if constexpr (kHalves) {
      Sum halves[2][kPixels];
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        halves[0][i] = static_cast<Sum>(squares[i]);
        halves[1][i] = static_cast<Sum>(squares[i] >> 32);
      }
      store_at(parity, to, halves[0]);
      store_at(parity, to + sum_bytes, halves[1]);
    } else {
      store_at(parity, to, squares);
    }
  }

  /// Returns the sum of the columns after `left`, which may be −1, up to `right`.
  __device__ Sum sum(int parity, int left, int right) const {
    return at<Sum>(parity, sum_place(right)) - at<Sum>(parity, sum_place(left));
  }
  __device__ Square squares(int parity, int left, int right) const {
    return square_at(parity, sum_place(right)) - square_at(parity, sum_place(left));
  }

 private:
  template <class, class, bool, int>
  friend class PrefixReader;

  static constexpr bool kHalves = kSquared && sizeof(Square) > sizeof(Sum);
  static_assert(!kSquared || kHalves || sizeof(Square) == sizeof(Sum));
  static constexpr int tile_columns = 1 << 7;
  static constexpr int sum_bytes = tile_columns * static_cast<int>(sizeof(Sum));
  static constexpr int tile_bytes =
      sum_bytes + (kSquared ? tile_columns * static_cast<int>(sizeof(Square)) : 0);

  static __device__ int place(int column) {
    return (column & 3) * (tile_columns / 4) + (column >> 2 & (tile_columns / 4 - 1));
  }
  static __device__ int sum_place(int column) {
    return ((column >> 7) + 1) * tile_bytes + place(column) * static_cast<int>(sizeof(Sum));
  }
  template <class Entry>
  __device__ Entry& at(int parity, int place) const {
    return *reinterpret_cast<Entry*>(memory_ + parity * row_bytes_ + place);
  }

  __device__ Square square_at(int parity, int place) const {
    if constexpr (kHalves)
      return at<Sum>(parity, place + sum_bytes) |
             static_cast<Square>(at<Sum>(parity, place + 2 * sum_bytes)) << 32;
    else
      return at<Square>(parity, place + sum_bytes);
  }

  template <class Entry>
  __device__ void store_at(int parity, int place, const Entry (&from)[kPixels]) {
    constexpr int kEntries = kPixels / 4;
    struct alignas(sizeof(Entry) * kEntries < 16 ? sizeof(Entry) * kEntries : 16) Entries {
      Entry entries[kEntries];
    };
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Entries entries;
#pragma unroll
      for (int i = 0; i < kEntries; ++i)
        entries.entries[i] = from[4 * i + j];
      at<Entries>(parity, place + j * (tile_columns / 4) * static_cast<int>(sizeof(Entry))) =
          entries;
    }
  }

  std::uint8_t* memory_;
  int row_bytes_;
};

/// The places of the prefix sums that a thread reads for four neighbouring pixels, as addresses in
/// shared memory that move from row to row.
template <class Sum, class Square, bool kSquared, int kPixels>
class PrefixReader {
  using Sums = PrefixSums<Sum, Square, kSquared, kPixels>;

 public:
  __device__ PrefixReader(const Sums& sums, int left, int right) : step_(sums.row_bytes_) {
    const auto memory = static_cast<std::uint32_t>(__cvta_generic_to_shared(sums.memory_));
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      left_[j] = memory + Sums::sum_place(left + j);
      right_[j] = memory + Sums::sum_place(right + j);
    }
  }

  /// Returns the sum of the window of pixel j of group k, of which each is 256 pixels after the one
  /// before.
  __device__ Sum sum(int j, int k) const {
    const int bytes = k * kGroupBytes;
    return load<Sum>(right_[j], bytes) - load<Sum>(left_[j], bytes);
  }
  __device__ Square squares(int j, int k) const {
    return square(right_[j], k * kGroupBytes) - square(left_[j], k * kGroupBytes);
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
  static constexpr int kGroupBytes = 256 / Sums::tile_columns * Sums::tile_bytes;

  static __device__ Square square(std::uint32_t address, int bytes) {
    if constexpr (Sums::kHalves)
      return load<Sum>(address, bytes + Sums::sum_bytes) |
             static_cast<Square>(load<Sum>(address, bytes + 2 * Sums::sum_bytes)) << 32;
    else
      return load<Square>(address, bytes + Sums::sum_bytes);
  }

  template <class Entry>
  static __device__ Entry load(std::uint32_t address, int bytes) {
    Entry entry;
    if constexpr (sizeof(Entry) == 4)
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(entry) : "r"(address + bytes));
    else
      asm volatile("ld.shared.u64 %0, [%1];" : "=l"(entry) : "r"(address + bytes));
    return entry;
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
