// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the blocks of one launch tell each other about the tiles of a picture, so that each can add
// what lies above and to the left of its tile (after Merrill & Garland, "Single-pass parallel
// prefix scan with decoupled look-back", 2016; in two dimensions Emoto et al., "An optimal parallel
// algorithm for computing the summed area table on the GPU", 2018).
//
// Each tile says only what it knows by itself: for each of its columns the sum of its pixels up to
// and including that column, for each of its rows the sum of the row, and the sum of the tile.
// Whoever needs more adds up what all the tiles on the way have said. No tile waits for one that
// waits: with blocks that take their tiles in ascending order and say what they know before they
// ask, the launch comes to its end whatever their speed, as long as all of them run at the same
// time.
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

#include "cuda/core/view.h"

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
    return static_cast<std::size_t>(columns) * rows * (tile_width + tile_height + 1);
  }
};

/// Which launch it is.
template <class Atomics>
class LaunchEpoch {
 public:
  using Word = typename Atomics::Word;
  static constexpr int words = 3;

  /// state: `words` words, zero before the first launch.
  CUDAVISION_HOST_DEVICE explicit LaunchEpoch(Word* state) : state_(state) {}

  /// 1, 2 or 3: never 0, as memory is at first, and never that of the launch before.
  CUDAVISION_HOST_DEVICE std::uint32_t now() const { return Atomics::load(state_) + 1; }

  /// Once per block, which then asks for nothing any more. Hands out what left() has to be given;
  /// what happens in between hides how long this takes.
  CUDAVISION_HOST_DEVICE std::uint32_t leave() const { return Atomics::fetch_add(state_ + 1, 1); }
  /// 0, 1, 2…: one number for each call in a launch.
  CUDAVISION_HOST_DEVICE std::uint32_t ticket() const { return Atomics::fetch_add(state_ + 2, 1); }
  /// The last block to leave moves on to the next launch.
  CUDAVISION_HOST_DEVICE void left(std::uint32_t earlier, std::uint32_t blocks) const {
    if (earlier + 1 != blocks)
      return;
    Atomics::store(state_ + 1, 0);
    Atomics::store(state_ + 2, 0);
    Atomics::store(state_, now() % 3);
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

  /// The sum of the tile.
  CUDAVISION_HOST_DEVICE void say_tile(int tile_row, int tile_column, Value sum) const {
    Atomics::store(tile_word(tile_row, tile_column), tag_ | sum);
  }

  // Each of these waits for what it needs. kBatch: words of 32 bits that are on their way at the
  // same time, which take as many registers.

  /// The pixels above the tile, from its first column to that one.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum columns_above(int tile_row, int tile_column, int column) const {
    return added<Sum, kBatch>(columns_word(0, tile_column) + column,
                              static_cast<std::uint32_t>(grid_.columns) * grid_.tile_width,
                              tile_row);
  }
  /// The pixels to the left of the tile in one of its rows.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum row_left(int tile_row, int tile_column, int row) const {
    return added<Sum, kBatch>(rows_word(tile_row, 0) + row,
                              static_cast<std::uint32_t>(grid_.tile_height), tile_column);
  }
  /// Of the pixels both above the tile and to its left as much as thread (x, y) of
  /// shares_x·shares_y threads adds up.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum corner(int tile_row, int tile_column, int x, int shares_x, int y,
                                    int shares_y) const {
    const int rows = tile_row > y ? (tile_row - y + shares_y - 1) / shares_y : 0;
    Sum sum = 0;
    CUDAVISION_NO_UNROLL
    for (int column = x; column < tile_column; column += shares_x)
      sum += added<Sum, kBatch>(tile_word(y, column),
                                static_cast<std::uint32_t>(shares_y) * grid_.columns, rows);
    return sum;
  }

 private:
  static constexpr int value_bits = 8 * static_cast<int>(sizeof(Value)) - 2;
  static constexpr Value value_mask = (Value{1} << value_bits) - 1;

  CUDAVISION_HOST_DEVICE Word* columns_word(int tile_row, int tile_column) const {
    return words_ +
           (static_cast<std::uint32_t>(tile_row) * grid_.columns + tile_column) * grid_.tile_width;
  }
  CUDAVISION_HOST_DEVICE Word* rows_word(int tile_row, int tile_column) const {
    return words_ + static_cast<std::uint32_t>(grid_.count()) * grid_.tile_width +
           (static_cast<std::uint32_t>(tile_row) * grid_.columns + tile_column) * grid_.tile_height;
  }

  CUDAVISION_HOST_DEVICE Word* tile_word(int tile_row, int tile_column) const {
    return words_ +
           static_cast<std::uint32_t>(grid_.count()) * (grid_.tile_width + grid_.tile_height) +
           static_cast<std::uint32_t>(tile_row) * grid_.columns + tile_column;
  }

  /// The sum of `count` words that lie `step` words apart, each as soon as it has been said.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum added(const Word* word, std::uint32_t step, int count) const {
    constexpr int batch = kBatch * 4 / static_cast<int>(sizeof(Value));
    Sum sum = 0;
    CUDAVISION_NO_UNROLL
    for (; count > 0; count -= batch, word += step * batch) {
      Value values[batch];
      while (!said(word, step, count, values))
        Atomics::wait();
      CUDAVISION_UNROLL
      for (int i = 0; i < batch; ++i)
        sum += static_cast<Sum>(values[i] & value_mask);
    }
    return sum;
  }

  /// Looks at a batch of words, of which `count` are there; the others become 0. Whether all of
  /// them have been said.
  template <int kBatch>
  CUDAVISION_HOST_DEVICE bool said(const Word* word, std::uint32_t step, int count,
                                   Value (&values)[kBatch]) const {
    CUDAVISION_UNROLL
    for (int i = 0; i < kBatch; ++i, word += step) {
      values[i] = tag_;
      if (i < count)
        values[i] = Atomics::load(word);
    }
    Value wrong = 0;
    CUDAVISION_UNROLL
    for (int i = 0; i < kBatch; ++i)
      wrong |= values[i] ^ tag_;
    return (wrong & ~value_mask) == 0;
  }

  TileGrid grid_;
  Word* words_;
  Value tag_;
};

}  // namespace cudavision
