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
  CUDAVISION_HOST_DEVICE void leave(std::uint32_t blocks) const {
    if (Atomics::fetch_add(state_ + 1, 1) + 1 != blocks)
      return;
    Atomics::store(state_ + 1, 0);
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

  // Each of these is as much of a sum as one of `shares` threads adds; share: the number of the
  // thread.

  /// The pixels above the tile, from its first column to columns `first` to first + 3. first: a
  /// multiple of 4.
  template <class Sum>
  CUDAVISION_HOST_DEVICE void columns_above(int tile_row, int tile_column, int first, int share,
                                            int shares, Sum (&sums)[4]) const {
    add(columns_word(share, tile_column) + first, shares * row_of_tiles(),
        tiles_of_share(tile_row, share, shares), sums);
  }
  /// The pixels to the left of the tile in one of its rows.
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum row_left(int tile_row, int tile_column, int row, int share,
                                      int shares) const {
    Sum sums[1] = {};
    add(rows_word(tile_row, share) + row, static_cast<std::uint32_t>(shares) * grid_.tile_height,
        tiles_of_share(tile_column, share, shares), sums);
    return sums[0];
  }
  /// The pixels both above the tile and to its left.
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum corner(int tile_row, int tile_column, int share, int shares) const {
    // Threads share the tiles out by columns and, within these, by rows.
    const int column_shares = shares % 8 == 0 ? 8 : 1;
    const int row_shares = shares / column_shares;
    const int column = share / row_shares;
    Sum sums[1] = {};
    // What is said of a tile's last column is the sum of the tile.
    CUDAVISION_NO_UNROLL
    for (int row = share % row_shares; row < tile_row; row += row_shares)
      add(columns_word(row, column) + grid_.tile_width - 1,
          static_cast<std::uint32_t>(column_shares) * grid_.tile_width,
          tiles_of_share(tile_column, column, column_shares), sums);
    return sums[0];
  }

 private:
  static constexpr int value_bits = 8 * static_cast<int>(sizeof(Value)) - 2;
  static constexpr Value value_mask = (Value{1} << value_bits) - 1;

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

  /// Adds `count` words that lie `step` words apart, or fours of neighbouring words, each as soon
  /// as it has been said.
  template <int kWords, class Sum>
  CUDAVISION_HOST_DEVICE void add(const Word* first, std::uint32_t step, int count,
                                  Sum (&sums)[kWords]) const {
    // Loads under way at the same time: as many as registers allow.
    constexpr int batch = (kWords == 1 ? 8 : 3) * 4 / static_cast<int>(sizeof(Value));
    CUDAVISION_NO_UNROLL
    for (int begin = 0; begin < count; begin += batch) {
      Value values[batch][kWords];
      while (!said(first + step * static_cast<std::uint32_t>(begin), step, count - begin, values))
        Atomics::wait();
      CUDAVISION_UNROLL
      for (int i = 0; i < batch; ++i)
        CUDAVISION_UNROLL
      for (int w = 0; w < kWords; ++w)
        sums[w] += static_cast<Sum>(values[i][w] & value_mask);
    }
  }

  /// Looks at a batch of words, of which `count` are there; the others become 0. Whether all of
  /// them have been said.
  template <int kBatch, int kWords>
  CUDAVISION_HOST_DEVICE bool said(const Word* word, std::uint32_t step, int count,
                                   Value (&values)[kBatch][kWords]) const {
    CUDAVISION_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      CUDAVISION_UNROLL
      for (int w = 0; w < kWords; ++w)
        values[i][w] = tag_;
      if (i < count)
        load(word, values[i]);
      word += step;
    }
    Value wrong = 0;
    CUDAVISION_UNROLL
    for (int i = 0; i < kBatch; ++i)
      CUDAVISION_UNROLL
    for (int w = 0; w < kWords; ++w)
      wrong |= values[i][w] ^ tag_;
    return (wrong & ~value_mask) == 0;
  }

  CUDAVISION_HOST_DEVICE static void load(const Word* words, Value (&values)[1]) {
    values[0] = Atomics::load(words);
  }
  CUDAVISION_HOST_DEVICE static void load(const Word* words, Value (&values)[4]) {
    Atomics::load4(words, values);
  }

  TileGrid grid_;
  Word* words_;
  Value tag_;
};

}  // namespace cudavision
