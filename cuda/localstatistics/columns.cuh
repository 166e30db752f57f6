// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that adds up the columns of the windows with which bands of rows begin. A block reads
// a strip of the picture once, from top to bottom; each thread adds up as many rows as a band has.

#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/localstatistics/rows.cuh"

namespace cudavision::localstatistics {

/// The type of the sums of a column's squares.
template <class Value>
using SquareColumn = std::conditional_t<sizeof(Value) == 1, std::uint32_t, std::uint64_t>;

/// The groups of rows that a block adds up: group g has the rows g·band_rows − radius and after, as
/// many as a band. So the window of band b begins with group b, and it ends `rest` rows after group
/// b + whole has begun.
struct RowGroups {
  int band_rows, radius;
  int first, count;  // of the groups that have rows of the picture
  int whole, rest;

  RowGroups() = default;
  RowGroups(int band_rows, int radius, int height)
      : band_rows(band_rows),
        radius(radius),
        first(radius / band_rows),
        count((height - 1 + radius) / band_rows - first + 1),
        whole((2 * radius + 1) / band_rows),
        rest((2 * radius + 1) % band_rows) {}
};

struct ColumnArguments {
  PictureRows picture;
  RowGroups groups;
  int bands;
  std::uint32_t* sums;
  void* squares;
  int pitch;  // entries in a row of the tables
};

namespace {

constexpr int column_threads = 512;

/// The sums of groups in shared memory, for each column of a strip: those of all rows before each
/// group, and those of each group's first rows. Sums of all rows come last.
template <class Entry, int kColumns>
struct GroupSums {
  Entry* before;
  Entry* rest;

  __host__ __device__ static constexpr std::size_t bytes(int groups) {
    return (sizeof(Entry) * static_cast<std::size_t>(2 * groups + 1) * kColumns + 15) / 16 * 16;
  }
  __device__ GroupSums(void* memory, int groups)
      : before(static_cast<Entry*>(memory)), rest(before + (groups + 1) * kColumns) {}

  /// before holds the sums of each group at first. shares has an entry for each thread.
  __device__ void add_up(Entry* shares, int groups) const {
    const int column = static_cast<int>(threadIdx.x) % kColumns;
    const int segment = static_cast<int>(threadIdx.x) / kColumns;
    const int segments = static_cast<int>(blockDim.x) / kColumns;
    const int length = (groups + segments - 1) / segments;
    const int begin = min(segment * length, groups);
    const int end = min(begin + length, groups);
    Entry sum = 0;
    for (int g = begin; g < end; ++g)
      sum += before[g * kColumns + column];
    shares[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int s = 0; s < segment; ++s)
      sum += shares[s * kColumns + column];
    for (int g = begin; g < end; ++g) {
      Entry& entry = before[g * kColumns + column];
      const Entry of_group = entry;
      entry = sum;
      sum += of_group;
    }
    if (segment == segments - 1)
      before[groups * kColumns + column] = sum;
  }

  /// Writes the sums of each band's window for columns `column` and after.
  __device__ void write(Entry* table, int pitch, const RowGroups& groups, int bands,
                        int first_column, int width) const {
    for (int i = static_cast<int>(threadIdx.x); i < bands * kColumns;
         i += static_cast<int>(blockDim.x)) {
      const int band = i / kColumns, column = i % kColumns;
      if (first_column + column >= width)
        continue;
      const auto sum_before = [&](int group, bool with_rest) -> Entry {
        const int g = group - groups.first;
        if (g < 0)
          return 0;
        if (g >= groups.count)
          return before[groups.count * kColumns + column];
        return before[g * kColumns + column] + (with_rest ? rest[g * kColumns + column] : 0);
      };
      table[static_cast<std::int64_t>(pitch) * band + first_column + column] =
          sum_before(band + groups.whole, true) - sum_before(band, false);
    }
  }
};

/// Each block takes one piece of each row.
template <class Value, bool kSquared>
__global__ void __launch_bounds__(column_threads, 1)
    columns_kernel(const __grid_constant__ ColumnArguments a) {
  constexpr int kColumns = pixels_of_piece<Value>;
  using Square = std::conditional_t<kSquared, SquareColumn<Value>, void>;
  using Sums = ColumnSums<Value, Square>;
  extern __shared__ uint4 memory[];
  __shared__ std::uint64_t shares[column_threads];
  const RowGroups groups = a.groups;
  const GroupSums<std::uint32_t, kColumns> sums(memory, groups.count);
  const GroupSums<SquareColumn<Value>, kColumns> squares(
      reinterpret_cast<std::uint8_t*>(memory) + sums.bytes(groups.count), groups.count);
  launch_dependents();
  grid_dependency_wait();

  const int at = static_cast<int>(blockIdx.x) * piece_bytes;
  const PiecePlace rows_at(a.picture, at);
  for (int g = static_cast<int>(threadIdx.x); g < groups.count; g += static_cast<int>(blockDim.x)) {
    const int top = (groups.first + g) * groups.band_rows - groups.radius;
    Sums added;
    const auto store = [&](std::uint32_t* to, SquareColumn<Value>* squares_to) {
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        to[g * kColumns + i] = added.sums[i];
        if constexpr (kSquared)
          squares_to[g * kColumns + i] = added.squares[i];
      }
    };
    if (groups.rest == 0)
      store(sums.rest, squares.rest);
    for (int row = 0; row < groups.band_rows;) {
      const int end = min(row < groups.rest ? groups.rest : groups.band_rows, row + Sums::max_rows);
      add_rows<Value>(a.picture, rows_at, top + row, top + end, added);
      added.flush();
      row = end;
      if (row == groups.rest)
        store(sums.rest, squares.rest);
    }
    store(sums.before, squares.before);
  }
  __syncthreads();
  sums.add_up(reinterpret_cast<std::uint32_t*>(shares), groups.count);
  __syncthreads();
  if constexpr (kSquared) {
    squares.add_up(reinterpret_cast<SquareColumn<Value>*>(shares), groups.count);
    __syncthreads();
  }
  const int first_column = at / static_cast<int>(sizeof(Value));
  sums.write(a.sums, a.pitch, groups, a.bands, first_column, a.picture.width);
  if constexpr (kSquared)
    squares.write(static_cast<SquareColumn<Value>*>(a.squares), a.pitch, groups, a.bands,
                  first_column, a.picture.width);
}

}  // namespace
}  // namespace cudavision::localstatistics
