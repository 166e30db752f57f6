// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the exchange of sums between the blocks of an integral image. CPU threads run the blocks
// for ThreadSanitizer. Also tests how a lane adds up its pixels.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/integral/quad.h"
#include "cuda/sync/tileexchange.h"
#include "tests/kernels/common/settings.h"
#include "tests/kernels/sync/block_threads.h"

namespace cudavision::test {
namespace {

using namespace integral;

using Epoch = LaunchEpoch<StdAtomics<std::uint32_t>>;

/// An image of whole and partial tiles, and its correct table of sums.
struct Picture {
  Picture(int picture_width, int picture_height, Random& random)
      : width(picture_width), height(picture_height) {
    pixels.resize(static_cast<std::size_t>(width) * height);
    for (auto& pixel : pixels)
      pixel = random.one_in(8) ? 255 : static_cast<std::uint32_t>(random.between(0, 255));
    sums.resize(pixels.size());
    for (int y = 0; y < height; ++y) {
      std::uint64_t row = 0;
      for (int x = 0; x < width; ++x) {
        row += at(x, y);
        sums[place(x, y)] = row + (y > 0 ? sums[place(x, y - 1)] : 0);
      }
    }
  }

  std::size_t place(int x, int y) const { return static_cast<std::size_t>(y) * width + x; }
  std::uint32_t at(int x, int y) const { return x < width && y < height ? pixels[place(x, y)] : 0; }

  int width, height;
  std::vector<std::uint32_t> pixels;
  std::vector<std::uint64_t> sums;
};

/// Runs one block of a launch with the steps of the kernel, in the same order.
template <class Number>
void run_block(const Picture& picture, const TileGrid& grid,
               std::vector<std::atomic<Number>>& words, std::atomic<std::uint32_t>* state,
               int block, int blocks, std::uint64_t seed, std::vector<std::uint64_t>& table) {
  Random random(seed);
  delay(random);
  const Epoch launch(state);
  const TileExchange<StdAtomics<Number>> exchange(grid, words.data(), launch.current());
  for (int tile = block; tile < grid.count(); tile = blocks + static_cast<int>(launch.ticket())) {
    const int tile_row = tile / grid.columns;
    const int tile_column = tile % grid.columns;
    const int x0 = tile_column * grid.tile_width;
    const int y0 = tile_row * grid.tile_height;
    std::vector<Number> columns(static_cast<std::size_t>(grid.tile_width));
    for (int y = 0; y < grid.tile_height; ++y) {
      Number row = 0;
      for (int x = 0; x < grid.tile_width; ++x)
        columns[x] += row += picture.at(x0 + x, y0 + y);
      delay(random);
      exchange.publish_row(tile_row, tile_column, y, row);
    }
    for (int x = 0; x < grid.tile_width; ++x) {
      delay(random);
      exchange.publish_columns(tile_row, tile_column, x, columns[x]);
    }
    delay(random);
    exchange.publish_tile(tile_row, tile_column, columns.back());
    constexpr int batch = 6;
    std::uint64_t corner = 0;
    const int shares_x = random.one_in(2) ? 8 : 3;
    const int shares_y = random.between(1, 4);
    for (int share = 0; share < shares_x * shares_y; ++share)
      corner += exchange.template corner<std::uint64_t, batch>(
          tile_row, tile_column, share % shares_x, shares_x, share / shares_x, shares_y);
    std::vector<std::uint64_t> above;
    for (int x = 0; x < grid.tile_width; ++x)
      above.push_back(
          exchange.template columns_above<std::uint64_t, batch>(tile_row, tile_column, x));
    std::uint64_t left = 0;
    std::vector<std::uint64_t> within(above.size());
    for (int y = 0; y < grid.tile_height; ++y) {
      left += exchange.template row_left<std::uint64_t, batch>(tile_row, tile_column, y);
      std::uint64_t row = 0;
      for (int x = 0; x < grid.tile_width; ++x) {
        within[x] += row += picture.at(x0 + x, y0 + y);
        if (x0 + x < picture.width && y0 + y < picture.height)
          table[picture.place(x0 + x, y0 + y)] = corner + above[x] + left + within[x];
      }
    }
  }
  delay(random);
  const std::uint32_t retired_before = launch.retire();
  delay(random);
  launch.advance_if_last(retired_before, static_cast<std::uint32_t>(blocks));
}

template <class Number>
class TileExchanges : public testing::Test {};
using Numbers = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(TileExchanges, Numbers);

TYPED_TEST(TileExchanges, EveryTileSeesAllThatLiesAboveAndToTheLeftInEveryLaunch) {
  Random random(settings().seed);
  for (int geometry = 0; geometry < 12; ++geometry) {
    TileGrid grid;
    grid.tile_width = 4 * random.between(1, 2);
    grid.tile_height = random.between(1, 4);
    const int width = random.between(1, 60);
    const int height = random.between(1, 40);
    grid.columns = (width + grid.tile_width - 1) / grid.tile_width;
    grid.rows = (height + grid.tile_height - 1) / grid.tile_height;
    std::vector<std::atomic<TypeParam>> words(grid.words());
    std::vector<std::atomic<std::uint32_t>> state(Epoch::words);
    for (int launch = 0; launch < 12; ++launch) {
      const Picture picture(width, height, random);
      const int blocks = std::min(random.between(1, 7), grid.count());
      std::vector<std::uint64_t> table(picture.sums.size());
      std::vector<std::thread> threads;
      for (int block = 0; block < blocks; ++block)
        threads.emplace_back([&, block, seed = random.next()] {
          run_block(picture, grid, words, state.data(), block, blocks, seed, table);
        });
      for (auto& thread : threads)
        thread.join();
      ASSERT_EQ(table, picture.sums) << "geometry " << geometry << ", launch " << launch;
      // The next launch must ignore words of all epochs except its own.
      const TypeParam next = Epoch(state.data()).current();
      constexpr int value_bits = 8 * sizeof(TypeParam) - 2;
      for (auto& word : words)
        if (random.one_in(2)) {
          auto poison = static_cast<TypeParam>(random.next());
          if (poison >> value_bits == next)
            poison ^= TypeParam{3} << value_bits;
          word = poison;
        }
    }
  }
}

// Epochs cycle through 1, 2 and 3. If an epoch were equal to the previous one, old words would look
// newly published. If an epoch were 0, the words of fresh memory would look newly published.
TEST(LaunchEpochs, AreNeverZeroAndNeverTheLast) {
  std::vector<std::atomic<std::uint32_t>> state(Epoch::words);
  const Epoch launch(state.data());
  std::uint32_t last = 0;
  for (int i = 0; i < 10; ++i) {
    const std::uint32_t epoch = launch.current();
    EXPECT_NE(epoch, 0u);
    EXPECT_LT(epoch, 4u);
    EXPECT_NE(epoch, last);
    last = epoch;
    for (std::uint32_t block = 0; block < 3; ++block) {
      EXPECT_EQ(launch.current(), epoch) << "the epoch changed before the last block retired";
      EXPECT_EQ(launch.ticket(), block) << "the launch did not count its tickets from 0";
      launch.advance_if_last(launch.retire(), 3);
    }
  }
}

TEST(Quads, AddUpTheirPixels) {
  Random random(settings().seed);
  for (int i = 0; i < 2000; ++i) {
    std::uint32_t words[2] = {static_cast<std::uint32_t>(random.next()),
                              static_cast<std::uint32_t>(random.next())};
    if (i == 0)
      words[0] = words[1] = 0xffffffff;
    const std::uint32_t base = static_cast<std::uint32_t>(random.between(0, 1 << 20));
    const int shift = random.between(0, 6);
    const std::uint32_t largest = shift == 0 ? 0xffff : 0x3ff;
    using Bytes = Quad<std::uint8_t, false>;
    using ByteSquares = Quad<std::uint8_t, true>;
    using Words = Quad<std::uint16_t, false>;
    using WordSquares = Quad<std::uint16_t, true>;
    const Bytes bytes = Bytes::of_words(words, 0, 0);
    const ByteSquares byte_squares = ByteSquares::of_words(words, 0, 0);
    const Words wide = Words::of_words(words, shift, largest);
    const WordSquares wide_squares = WordSquares::of_words(words, shift, largest);
    Bytes one_by_one{};
    Words wide_one_by_one{};
    std::uint64_t sum = base, squares = base, wide_sum = base, wide_square = base;
    for (int p = 0; p < quad_pixels; ++p) {
      const std::uint64_t byte = words[0] >> (8 * p) & 0xff;
      const std::uint32_t stored = words[p / 2] >> (16 * (p % 2)) & 0xffff;
      const std::uint64_t value = std::min(stored >> shift, largest);
      EXPECT_EQ(bytes.sum_to(p, base), sum += byte);
      EXPECT_EQ(byte_squares.sum_to(p, base), squares += byte * byte);
      EXPECT_EQ(wide.sum_to(p, base), wide_sum += value);
      EXPECT_EQ(wide_squares.sum_to(p, base), wide_square += value * value);
      one_by_one.set(p, static_cast<std::uint32_t>(byte), 0, 0);
      wide_one_by_one.set(p, stored, shift, largest);
    }
    EXPECT_EQ(one_by_one.sum_to(3, 0), bytes.sum_to(3, 0));
    EXPECT_EQ(wide_one_by_one.sum_to(3, 0), wide.sum_to(3, 0));
  }
}

}  // namespace
}  // namespace cudavision::test
