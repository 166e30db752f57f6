// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the columns of a group of threads, over the rows of a window. Each column has two
// sums. The group adds the columns up from left to right and shares the running sums in shared
// memory; a window's sums are the differences of two of them.

#include <cstdint>

#include "cuda/core/warp_scan.cuh"
#include "cuda/guided/arguments.cuh"

namespace cudavision::guided {

/// Two sums. Those of samples are of the samples themselves and of their squares. Those of words
/// are of the whole words and of their negative upper halves, modulo 2^32 or 2^64.
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
struct Elements {
  static constexpr int word_count = thread_columns * sizeof(Element) / 4;
  std::uint32_t words[word_count];

  __device__ std::uint32_t at(int i) const {
    if constexpr (sizeof(Element) == 1)
      return __byte_perm(words[i / 4], 0, 0x4440 | i % 4);
    else if constexpr (sizeof(Element) == 2)
      return __byte_perm(words[i / 2], 0, i % 2 == 0 ? 0x4410 : 0x4432);
    else
      return words[i];
  }
};

/// Loads the elements of a row, or zeros where there are none. half_pitch is that of words.
template <class Element>
__device__ Elements<Element> load_elements(const Element* row, int half_pitch, bool exists) {
  Elements<Element> elements{};
  if (exists) {
    if constexpr (sizeof(Element) == 1) {
      const uint2 words = *reinterpret_cast<const uint2*>(row);
      elements.words[0] = words.x;
      elements.words[1] = words.y;
    } else {
#pragma unroll
      for (int i = 0; i < Elements<Element>::word_count; i += 4) {
        const uint4 words = *reinterpret_cast<const uint4*>(row + (i == 0 ? 0 : half_pitch));
        elements.words[i] = words.x;
        elements.words[i + 1] = words.y;
        elements.words[i + 2] = words.z;
        elements.words[i + 3] = words.w;
      }
    }
  }
  return elements;
}

/// Fetches the words of a row from device memory into the cache that all multiprocessors share.
/// Other elements are there already.
template <class Element>
__device__ void prefetch_elements(const Element* row, int half_pitch, bool exists) {
  if constexpr (sizeof(Element) == 4) {
    if (exists) {
      asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(row)));
      asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(row + half_pitch)));
    }
  }
}

/// Adds gain² − loss².
__device__ inline void add_squares(std::uint32_t& sum, std::uint32_t gain, std::uint32_t loss) {
  // A multiplication subtracts what it adds to, but not its product. So the sum changes its sign
  // twice, which is free.
  asm("{\n\t.reg .u32 negative;\n\tneg.s32 negative, %0;\n\t"
      "mad.lo.u32 negative, %2, %2, negative;\n\tneg.s32 negative, negative;\n\t"
      "mad.lo.u32 %0, %1, %1, negative;\n\t}"
      : "+r"(sum)
      : "r"(gain), "r"(loss));
}
__device__ inline void add_squares(std::uint64_t& sum, std::uint32_t gain, std::uint32_t loss) {
  sum += gain * gain;
  sum -= loss * loss;
}

/// Adds the upper half of loss, and subtracts that of gain.
__device__ inline void subtract_halves(std::uint32_t& sum, std::uint32_t gain, std::uint32_t loss) {
  // The products of the halves with 0 and 1, or with 0 and −1.
  asm("dp2a.lo.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(loss), "r"(0x0100));
  asm("dp2a.lo.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(gain), "r"(0xff00));
}
__device__ inline void subtract_halves(std::uint64_t& sum, std::uint32_t gain, std::uint32_t loss) {
  sum += std::uint64_t{loss >> 16} - (gain >> 16);
}

/// Adds one element to two sums, and subtracts another.
template <class Element, class Sum>
__device__ void add_change(SumPair<Sum>& sums, std::uint32_t gain, std::uint32_t loss) {
  sums.first += static_cast<Sum>(gain) - loss;
  if constexpr (sizeof(Element) == 4)
    subtract_halves(sums.second, gain, loss);
  else
    add_squares(sums.second, gain, loss);
}

/// One pair of sums for each column of a thread.
template <class Sum>
struct ThreadSums {
  SumPair<Sum> sums[thread_columns];

  __device__ const SumPair<Sum>& total() const { return sums[thread_columns - 1]; }

  /// Adds each column to all after it.
  __device__ void add_up() {
#pragma unroll
    for (int i = 1; i < thread_columns; ++i)
      sums[i] += sums[i - 1];
  }

  /// Adds other running sums and what lies to the left of them.
  __device__ void add(const ThreadSums& other, const SumPair<Sum>& left) {
#pragma unroll
    for (int i = 0; i < thread_columns; ++i) {
      sums[i].first += other.sums[i].first + left.first;
      sums[i].second += other.sums[i].second + left.second;
    }
  }
};

/// Adds rows to the sums of columns, those of bytes four at a time.
template <int kRows, class Element, class Sum>
__device__ void add_rows(ThreadSums<Sum>& columns, const Elements<Element>* rows) {
  if constexpr (sizeof(Element) == 1) {
    static_assert(kRows == 4);
#pragma unroll
    for (int w = 0; w < Elements<Element>::word_count; ++w) {
      const std::uint32_t even[] = {__byte_perm(rows[0].words[w], rows[1].words[w], 0x5140),
                                    __byte_perm(rows[2].words[w], rows[3].words[w], 0x5140)};
      const std::uint32_t odd[] = {__byte_perm(rows[0].words[w], rows[1].words[w], 0x7362),
                                   __byte_perm(rows[2].words[w], rows[3].words[w], 0x7362)};
      const std::uint32_t quads[] = {
          __byte_perm(even[0], even[1], 0x5410), __byte_perm(even[0], even[1], 0x7632),
          __byte_perm(odd[0], odd[1], 0x5410), __byte_perm(odd[0], odd[1], 0x7632)};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        columns.sums[4 * w + i].first += __dp4a(quads[i], 0x01010101u, 0u);
        columns.sums[4 * w + i].second += __dp4a(quads[i], quads[i], 0u);
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int c = 0; c < thread_columns; ++c)
        add_change<Element>(columns.sums[c], rows[i].at(c), 0);
  }
}

/// Returns by how much the running sums of a thread's columns change when windows move down.
template <class Sum, class Element>
__device__ ThreadSums<Sum> running_changes(const Elements<Element>& gained,
                                           const Elements<Element>& lost) {
  ThreadSums<Sum> changes;
  SumPair<Sum> running{0, 0};
#pragma unroll
  for (int i = 0; i < thread_columns; ++i) {
    add_change<Element>(running, gained.at(i), lost.at(i));
    changes.sums[i] = running;
  }
  return changes;
}

/// Returns the sums of all lanes to the left of this one.
template <class Sum>
__device__ SumPair<Sum> sums_to_the_left(const SumPair<Sum>& own) {
  SumPair<Sum> sums = own;
  scan_two_of_warp(sums.first, sums.second);
  return sums - own;
}

/// The running sums of the columns of a group of threads: of even and of odd rows for a block, and
/// of one row for a warp. Columns whose numbers have the same rest of 4 are side by side, so that
/// neither threads that write those of neighbouring columns nor threads that read every fourth one
/// meet in a bank. Places are addresses in shared memory.
template <class Sum, bool kBlock>
class RunningSums {
 public:
  /// Returns the shared memory of so many threads. Lanes of warps also read beyond their row, by at
  /// most the width of half a strip, where they need no result.
  __host__ __device__ static constexpr int bytes(int threads) {
    return kBlock ? 2 * row_bytes(threads) : row_bytes(threads) + row_bytes(threads) / 4;
  }

  /// thread is the number of the calling thread among `threads`.
  __device__ RunningSums(void* memory, int thread, int threads)
      : memory_(static_cast<std::uint32_t>(__cvta_generic_to_shared(memory))),
        plane_bytes_(row_bytes(threads) / 4),
        own_(memory_ + pair_bytes * (4 + 2 * thread)) {
    if (thread < (kBlock ? 2 : 1))
      *static_cast<SumPair<Sum>*>(
          __cvta_shared_to_generic(place(-1) + thread * row_bytes(threads))) = {0, 0};
  }

  /// Returns the place of the sums up to a column, which may be −1, in even rows.
  __device__ std::uint32_t place(int column) const {
    return memory_ + (column & 3) * plane_bytes_ + ((column >> 2) + 4) * pair_bytes;
  }
  /// Returns what is added to places in odd rows.
  __device__ int odd_rows() const { return 4 * plane_bytes_; }

  /// row is 0 or odd_rows().
  __device__ void store(int row, const ThreadSums<Sum>& own) {
    struct alignas(16) Neighbours {
      SumPair<Sum> sums[2];
    };
#pragma unroll
    for (int j = 0; j < 4; ++j)
      *static_cast<Neighbours*>(__cvta_shared_to_generic(own_ + row + j * plane_bytes_)) = {
          own.sums[j], own.sums[j + 4]};
  }

  /// Loads a pair that lies kDistance places after one.
  template <int kDistance>
  static __device__ SumPair<Sum> load(std::uint32_t place) {
    SumPair<Sum> pair;
    if constexpr (sizeof(Sum) == 4)
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2 + %3];"
                   : "=r"(pair.first), "=r"(pair.second)
                   : "r"(place), "n"(kDistance * pair_bytes)
                   : "memory");
    else
      asm volatile("ld.shared.v2.u64 {%0, %1}, [%2 + %3];"
                   : "=l"(pair.first), "=l"(pair.second)
                   : "r"(place), "n"(kDistance * pair_bytes)
                   : "memory");
    return pair;
  }

 private:
  static constexpr int pair_bytes = sizeof(SumPair<Sum>);
  __host__ __device__ static constexpr int row_bytes(int threads) {
    return 4 * pair_bytes * (threads * thread_columns / 4 + 4);
  }

  std::uint32_t memory_;
  int plane_bytes_;
  std::uint32_t own_;
};

/// The sums of the columns of each warp of a block, and of the columns in the gap that its threads
/// add up, for even and for odd rows.
template <class Sum>
struct WarpSums {
  static constexpr int max_warps = 8;

  SumPair<Sum> columns[2][max_warps];
  SumPair<Sum> gaps[2][max_warps];

  __device__ void publish(int parity, const SumPair<Sum>& inclusive, const SumPair<Sum>& gap,
                          bool has_gap) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (has_gap) {
      const SumPair<Sum> sum{sum_of_warp(gap.first), sum_of_warp(gap.second)};
      if (threadIdx.x % 32 == 0)
        gaps[parity][warp] = sum;
    }
    if (threadIdx.x % 32 == 31)
      columns[parity][warp] = inclusive;
  }

  /// Returns the sums of all columns to the left of the warp.
  __device__ SumPair<Sum> to_the_left(int parity, bool has_gap) const {
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
    SumPair<Sum> sum{0, 0};
#pragma unroll
    for (int w = 0; w < max_warps - 1; ++w)
      if (w < warp)
        sum += columns[parity][w];
    if (has_gap && 2 * warp >= warps)
      for (int w = 0; w < warps; ++w)
        sum += gaps[parity][w];
    return sum;
  }
};

}  // namespace cudavision::guided
