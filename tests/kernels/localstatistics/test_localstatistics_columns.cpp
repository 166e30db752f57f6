// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares what a thread of the CUDA kernels does with the columns of 16 bytes with plain code for
// one pixel at a time.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>

#include "cuda/localstatistics/windowcolumns.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace localstatistics;

using Bytes = std::array<std::uint8_t, piece_bytes>;

/// Draws bytes of which many are the smallest and the largest.
Piece random_piece(Random& random) {
  Bytes bytes;
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random.one_in(4)   ? 255
                                     : random.one_in(4) ? 0
                                                        : random.between(0, 255));
  Piece piece;
  std::memcpy(piece.words, bytes.data(), sizeof piece.words);
  return piece;
}

template <class Value>
std::array<std::int64_t, pixels_of_piece<Value>> values_of(const Piece& piece) {
  std::array<Value, pixels_of_piece<Value>> values;
  std::memcpy(values.data(), piece.words, sizeof piece.words);
  std::array<std::int64_t, pixels_of_piece<Value>> wide;
  std::copy(values.begin(), values.end(), wide.begin());
  return wide;
}

TEST(LocalStatisticsColumns, WordsBecomeValues) {
  Random random(52);
  for (int bits = 9; bits <= 16; ++bits)
    for (int shift = 0; shift <= 16 - bits; ++shift)
      for (int i = 0; i < 20; ++i) {
        const std::uint32_t largest = (1u << bits) - 1;
        const Piece stored = random_piece(random);
        const auto words = values_of<std::uint16_t>(stored);
        const auto values = values_of<std::uint16_t>(values_of_words(stored, shift, largest));
        for (std::size_t k = 0; k < words.size(); ++k)
          ASSERT_EQ(values[k], std::min<std::int64_t>(words[k] >> shift, largest));
      }
}

/// Moves windows of `rows` rows down and compares all sums with those of single pixels.
template <class Value, bool kPacked, bool kSquared>
void expect_columns(int rows, bool brightest) {
  Random random(54);
  constexpr std::size_t kColumns = pixels_of_piece<Value>;
  std::deque<Piece> window;
  WindowColumns<Value, kPacked, kSquared> columns;
  const auto next = [&] { return brightest ? Piece{{~0u, ~0u, ~0u, ~0u}} : random_piece(random); };
  const auto expect_sums = [&] {
    std::uint64_t sum = 7, squares = 9;
    std::uint32_t sums[kColumns], shown[kColumns]{};
    columns.add_up(std::uint32_t{7}, sums);
    std::uint64_t square_sums[kColumns]{};
    if constexpr (kSquared)
      columns.add_up_squares(std::uint64_t{9}, square_sums);
    for (std::size_t k = 0; k < kColumns; ++k) {
      for (const Piece& piece : window) {
        const auto value = static_cast<std::uint64_t>(values_of<Value>(piece)[k]);
        sum += value;
        squares += value * value;
        shown[k] += static_cast<std::uint32_t>(value);
      }
      ASSERT_EQ(sums[k], static_cast<std::uint32_t>(sum)) << rows << " rows, column " << k;
      if constexpr (kSquared) {
        ASSERT_EQ(square_sums[k], squares) << rows << " rows, column " << k;
      }
    }
    ASSERT_EQ(columns.template total<std::uint32_t>(), static_cast<std::uint32_t>(sum - 7));
    if constexpr (kSquared) {
      ASSERT_EQ(columns.template square_total<std::uint64_t>(), squares - 9);
    }
    // Sums that are added instead of their rows give the same.
    WindowColumns<Value, kPacked, kSquared> same;
    same.add_sums(shown);
    std::uint32_t same_sums[kColumns];
    same.add_up(std::uint32_t{7}, same_sums);
    ASSERT_TRUE(std::equal(sums, sums + kColumns, same_sums));
  };
  for (int row = 0; row + 2 <= rows; row += 2) {
    window.push_back(next());
    window.push_back(next());
    columns.add(window[window.size() - 2], window.back());
  }
  if (rows % 2 == 1) {
    window.push_back(next());
    columns.add(window.back(), {});
  }
  expect_sums();
  for (int step = 0; step < 5 && rows > 0; ++step) {
    window.push_back(next());
    columns.move(window.back(), window.front());
    window.pop_front();
    expect_sums();
  }
}

TEST(LocalStatisticsColumns, AreThoseOfSinglePixels) {
  for (const int rows : {0, 1, 2, 31, 257})
    for (const bool brightest : {false, true}) {
      expect_columns<std::uint8_t, true, false>(rows, brightest);
      expect_columns<std::uint8_t, true, true>(rows, brightest);
    }
  for (const int rows : {0, 1, 2, 258, 1000})
    for (const bool brightest : {false, true}) {
      expect_columns<std::uint8_t, false, false>(rows, brightest);
      expect_columns<std::uint8_t, false, true>(rows, brightest);
      expect_columns<std::uint16_t, false, false>(rows, brightest);
      expect_columns<std::uint16_t, false, true>(rows, brightest);
    }
}

}  // namespace
}  // namespace cudavision::test
