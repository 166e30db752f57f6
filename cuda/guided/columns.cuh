// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the columns of a block of threads, over the rows of a window. Each column has two
// sums. The block adds the columns up from left to right in shared memory; a window's sums are the
// differences of two of these running sums.

#include <cstdint>

#include "cuda/core/warp.cuh"
#include "cuda/guided/arguments.cuh"

namespace cudavision::guided {

/// Two sums. Those of samples are of the samples themselves and of their squares. Those of words
/// are of the whole words, modulo 2^32 or 2^64, and of their upper halves.
template <class Sum>
struct alignas(2 * sizeof(Sum)) SumPair {
  Sum first, second;

  __device__ SumPair& operator+=(const SumPair& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
  __device__ SumPair operator-(const SumPair& other) const {
    return {first - other.first, second - other.second};
  }
};

/// The elements of a row that belong to the columns of a thread.
template <class Element>
struct alignas(sizeof(Element) < 2 ? 8 : 16) Elements {
  static constexpr int word_count = thread_columns * sizeof(Element) / 4;
  std::uint32_t words[word_count];

  __device__ std::uint32_t first(int i) const {
    if constexpr (sizeof(Element) == 1)
      return __byte_perm(words[i / 4], 0, 0x4440 | i % 4);
    else if constexpr (sizeof(Element) == 2)
      return i % 2 == 0 ? words[i / 2] & 0xffff : words[i / 2] >> 16;
    else
      return words[i];
  }
};

/// Loads whole elements of a row, or zeros where there are none.
template <class Element>
__device__ Elements<Element> load_elements(const Element* row, int column, bool exists) {
  Elements<Element> elements{};
  if (exists) {
    if constexpr (sizeof(Element) == 1) {
      const uint2 words = *reinterpret_cast<const uint2*>(row + column);
      elements.words[0] = words.x;
      elements.words[1] = words.y;
    } else {
#pragma unroll
      for (int i = 0; i < Elements<Element>::word_count; i += 4) {
        const uint4 words = *reinterpret_cast<const uint4*>(
            reinterpret_cast<const std::uint32_t*>(row + column) + i);
        elements.words[i] = words.x;
        elements.words[i + 1] = words.y;
        elements.words[i + 2] = words.z;
        elements.words[i + 3] = words.w;
      }
    }
  }
  return elements;
}

/// The sums of a thread's columns.
template <class Element, class Sum>
class ThreadColumns {
 public:
  __device__ void add(const Elements<Element>& gained) { move(gained, Elements<Element>{}); }

  __device__ void move(const Elements<Element>& gained, const Elements<Element>& lost) {
#pragma unroll
    for (int i = 0; i < thread_columns; ++i) {
      const std::uint32_t gain = gained.first(i), loss = lost.first(i);
      first_[i] += static_cast<Sum>(gain) - loss;
      if constexpr (sizeof(Element) == 4) {
        second_[i] += static_cast<Sum>(gain >> 16) - (loss >> 16);
      } else {
        second_[i] += static_cast<Sum>(gain * gain);
        second_[i] -= static_cast<Sum>(loss * loss);
      }
    }
  }

  __device__ SumPair<Sum> total() const {
    SumPair<Sum> sum{first_[0], second_[0]};
#pragma unroll
    for (int i = 1; i < thread_columns; ++i)
      sum += {first_[i], second_[i]};
    return sum;
  }

  /// Sets sums[i] to running and all columns up to number i.
  __device__ void add_up(SumPair<Sum> running, SumPair<Sum> (&sums)[thread_columns]) const {
#pragma unroll
    for (int i = 0; i < thread_columns; ++i) {
      running += {first_[i], second_[i]};
      sums[i] = running;
    }
  }

 private:
  Sum first_[thread_columns] = {}, second_[thread_columns] = {};
};

/// The running sums of a block's columns, of even and of odd rows. Columns whose numbers have the
/// same rest of 4 are side by side, so that neither threads that write those of neighbouring
/// columns nor threads that read every fourth one meet in a bank.
template <class Sum>
class RunningSums {
 public:
  /// Returns the shared memory of a block of so many threads.
  __host__ __device__ static constexpr std::size_t bytes(int threads) {
    return sizeof(SumPair<Sum>) * 2 * 4 * static_cast<std::size_t>(plane(threads));
  }

  __device__ explicit RunningSums(void* memory)
      : entries_(static_cast<SumPair<Sum>*>(memory)), plane_(plane(static_cast<int>(blockDim.x))) {
    if (threadIdx.x < 2)
      entries_[static_cast<int>(threadIdx.x) * 4 * plane_ + place(-1)] = {0, 0};
  }

  /// Returns the place of the sums up to a column, which may be −1.
  __device__ int place(int column) const { return (column & 3) * plane_ + (column >> 2) + 4; }
  /// Returns the places of a row.
  __device__ int row_places() const { return 4 * plane_; }

  __device__ void store(int parity, const SumPair<Sum> (&sums)[thread_columns]) {
    struct alignas(16) Neighbours {
      SumPair<Sum> sums[2];
    };
#pragma unroll
    for (int j = 0; j < 4; ++j)
      *reinterpret_cast<Neighbours*>(entries_ + (4 * parity + j) * plane_ + 4 +
                                     2 * static_cast<int>(threadIdx.x)) = {sums[j], sums[j + 4]};
  }

  __device__ SumPair<Sum> at(int place) const {
    return entries_[place];
  }

 private:
  __host__ __device__ static constexpr int plane(int threads) {
    return threads * thread_columns / 4 + 4;
  }

  SumPair<Sum>* entries_;
  int plane_;
};

constexpr int max_warps = 8;  ///< of a block

/// The sums of the columns of each warp, and of the columns in the gap that its threads add up, of
/// even and of odd rows.
template <class Sum>
struct WarpSums {
  SumPair<Sum> columns[2][max_warps];
  SumPair<Sum> gaps[2][max_warps];

  /// Returns the sum of the columns to the left of the thread's own ones within its warp.
  __device__ SumPair<Sum> publish(int parity, const SumPair<Sum>& total, const SumPair<Sum>& gap,
                                  bool has_gap) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const SumPair<Sum> inclusive{inclusive_scan(total.first), inclusive_scan(total.second)};
    if (has_gap) {
      const SumPair<Sum> sum{sum_of_warp(gap.first), sum_of_warp(gap.second)};
      if (threadIdx.x % 32 == 0)
        gaps[parity][warp] = sum;
    }
    if (threadIdx.x % 32 == 31)
      columns[parity][warp] = inclusive;
    return inclusive - total;
  }

  /// Returns the sum of all columns to the left of the warp.
  __device__ SumPair<Sum> before(int parity, bool has_gap) const {
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
    SumPair<Sum> sum{0, 0};
    for (int w = 0; w < warp; ++w)
      sum += columns[parity][w];
    if (has_gap && 2 * static_cast<int>(threadIdx.x) >= static_cast<int>(blockDim.x))
      for (int w = 0; w < warps; ++w)
        sum += gaps[parity][w];
    return sum;
  }
};

}  // namespace cudavision::guided
