// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that adds up the columns of the picture down to the row where the window of each band
// begins. Each thread of a block adds up a group of as many rows as a band has; the block then adds
// up the groups from top to bottom.

#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/localstatistics/rows.cuh"

namespace cudavision::localstatistics {

/// The type of the sums of a column's squares.
template <class Value>
using SquareColumn = std::conditional_t<sizeof(Value) == 1, std::uint32_t, std::uint64_t>;

/// The groups of rows that a block adds up: group g has the rows g·band_rows − radius and after, as
/// many as a band. So the window of band b begins with group b.
struct RowGroups {
  int band_rows, radius;
  int first, count;  // of the groups that have rows of the picture

  RowGroups() = default;
  RowGroups(int band_rows, int radius, int height)
      : band_rows(band_rows),
        radius(radius),
        first(radius / band_rows),
        count((height - 1 + radius) / band_rows - first + 1) {}

  /// Returns the row of the table with the sums of all groups before a group.
  CUDAVISION_HOST_DEVICE int before(int group) const {
    const int row = group - first;
    return row < 0 ? 0 : row < count ? row : count;
  }
};

/// Tables with a row for each group and one for the end.
struct ColumnTables {
  RowGroups groups;
  std::uint32_t* sums;
  void* squares;
  int pitch;  // entries in a row
};

namespace {

/// The rows of the tables that tell the sums of the whole groups with which a band's window begins.
struct TableRows {
  std::int64_t top, bottom;  // entries
  int rows;                  // of the picture in these groups

  __device__ TableRows(const ColumnTables& tables, int band, int radius) {
    const RowGroups& groups = tables.groups;
    const int whole = (2 * radius + 1) / groups.band_rows;
    top = std::int64_t{tables.pitch} * groups.before(band);
    bottom = std::int64_t{tables.pitch} * groups.before(band + whole);
    rows = whole * groups.band_rows;
  }

  template <class Entry>
  __device__ Entry difference(const Entry* table, int column) const {
    return table[bottom + column] - table[top + column];
  }

  /// Adds the sums of a piece's columns, if it has any. Columns are those of the tables.
  template <class Value, bool kSquared, class Columns>
  __device__ void add_to(const ColumnTables& tables, int column, int end, Columns& columns) const {
    if (column < 0 || column >= end)
      return;
    std::uint32_t sums[pixels_of_piece<Value>];
    take(tables.sums + column, sums);
    columns.add_sums(sums);
    if constexpr (kSquared)
      take(static_cast<const SquareColumn<Value>*>(tables.squares) + column, columns.squares);
  }

 private:
  template <class Entry, int kColumns>
  __device__ void take(const Entry* table, Entry (&entries)[kColumns]) const {
    constexpr int kEntries = 16 / static_cast<int>(sizeof(Entry));
    struct alignas(16) Entries {
      Entry entries[kEntries];
    };
#pragma unroll
    for (int i = 0; i < kColumns; i += kEntries) {
      const auto above = *reinterpret_cast<const Entries*>(table + top + i);
      const auto below = *reinterpret_cast<const Entries*>(table + bottom + i);
#pragma unroll
      for (int k = 0; k < kEntries; ++k)
        entries[i + k] = below.entries[k] - above.entries[k];
    }
  }
};

}  // namespace

struct ColumnArguments {
  PictureRows picture;
  ColumnTables tables;
};

constexpr int column_pieces = 2;  // side by side in a block

/// The most groups of rows that a block adds up: with them, its shared memory is what every GPU
/// gives without a request.
__host__ __device__ constexpr int max_row_groups(bool squared) {
  return squared ? 288 : 384;
}

namespace {

/// Writes the sums of all groups before each group. A row of shared memory has a group's entries:
/// kEntries columns, or half as many words with two sums of 16 bits.
template <bool kPairs, class Entry, int kEntries, class Word>
__device__ void write_prefix_sums(const Word* of_groups, int groups, Entry* shares, Entry* to,
                                  int pitch, int columns) {
  constexpr int kHalves = kPairs ? 2 : 1;
  constexpr int kWords = kEntries / kHalves;
  const int word = static_cast<int>(threadIdx.x) % kWords;
  const int part = static_cast<int>(threadIdx.x) / kWords;
  const int parts = static_cast<int>(blockDim.x) / kWords;
  const int length = (groups + parts - 1) / parts;
  const int begin = min(part * length, groups), end = min(begin + length, groups);
  const auto half = [](Word pair, int i) -> Entry {
    return kPairs ? static_cast<Entry>(pair) >> (16 * i) & 0xffff : static_cast<Entry>(pair);
  };
  Entry sums[kHalves]{};
  for (int g = begin; g < end; ++g)
#pragma unroll
    for (int i = 0; i < kHalves; ++i)
      sums[i] += half(of_groups[g * kWords + word], i);
#pragma unroll
  for (int i = 0; i < kHalves; ++i) {
    shares[i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)] = sums[i];
    sums[i] = 0;
  }
  __syncthreads();
#pragma unroll 4
  for (int p = 0; p < part; ++p)
#pragma unroll
    for (int i = 0; i < kHalves; ++i)
      sums[i] += shares[i * static_cast<int>(blockDim.x) + p * kWords + word];
  const int column = kHalves * word;
  const int last = part == parts - 1 ? end : end - 1;
  for (int g = begin; g <= last; ++g) {
#pragma unroll
    for (int i = 0; i < kHalves; ++i) {
      if (column + i < columns)
        to[static_cast<std::int64_t>(pitch) * g + column + i] = sums[i];
      if (g < end)
        sums[i] += half(of_groups[g * kWords + word], i);
    }
  }
}

template <class Value, bool kSquared>
__global__ void __launch_bounds__(column_pieces* max_row_groups(kSquared), 1)
    columns_kernel(const __grid_constant__ ColumnArguments a) {
  constexpr int kPixels = pixels_of_piece<Value>;
  constexpr bool kBytes = sizeof(Value) == 1;
  using Columns = WindowColumns<Value, kBytes, kSquared>;
  using Square = SquareColumn<Value>;
  extern __shared__ uint4 memory[];
  const RowGroups groups = a.tables.groups;
  const int group = static_cast<int>(threadIdx.x) / column_pieces;
  const int piece = static_cast<int>(threadIdx.x) % column_pieces;
  launch_dependents();
  grid_dependency_wait();

  // Columns are counted from the first piece, part of which may lie before the picture.
  const int first_column = static_cast<int>(blockIdx.x) * column_pieces * kPixels;
  const int skew =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(a.picture.data) % piece_bytes) /
      static_cast<int>(sizeof(Value));
  const PiecePlace place(a.picture,
                         (first_column - skew + piece * kPixels) * static_cast<int>(sizeof(Value)));
  Columns columns;
  if (group < groups.count) {
    const int top = (groups.first + group) * groups.band_rows - groups.radius;
    add_rows<Value>(a.picture, place, top, top + groups.band_rows, columns);
  }
  const int table_columns = a.tables.pitch - first_column;
  {
    auto* const of_groups = reinterpret_cast<std::uint32_t*>(memory);
    constexpr int kWords = sizeof(columns.sum_words()) / 4;
    auto* const shares = of_groups + column_pieces * kWords * groups.count;
    if (group < groups.count) {
      const auto& words = columns.sum_words();
#pragma unroll
      for (int i = 0; i < kWords; i += 4)
        *reinterpret_cast<uint4*>(of_groups + static_cast<int>(threadIdx.x) * kWords + i) =
            make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
    }
    __syncthreads();
    write_prefix_sums<kBytes, std::uint32_t, column_pieces * kPixels>(
        of_groups, groups.count, shares, a.tables.sums + first_column, a.tables.pitch,
        table_columns);
  }
  if constexpr (kSquared) {
    auto* const of_groups = reinterpret_cast<Square*>(memory);
    auto* const shares = of_groups + column_pieces * kPixels * groups.count;
    __syncthreads();
    if (group < groups.count) {
#pragma unroll
      for (int i = 0; i < kPixels; ++i)
        of_groups[static_cast<int>(threadIdx.x) * kPixels + i] = columns.squares[i];
    }
    __syncthreads();
    write_prefix_sums<false, Square, column_pieces * kPixels>(
        of_groups, groups.count, shares, static_cast<Square*>(a.tables.squares) + first_column,
        a.tables.pitch, table_columns);
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
