// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the blocks of one launch tell each other about the tiles of a picture, so that each can add
// what lies above and to the left of its tile (after Merrill & Garland, "Single-pass parallel
// prefix scan with decoupled look-back", 2016; in two dimensions Emoto et al., "An optimal parallel
// algorithm for computing the summed area table on the GPU", 2018).
//
// Each tile says only what it knows by itself: for each of its columns the sum of its pixels up to
// and including that column, and for each of its rows the sum of the row. Whoever needs more adds
// up what all the tiles on the way have said. No tile waits for one that waits: with blocks that
// take their tiles in ascending order and say what they know before they ask, the launch comes to
// its end whatever their speed, as long as all of them run at the same time.
//
// A word holds a value and, in its highest two bits, a tag that tells the words of this launch from
// those of the last. So a word that has the tag is complete, no matter what else has arrived, and
// nothing has to be cleared between launches: every word is written in each. The tag comes from a
// state in device memory, since a launch that is replayed from a graph has the arguments of the
// first.
//
// Atomics is a set of relaxed operations on words of 32 or 64 bits. On the GPU these are
// instructions, in the tests operations of std::atomic, so that ThreadSanitizer sees the protocol.

#include <cstddef>
#include <cstdint>

#include "view.h"

namespace cudavision {

/// How a picture is cut into tiles; those at its right and lower edges may be cut short.
struct TileGrid {
  int columns = 0;  ///< tiles beside each other
  int rows = 0;
  int tile_width = 0;  ///< pixels
  int tile_height = 0;

  CUDAVISION_HOST_DEVICE int count() const { return columns * rows; }
  /// Words that the tiles say; fewer than 2^31.
  CUDAVISION_HOST_DEVICE std::size_t words() const {
    return static_cast<std::size_t>(columns) * rows * (tile_width + tile_height);
  }
};

/// Which launch it is.
template <class Atomics>
class LaunchTag {
 public:
  using Word = typename Atomics::Word;
  static constexpr int words = 2;

  /// state: `words` words, zero before the first launch.
  CUDAVISION_HOST_DEVICE explicit LaunchTag(Word* state) : state_(state) {}

  /// 1, 2 or 3: never 0, as memory is at first, and never that of the launch before.
  CUDAVISION_HOST_DEVICE std::uint32_t now() const { return Atomics::load(state_) + 1; }

  /// Once per block, which then asks for nothing any more: the last one moves on to the next
  /// launch.
  CUDAVISION_HOST_DEVICE void leave(std::uint32_t tag, std::uint32_t blocks) const {
    if (Atomics::fetch_add(state_ + 1, 1) + 1 != blocks)
      return;
    Atomics::store(state_ + 1, 0);
    Atomics::store(state_, tag % 3);
  }

 private:
  Word* state_;
};

/// Values must be less than 2^30 where words have 32 bits, else 2^62.
template <class Atomics>
class TileExchange {
 public:
  using Word = typename Atomics::Word;
  using Value = typename Atomics::Value;

  CUDAVISION_HOST_DEVICE TileExchange(const TileGrid& grid, Word* words, std::uint32_t tag)
      : grid_(grid), words_(words), tag_(static_cast<Value>(tag) << value_bits) {}

  /// The sum of the pixels of the tile's columns 0 to `column`.
  CUDAVISION_HOST_DEVICE void say_columns(int tile_row, int tile_column, int column,
                                          Value sum) const {
    Atomics::store(columns_word(tile_row, tile_column) + column, tag_ | sum);
  }
  /// The sum of one of the tile's rows.
  CUDAVISION_HOST_DEVICE void say_row(int tile_row, int tile_column, int row, Value sum) const {
    Atomics::store(rows_word(tile_row, tile_column) + row, tag_ | sum);
  }

  /// The pixels above the tile, from its first column to `column`.
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum columns_above(int tile_row, int tile_column, int column) const {
    return add<Sum>(columns_word(0, tile_column) + column, row_of_tiles(), tile_row);
  }
  /// The pixels to the left of the tile in one of its rows.
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum row_left(int tile_row, int tile_column, int row) const {
    return add<Sum>(rows_word(tile_row, 0) + row, grid_.tile_height, tile_column);
  }
  /// The pixels both above the tile and to its left, as far as one of `shares` threads adds them.
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum corner(int tile_row, int tile_column, int share, int shares) const {
    Sum sum = 0;
    // What is said of a tile's last column is the sum of the tile.
    for (int row = share % row_shares(shares); row < tile_row; row += row_shares(shares))
      sum +=
          add<Sum>(columns_word(row, share / row_shares(shares)) + grid_.tile_width - 1,
                   static_cast<std::uint32_t>(column_shares(shares)) * grid_.tile_width,
                   tiles_of_share(tile_column, share / row_shares(shares), column_shares(shares)));
    return sum;
  }

 private:
  static constexpr int value_bits = 8 * static_cast<int>(sizeof(Value)) - 2;
  static constexpr Value value_mask = (Value{1} << value_bits) - 1;
  static constexpr int batch = 8;  // loads under way at the same time

  /// Threads share the tiles of the corner out by rows and, within these, by columns.
  CUDAVISION_HOST_DEVICE static constexpr int column_shares(int shares) {
    return shares % 8 == 0 ? 8 : 1;
  }
  CUDAVISION_HOST_DEVICE static constexpr int row_shares(int shares) {
    return shares / column_shares(shares);
  }
  CUDAVISION_HOST_DEVICE static int tiles_of_share(int tiles, int first, int step) {
    return tiles > first ? (tiles - first + step - 1) / step : 0;
  }

  CUDAVISION_HOST_DEVICE std::uint32_t row_of_tiles() const {
    return static_cast<std::uint32_t>(grid_.columns) * grid_.tile_width;
  }
  CUDAVISION_HOST_DEVICE Word* columns_word(int tile_row, int tile_column) const {
    return words_ +
           (static_cast<std::uint32_t>(tile_row) * grid_.columns + tile_column) * grid_.tile_width;
  }
  CUDAVISION_HOST_DEVICE Word* rows_word(int tile_row, int tile_column) const {
    return words_ + static_cast<std::uint32_t>(grid_.count()) * grid_.tile_width +
           (static_cast<std::uint32_t>(tile_row) * grid_.columns + tile_column) * grid_.tile_height;
  }

  /// The sum of `count` words that lie `step` words apart, each as soon as it has been said.
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum add(const Word* first, std::uint32_t step, int count) const {
    Sum sum = 0;
    for (int begin = 0; begin < count; begin += batch) {
      Value values[batch];
      CUDAVISION_UNROLL
      for (int i = 0; i < batch; ++i)
        values[i] = begin + i < count ? Atomics::load(first + step * (begin + i)) : tag_;
      CUDAVISION_UNROLL
      for (int i = 0; i < batch; ++i) {
        while ((values[i] & ~value_mask) != tag_) {
          Atomics::wait();
          values[i] = Atomics::load(first + step * (begin + i));
        }
        sum += static_cast<Sum>(values[i] & value_mask);
      }
    }
    return sum;
  }

  TileGrid grid_;
  Word* words_;
  Value tag_;
};

}  // namespace cudavision
