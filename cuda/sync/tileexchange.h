// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Blocks of one launch publish sums of their tiles in device memory, so that every block can add
// the pixels above and to the left of its own tile (after Merrill & Garland, "Single-pass parallel
// prefix scan with decoupled look-back", 2016; in two dimensions, Emoto et al., "An optimal
// parallel algorithm for computing the summed area table on the GPU", 2018).
//
// A block publishes only sums within its tile: for each column, the sum of the tile's pixels up to
// and including the column; for each row, the sum of the row; and the sum of the tile. A block adds
// the words of all tiles above and to the left. Blocks take tiles in ascending order and publish
// the sums of a tile before they poll for other tiles, so the launch cannot deadlock if all blocks
// are resident.
//
// A word holds a value and, in its two highest bits, the epoch of the launch that published it. A
// word with the current epoch is therefore valid, even if other words are missing. Nothing needs
// to be cleared between launches, because each launch writes every word. The epoch is in device
// memory, because a launch that is replayed from a graph has the arguments of the first launch.
//
// Atomics supplies relaxed operations on words of 32 or 64 bits: instructions on the GPU,
// std::atomic in the tests, so that ThreadSanitizer checks the protocol.

#include <cstddef>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// Tiles that cover a picture. Tiles at the right and lower edges may extend beyond the picture.
struct TileGrid {
  int columns = 0;  ///< tiles per row
  int rows = 0;
  int tile_width = 0;  ///< pixels
  int tile_height = 0;

  CUDAVISION_HOST_DEVICE int count() const { return columns * rows; }
  /// Number of words that all tiles publish; fewer than 2^31.
  CUDAVISION_HOST_DEVICE std::size_t words() const {
    return static_cast<std::size_t>(columns) * rows * (tile_width + tile_height + 1);
  }
};

/// Numbers the launches of one kernel, in device memory.
template <class Atomics>
class LaunchEpoch {
 public:
  using Word = typename Atomics::Word;
  static constexpr int words = 3;

  /// state has `words` words, all zero before the first launch.
  CUDAVISION_HOST_DEVICE explicit LaunchEpoch(Word* state) : state_(state) {}

  /// Returns 1, 2 or 3: never 0 (cleared memory), never the previous launch's epoch.
  CUDAVISION_HOST_DEVICE std::uint32_t current() const { return Atomics::load(state_) + 1; }

  /// Returns 0, 1, 2…: a different number for each call in a launch.
  CUDAVISION_HOST_DEVICE std::uint32_t ticket() const { return Atomics::fetch_add(state_ + 2, 1); }

  /// Every block calls this once, after its last poll and its last ticket. Returns the number of
  /// blocks that retired earlier, for advance_if_last(). Other work between this call and
  /// advance_if_last() hides the latency.
  CUDAVISION_HOST_DEVICE std::uint32_t retire() const { return Atomics::fetch_add(state_ + 1, 1); }
  /// Begins the next epoch if this block retired last.
  CUDAVISION_HOST_DEVICE void advance_if_last(std::uint32_t retired_before,
                                              std::uint32_t blocks) const {
    if (retired_before + 1 != blocks)
      return;
    Atomics::store(state_ + 1, 0);
    Atomics::store(state_ + 2, 0);
    Atomics::store(state_, current() % 3);
  }

 private:
  Word* state_;
};

/// Publishes the sums of a block's tiles and adds the sums of other tiles. Values must be less than
/// 2^30 in 32-bit words, and less than 2^62 in 64-bit words.
template <class Atomics>
class TileExchange {
 public:
  using Word = typename Atomics::Word;
  using Value = typename Atomics::Value;

  CUDAVISION_HOST_DEVICE TileExchange(const TileGrid& grid, Word* words, std::uint32_t epoch)
      : grid_(grid), words_(words), epoch_(static_cast<Value>(epoch) << value_bits) {}

  /// Publishes the sum of the tile's pixels in its columns 0 to `column`.
  CUDAVISION_HOST_DEVICE void publish_columns(int tile_row, int tile_column, int column,
                                              Value sum) const {
    Atomics::store(columns_word(tile_row, tile_column) + column, epoch_ | sum);
  }
  CUDAVISION_HOST_DEVICE void publish_row(int tile_row, int tile_column, int row, Value sum) const {
    Atomics::store(rows_word(tile_row, tile_column) + row, epoch_ | sum);
  }

  CUDAVISION_HOST_DEVICE void publish_tile(int tile_row, int tile_column, Value sum) const {
    Atomics::store(tile_word(tile_row, tile_column), epoch_ | sum);
  }

  // The following functions poll until all words to add are published. A batch of loads fills
  // kBatch registers: kBatch words of 32 bits, or half as many words of 64 bits.

  /// Returns the sum of the pixels above the tile, from the tile's first column to `column`.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum columns_above(int tile_row, int tile_column, int column) const {
    return added<Sum, kBatch>(columns_word(0, tile_column) + column,
                              static_cast<std::uint32_t>(grid_.columns) * grid_.tile_width,
                              tile_row);
  }
  /// Returns the sum of the pixels to the left of the tile, in one row of the tile.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum row_left(int tile_row, int tile_column, int row) const {
    return added<Sum, kBatch>(rows_word(tile_row, 0) + row,
                              static_cast<std::uint32_t>(grid_.tile_height), tile_column);
  }
  /// Returns the partial sum of thread (x, y) over the pixels above and to the left of the tile.
  /// shares_x·shares_y threads compute the sum together.
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

  /// Returns the sum of `count` words, `step` words apart. Waits until each word is published.
  template <class Sum, int kBatch>
  CUDAVISION_HOST_DEVICE Sum added(const Word* word, std::uint32_t step, int count) const {
    constexpr int batch = kBatch * 4 / static_cast<int>(sizeof(Value));
    Sum sum = 0;
    CUDAVISION_NO_UNROLL
    for (; count > 0; count -= batch, word += step * batch) {
      Value values[batch];
      while (!poll(word, step, count, values))
        Atomics::wait();
      CUDAVISION_UNROLL
      for (int i = 0; i < batch; ++i)
        sum += static_cast<Sum>(values[i] & value_mask);
    }
    return sum;
  }

  /// Loads a batch of words; beyond `count`, the values are 0. Returns true if all are published.
  template <int kBatch>
  CUDAVISION_HOST_DEVICE bool poll(const Word* word, std::uint32_t step, int count,
                                   Value (&values)[kBatch]) const {
    CUDAVISION_UNROLL
    for (int i = 0; i < kBatch; ++i, word += step) {
      values[i] = epoch_;
      if (i < count)
        values[i] = Atomics::load(word);
    }
    Value other_epochs = 0;
    CUDAVISION_UNROLL
    for (int i = 0; i < kBatch; ++i)
      other_epochs |= values[i] ^ epoch_;
    return (other_epochs & ~value_mask) == 0;
  }

  TileGrid grid_;
  Word* words_;
  Value epoch_;
};

}  // namespace cudavision
