// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that adds up the columns of the picture down to the row where the window of each band
// begins. A warp adds up some groups of as many rows as a band has, in 128 neighbouring columns; so
// it reads whole lines of memory. The block then adds up the groups of its warps from top to
// bottom. Blocks do not wait for those above them: who reads the table adds their last rows.

#include "cuda/core/cuda_launch.h"
#include "cuda/localstatistics/rows.cuh"

namespace cudavision::localstatistics {

/// The groups of rows that are added up: group g has the rows g·band_rows − radius and after, as
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

constexpr int column_warps = 16;   // of a block
constexpr int groups_of_warp = 2;  // one below the other
constexpr int groups_of_block = column_warps * groups_of_warp;
constexpr int columns_of_lane = 4;
constexpr int columns_of_block = 32 * columns_of_lane;

/// Tables with a row for each group and one for the end. Row g has the sums of the groups of one
/// block down to group g − 1, and row 0 has zeros.
struct ColumnTables {
  RowGroups groups;
  std::uint32_t* sums;
  void* squares;
  int pitch;  // entries in a row
};

namespace {

/// The rows of the tables that tell the sums of the whole groups with which a band's window begins.
struct TableRows {
  int rows;  // of the picture in these groups, which may be a few more than those of the window

  __device__ TableRows(const ColumnTables& tables, int band, int radius) : pitch_(tables.pitch) {
    const RowGroups& groups = tables.groups;
    const int whole = (2 * radius + 1 + groups.band_rows / 2) / groups.band_rows;
    top_ = groups.before(band);
    bottom_ = groups.before(band + whole);
    rows = whole * groups.band_rows;
  }

  /// Reads the sums of neighbouring columns.
  template <class Entry, int kColumns>
  __device__ void take(const Entry* table, Entry (&sums)[kColumns]) const {
    Entry above[kColumns];
    load(table, top_, above);
    load(table, bottom_, sums);
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      sums[i] -= above[i];
      // The last rows of the blocks in between.
#pragma unroll 1
    for (int row = (max(top_, 1) + groups_of_block - 1) / groups_of_block * groups_of_block;
         row < bottom_; row += groups_of_block) {
      load(table, row, above);
#pragma unroll
      for (int i = 0; i < kColumns; ++i)
        sums[i] += above[i];
    }
  }

 private:
  template <class Entry, int kColumns>
  __device__ void load(const Entry* table, int row, Entry (&sums)[kColumns]) const {
    constexpr int kEntries = kColumns == 1 ? 1 : 16 / static_cast<int>(sizeof(Entry));
    struct alignas(kEntries * sizeof(Entry)) Entries {
      Entry entries[kEntries];
    };
    table += std::int64_t{pitch_} * row;
#pragma unroll
    for (int i = 0; i < kColumns; i += kEntries) {
      const auto piece = *reinterpret_cast<const Entries*>(table + i);
#pragma unroll
      for (int k = 0; k < kEntries; ++k)
        sums[i + k] = piece.entries[k];
    }
  }

  int pitch_, top_, bottom_;
};

}  // namespace

struct ColumnArguments {
  PictureRows picture;
  ColumnTables tables;
  int skew;           // the column of the tables of the picture's first column
  int blocks_across;  // that lie side by side
};

namespace {

/// The samples of a lane in a row: as many words as a sample has bytes.
template <class Value>
struct LanePiece {
  std::uint32_t words[sizeof(Value)];

  __device__ std::uint32_t value(const PictureRows& picture, int i) const {
    if constexpr (sizeof(Value) == 1)
      return byte_of(words[0], i);
    const std::uint32_t stored = words[i / 2] >> (16 * (i % 2)) & 0xffff;
    return picture.convert ? sample_value(stored, picture.shift, picture.largest) : stored;
  }
};

/// Loads an aligned piece, or zeros if it is not wanted.
template <class Value>
__device__ LanePiece<Value> lane_piece_if(bool wanted, const std::uint8_t* from) {
  LanePiece<Value> piece{};
  if (wanted) {
    if constexpr (sizeof(Value) == 1) {
      piece.words[0] = load_word(from);
    } else {
      const uint2 words = __ldg(reinterpret_cast<const uint2*>(from));
      piece.words[0] = words.x;
      piece.words[1] = words.y;
    }
  }
  return piece;
}

/// The same for a piece of which some bytes are not those of the row.
template <class Value>
__device__ LanePiece<Value> lane_piece_with_zeros(const std::uint8_t* row, int at, int row_bytes) {
  LanePiece<Value> piece{};
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof piece); ++i)
    if (at + i >= 0 && at + i < row_bytes)
      piece.words[i / 4] |= static_cast<std::uint32_t>(row[at + i]) << (8 * (i % 4));
  return piece;
}

/// Four columns' sums, or their squares', over some rows.
template <class Entry>
struct alignas(16) LaneSums {
  Entry entries[columns_of_lane];

  __device__ void add(const LaneSums& other) {
#pragma unroll
    for (int i = 0; i < columns_of_lane; ++i)
      entries[i] += other.entries[i];
  }
};

/// Adds up the groups of a block from top to bottom, and writes them into the table.
template <class Entry>
__device__ void write_prefix_sums(LaneSums<Entry> (&of_groups)[groups_of_warp],
                                  LaneSums<Entry> (&of_warps)[column_warps][32], Entry* table,
                                  const ColumnTables& tables, int column, int first) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int g = 1; g < groups_of_warp; ++g)
    of_groups[g].add(of_groups[g - 1]);
  of_warps[warp][lane] = of_groups[groups_of_warp - 1];
  __syncthreads();
  LaneSums<Entry> before{};
#pragma unroll 4
  for (int w = 0; w < warp; ++w)
    before.add(of_warps[w][lane]);
  if (column >= tables.pitch)
    return;
  auto* to =
      reinterpret_cast<LaneSums<Entry>*>(table + std::int64_t{tables.pitch} * first + column);
  if (first == 0)
    *to = {};
#pragma unroll
  for (int g = 0; g < groups_of_warp; ++g) {
    of_groups[g].add(before);
    to += tables.pitch / columns_of_lane;
    if (first + g < tables.groups.count)
      *to = of_groups[g];
  }
}

template <class Value, bool kSquared>
__global__ void __launch_bounds__(32 * column_warps, 2)
    columns_kernel(const __grid_constant__ ColumnArguments a) {
  using Square = SquareColumn<Value>;
  __shared__ LaneSums<std::uint32_t> sums_of_warps[column_warps][32];
  __shared__ LaneSums<Square> squares_of_warps[kSquared ? column_warps : 1][32];
  const PictureRows& picture = a.picture;
  const RowGroups& groups = a.tables.groups;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int block = static_cast<int>(blockIdx.x);
  const int column = (block % a.blocks_across * 32 + lane) * columns_of_lane;
  constexpr int kBytes = columns_of_lane * static_cast<int>(sizeof(Value));
  const int at = (column - a.skew) * static_cast<int>(sizeof(Value));
  const bool inside = at >= 0 && at <= picture.row_bytes() - kBytes;
  const bool ragged = __any_sync(~0u, !inside && at > -kBytes && at < picture.row_bytes());
  launch_dependents();
  grid_dependency_wait();

  LaneSums<std::uint32_t> sums[groups_of_warp]{};
  LaneSums<Square> squares[kSquared ? groups_of_warp : 1]{};
  const int first = block / a.blocks_across * groups_of_block + warp * groups_of_warp;
  const auto add = [&](const LanePiece<Value>& piece, int g) {
#pragma unroll
    for (int i = 0; i < columns_of_lane; ++i) {
      if constexpr (sizeof(Value) == 1) {
        sums[g].entries[i] = dot_bytes(piece.words[0], 1u << (8 * i), sums[g].entries[i]);
        if constexpr (kSquared)
          squares[g].entries[i] =
              dot_bytes(piece.words[0] & (0xffu << (8 * i)), piece.words[0], squares[g].entries[i]);
      } else {
        const std::uint32_t value = piece.value(picture, i);
        sums[g].entries[i] += value;
        if constexpr (kSquared)
          squares[g].entries[i] += static_cast<Square>(value) * value;
      }
    }
  };
  // Rows are counted from the first one of the warp's groups.
  const int top = (groups.first + first) * groups.band_rows - groups.radius;
  const int begin = max(-top, 0);
  const int end = min(picture.height - top, groups_of_warp * groups.band_rows);
  const std::uint8_t* row = picture.row(top);
  if (ragged) {
#pragma unroll
    for (int g = 0; g < groups_of_warp; ++g)
#pragma unroll 1
      for (int y = max(g * groups.band_rows, begin); y < min((g + 1) * groups.band_rows, end); ++y)
        add(lane_piece_with_zeros<Value>(row + picture.pitch * y, at, picture.row_bytes()), g);
  } else if (inside) {
    // All loads of some rows of each group are on their way before the first of them is used.
    constexpr int kBatch = sizeof(Value) == 1 ? 3 : 2;
    const std::int64_t group_pitch = picture.pitch * groups.band_rows;
    row += at;
#pragma unroll 1
    for (int i = 0; i < groups.band_rows; i += kBatch) {
      LanePiece<Value> pieces[kBatch][groups_of_warp];
#pragma unroll
      for (int k = 0; k < kBatch; ++k, row += picture.pitch)
#pragma unroll
        for (int g = 0; g < groups_of_warp; ++g) {
          const int y = i + k + g * groups.band_rows;
          pieces[k][g] = lane_piece_if<Value>(i + k < groups.band_rows && y >= begin && y < end,
                                              row + g * group_pitch);
        }
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
#pragma unroll
        for (int g = 0; g < groups_of_warp; ++g)
          add(pieces[k][g], g);
    }
  }
  if constexpr (kSquared)
    write_prefix_sums(squares, squares_of_warps, static_cast<Square*>(a.tables.squares), a.tables,
                      column, first);
  write_prefix_sums(sums, sums_of_warps, a.tables.sums, a.tables, column, first);
}

}  // namespace
}  // namespace cudavision::localstatistics
