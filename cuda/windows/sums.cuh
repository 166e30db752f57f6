// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Column sums in registers, and their running sums from left to right in shared memory. The sum
// over a window is the difference of two running sums.

#include "cuda/core/warp.cuh"
#include "cuda/windows/picture.h"

namespace cudavision::windows {

/// Sums of samples and of their squares, or of words and of their negated upper halves.
template <class Sum, int kSums>
struct alignas(kSums * sizeof(Sum)) Sums {
  Sum of[kSums];

  __device__ Sums& operator+=(const Sums& other) {
#pragma unroll
    for (int i = 0; i < kSums; ++i)
      of[i] += other.of[i];
    return *this;
  }
  __device__ Sums operator-(const Sums& other) const {
    Sums difference = *this;
#pragma unroll
    for (int i = 0; i < kSums; ++i)
      difference.of[i] -= other.of[i];
    return difference;
  }
};

/// Adjacent elements of a row.
template <class Element, int kColumns>
struct Elements {
  static constexpr int word_count = kColumns * sizeof(Element) / 4;
  std::uint32_t words[word_count];

  __device__ std::uint32_t at(int i) const {
    if constexpr (sizeof(Element) == 1)
      return __byte_perm(words[i / 4], 0, 0x4440 | i % 4);
    else if constexpr (sizeof(Element) == 2)
      return __byte_perm(words[i / 2], 0, i % 2 == 0 ? 0x4410 : 0x4432);
    else
      return words[i];
  }

  /// Loads the elements at `row` if `exists`, otherwise returns zeros. half_pitch: see Picture.
  __device__ static Elements load(const Element* row, int half_pitch, bool exists) {
    constexpr int kWords = word_count < 4 ? word_count : 4;  // per load
    struct alignas(4 * kWords) Vector {
      std::uint32_t words[kWords];
    };
    Elements elements{};
    if (exists) {
#pragma unroll
      for (int i = 0; i < word_count; i += kWords) {
        const int index = sizeof(Element) < 4 ? i * 4 / static_cast<int>(sizeof(Element))
                          : i == 0            ? 0
                                              : half_pitch;
        const Vector vector = *reinterpret_cast<const Vector*>(row + index);
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          elements.words[i + k] = vector.words[k];
      }
    }
    return elements;
  }
};

/// Prefetches elements of four bytes into the L2 cache. Smaller elements are usually cached.
template <class Element>
__device__ void prefetch_elements(const Element* row, int half_pitch, bool exists) {
  if constexpr (sizeof(Element) == 4) {
    if (exists) {
      asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(row)));
      asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(row + half_pitch)));
    }
  }
}

/// Adds gain² − loss² to the sum.
__device__ inline void add_squares(std::uint32_t& sum, std::uint32_t gain, std::uint32_t loss) {
  // mad can negate the addend, but not the product. Negating the sum twice therefore costs nothing.
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

/// Adds the upper half of loss and subtracts the upper half of gain.
__device__ inline void subtract_halves(std::uint32_t& sum, std::uint32_t gain, std::uint32_t loss) {
  // Dot products of the halves with (0, 1) and with (0, −1).
  asm("dp2a.lo.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(loss), "r"(0x0100));
  asm("dp2a.lo.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(gain), "r"(0xff00));
}
__device__ inline void subtract_halves(std::uint64_t& sum, std::uint32_t gain, std::uint32_t loss) {
  sum += std::uint64_t{loss >> 16} - (gain >> 16);
}

/// Adds one element to the sums of a column and subtracts another element.
template <class Element, class Sum, int kSums>
__device__ void add_change(Sums<Sum, kSums>& sums, std::uint32_t gain, std::uint32_t loss) {
  sums.of[0] += static_cast<Sum>(gain) - loss;
  if constexpr (kSums == 2 && sizeof(Element) == 4)
    subtract_halves(sums.of[1], gain, loss);
  else if constexpr (kSums == 2)
    add_squares(sums.of[1], gain, loss);
}

template <class AnySums, int kColumns>
struct alignas(kColumns * sizeof(AnySums) % 16 == 0 ? 16 : sizeof(AnySums)) ColumnSums {
  AnySums sums[kColumns];

  __device__ const AnySums& last() const { return sums[kColumns - 1]; }

  /// Replaces the column sums by running sums.
  __device__ void add_up() {
#pragma unroll
    for (int i = 1; i < kColumns; ++i)
      sums[i] += sums[i - 1];
  }

  __device__ ColumnSums& operator+=(const ColumnSums& other) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      sums[i] += other.sums[i];
    return *this;
  }
};

/// Adds to each column the running sum of gained − lost up to this column. Returns the total.
template <class Element, class Sum, int kSums, int kColumns>
__device__ Sums<Sum, kSums> add_changes(ColumnSums<Sums<Sum, kSums>, kColumns>& columns,
                                        const Elements<Element, kColumns>& gained,
                                        const Elements<Element, kColumns>& lost) {
  Sums<Sum, kSums> total{};
  if constexpr (sizeof(Element) == 1 && sizeof(columns.sums[0]) == 4) {
    // The four sums of a word are independent of each other: dot products with 1 and −1.
#pragma unroll
    for (int w = 0; w < kColumns / 4; ++w) {
      const std::uint32_t before = total.of[0];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t first_bytes = ~0u >> (24 - 8 * i);
        total.of[0] = __dp4a(gained.words[w], first_bytes & 0x01010101u, before);
        asm("dp4a.u32.s32 %0, %1, %2, %0;"
            : "+r"(total.of[0])
            : "r"(lost.words[w]), "r"(first_bytes));
        columns.sums[4 * w + i] += total;
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      add_change<Element>(total, gained.at(i), lost.at(i));
      columns.sums[i] += total;
    }
  }
  return total;
}

/// Adds kRows rows to the column sums. For bytes, kRows is 4, and all rows are added at once.
template <int kRows, class Element, int kColumns, class Sum, int kSums>
__device__ void add_rows(ColumnSums<Sums<Sum, kSums>, kColumns>& columns,
                         const Elements<Element, kColumns>* rows) {
  if constexpr (sizeof(Element) == 1) {
    static_assert(kRows == 4);
#pragma unroll
    for (int w = 0; w < Elements<Element, kColumns>::word_count; ++w) {
      const std::uint32_t even[] = {__byte_perm(rows[0].words[w], rows[1].words[w], 0x5140),
                                    __byte_perm(rows[2].words[w], rows[3].words[w], 0x5140)};
      const std::uint32_t odd[] = {__byte_perm(rows[0].words[w], rows[1].words[w], 0x7362),
                                   __byte_perm(rows[2].words[w], rows[3].words[w], 0x7362)};
      const std::uint32_t quads[] = {
          __byte_perm(even[0], even[1], 0x5410), __byte_perm(even[0], even[1], 0x7632),
          __byte_perm(odd[0], odd[1], 0x5410), __byte_perm(odd[0], odd[1], 0x7632)};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        columns.sums[4 * w + i].of[0] += __dp4a(quads[i], 0x01010101u, 0u);
        if constexpr (kSums == 2)
          columns.sums[4 * w + i].of[1] += __dp4a(quads[i], quads[i], 0u);
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int c = 0; c < kColumns; ++c)
        add_change<Element>(columns.sums[c], rows[i].at(c), 0);
  }
}

/// Adds rows begin to end − 1 of `columns`, with the loads of kBatch rows in flight.
template <int kBatch, class Element, class AnySums, int kColumns>
__device__ void add_rows(ColumnSums<AnySums, kColumns>& sums, const Picture& picture,
                         const Element* columns, bool inside, int begin, int end) {
  constexpr int kRows = sizeof(Element) == 1 ? 4 : kBatch;
#pragma unroll 1
  for (int y = begin; y < end; y += kBatch) {
    Elements<Element, kColumns> rows[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      rows[i] = Elements<Element, kColumns>::load(row_of(picture, columns, y + i),
                                                  picture.half_pitch, inside && y + i < end);
#pragma unroll
    for (int i = 0; i < kBatch; i += kRows)
      if (y + i < end)
        add_rows<kRows>(sums, rows + i);
  }
}

/// Returns the sums over all lanes to the left.
template <class Sum, int kSums>
__device__ Sums<Sum, kSums> sums_to_the_left(const Sums<Sum, kSums>& own) {
  Sums<Sum, kSums> sums = own;
  if constexpr (kSums == 2)
    scan_two_of_warp(sums.of[0], sums.of[1]);
  else
    sums.of[0] = scan_of_warp(sums.of[0]);
  return sums - own;
}

/// Running sums of a group's columns: of one row for a warp, of an even and an odd row for a block.
/// Columns with equal indices modulo 4 are adjacent. This avoids bank conflicts both when threads
/// write adjacent columns and when threads read every fourth column.
template <class AnySums, int kColumns, bool kBlock>
class RunningSums {
 public:
  /// Lanes that write no result may read beyond a warp's row, by about half its columns.
  __host__ __device__ static constexpr int bytes(int threads) {
    return kBlock ? 2 * row_bytes(threads) : row_bytes(threads) + row_bytes(threads) / 4;
  }

  __device__ RunningSums(void* memory, int thread, int threads)
      : memory_(static_cast<std::uint32_t>(__cvta_generic_to_shared(memory))),
        plane_bytes_(row_bytes(threads) / 4),
        own_(memory_ + entry_bytes * (4 + kColumns / 4 * thread)) {
    if (thread < (kBlock ? 2 : 1))
      *static_cast<AnySums*>(
          __cvta_shared_to_generic(address(-1) + thread * row_bytes(threads))) = {};
  }

  /// Returns the address of the running sum up to and including a column (−1: zero), in even rows.
  __device__ std::uint32_t address(int column) const {
    return memory_ + 4 * entry_bytes + offset(column);
  }
  /// Returns the distance of a column's address from the address of column 0.
  __device__ int offset(int column) const {
    return (column & 3) * plane_bytes_ + (column >> 2) * entry_bytes;
  }
  /// Returns the distance between the addresses in odd and even rows.
  __device__ int odd_rows() const { return 4 * plane_bytes_; }

  /// Stores the running sums of a thread's columns. row is 0 or odd_rows().
  __device__ void store(int row, const ColumnSums<AnySums, kColumns>& own) {
    constexpr int kEntries = kColumns / 4;
    struct alignas(kEntries * entry_bytes < 16 ? kEntries * entry_bytes : 16) Neighbours {
      AnySums sums[kEntries];
    };
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Neighbours neighbours;
#pragma unroll
      for (int i = 0; i < kEntries; ++i)
        neighbours.sums[i] = own.sums[j + 4 * i];
      *static_cast<Neighbours*>(__cvta_shared_to_generic(own_ + row + j * plane_bytes_)) =
          neighbours;
    }
  }

  template <int kDistance>
  static __device__ AnySums load(std::uint32_t from) {
    return *static_cast<const AnySums*>(__cvta_shared_to_generic(from + kDistance * entry_bytes));
  }

 private:
  static constexpr int entry_bytes = sizeof(AnySums);
  __host__ __device__ static constexpr int row_bytes(int threads) {
    return 4 * entry_bytes * (threads * kColumns / 4 + 4);
  }

  std::uint32_t memory_;
  int plane_bytes_;
  std::uint32_t own_;
};

/// Totals of each warp of a block, over its columns and over the gap (kGap), for even and odd rows.
template <class AnySums>
struct WarpSums {
  static constexpr int max_warps = 8;

  AnySums columns[2][max_warps];
  AnySums gaps[2][max_warps];

  __device__ void publish(int parity, const AnySums& inclusive, const AnySums& gap, bool has_gap) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (has_gap) {
      AnySums sum = gap;
      for (auto& one : sum.of)
        one = sum_of_warp(one);
      if (threadIdx.x % 32 == 0)
        gaps[parity][warp] = sum;
    }
    if (threadIdx.x % 32 == 31)
      columns[parity][warp] = inclusive;
  }

  /// Returns the sums over all columns to the left of the warp.
  __device__ AnySums to_the_left(int parity, bool has_gap) const {
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
    AnySums sum{};
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

}  // namespace cudavision::windows
