// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares what a lane of the CUDA kernel does with the 16 bytes at the corners of its windows with
// plain code for one pixel at a time.

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "cuda/localstatistics/corners.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace localstatistics;

using Bytes = std::array<std::uint8_t, piece_bytes>;

Bytes bytes_of(const Piece& piece) {
  Bytes bytes;
  std::memcpy(bytes.data(), piece.words, sizeof piece.words);
  return bytes;
}

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

TEST(LocalStatisticsCorners, PiecesBeginAtAnyByte) {
  Random random(51);
  for (int i = 0; i < 100; ++i)
    for (unsigned skew = 0; skew < piece_bytes; ++skew) {
      const PiecePair pairs[] = {{random_piece(random), random_piece(random)},
                                 {random_piece(random), random_piece(random)}};
      Piece pieces[2];
      take_pieces(pairs, skew, pieces);
      for (int p = 0; p < 2; ++p) {
        std::uint8_t both[2 * piece_bytes];
        std::memcpy(both, pairs[p].left.words, piece_bytes);
        std::memcpy(both + piece_bytes, pairs[p].right.words, piece_bytes);
        Bytes expected;
        std::memcpy(expected.data(), both + skew, piece_bytes);
        ASSERT_EQ(bytes_of(pieces[p]), expected) << skew;
      }
    }
}

TEST(LocalStatisticsCorners, WordsBecomeValues) {
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

Corners random_corners(Random& random) {
  return {random_piece(random), random_piece(random), random_piece(random), random_piece(random)};
}

/// Calls add_up(corners, sums) for sums of the type Sum, and compares them with those of the terms
/// where each pixel counts as count(value). Sums of 32 bits are right modulo 2^32.
template <class Value, class Sum, class AddUp, class Count>
void expect_sums(const AddUp& add_up, const Count& count) {
  Random random(53);
  for (int i = 0; i < 500; ++i) {
    const Corners corners = random_corners(random);
    Sum sums[pixels_of_piece<Value>];
    add_up(corners, sums);
    const auto gained_right = values_of<Value>(corners.gained_right),
               lost_right = values_of<Value>(corners.lost_right),
               gained_left = values_of<Value>(corners.gained_left),
               lost_left = values_of<Value>(corners.lost_left);
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < gained_right.size(); ++k) {
      sum += count(gained_right[k]) - count(lost_right[k]) - count(gained_left[k]) +
             count(lost_left[k]);
      ASSERT_EQ(sums[k], static_cast<Sum>(sum)) << k;
    }
  }
}

TEST(LocalStatisticsCorners, AddUpTheTermsOfPixels) {
  const auto value = [](std::int64_t pixel) { return pixel; };
  const auto square = [](std::int64_t pixel) { return pixel * pixel; };
  const auto bytes = [](const Corners& corners, auto* sums) { add_up_bytes(corners, sums); };
  const auto squared_bytes = [](const Corners& corners, auto* sums) {
    add_up_squared_bytes(corners, sums);
  };
  const auto words = [](const Corners& corners, auto* sums) { add_up_words(corners, sums); };
  const auto squared_words = [](const Corners& corners, auto* sums) {
    add_up_squared_words(corners, sums);
  };
  expect_sums<std::uint8_t, std::uint32_t>(bytes, value);
  expect_sums<std::uint8_t, std::uint64_t>(bytes, value);
  expect_sums<std::uint8_t, std::uint32_t>(squared_bytes, square);
  expect_sums<std::uint8_t, std::uint64_t>(squared_bytes, square);
  expect_sums<std::uint16_t, std::uint32_t>(words, value);
  expect_sums<std::uint16_t, std::uint64_t>(words, value);
  expect_sums<std::uint16_t, std::uint64_t>(squared_words, square);
}

template <class Value, class Square>
void expect_columns(int rows, bool brightest) {
  Random random(54);
  ColumnSums<Value, Square> sums;
  std::array<std::uint64_t, pixels_of_piece<Value>> expected{}, expected_squares{};
  for (int row = 0; row < rows; ++row) {
    const Piece piece = brightest ? Piece{{~0u, ~0u, ~0u, ~0u}} : random_piece(random);
    sums.add(piece);
    if (row % sums.max_rows == sums.max_rows - 1 || row == rows - 1)
      sums.flush();
    const auto values = values_of<Value>(piece);
    for (std::size_t k = 0; k < values.size(); ++k) {
      expected[k] += static_cast<std::uint64_t>(values[k]);
      expected_squares[k] += static_cast<std::uint64_t>(values[k] * values[k]);
    }
  }
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(sums.sums[k], expected[k]) << rows << " rows";
    if constexpr (!std::is_void_v<Square>) {
      ASSERT_EQ(sums.squares[k], expected_squares[k]) << rows << " rows";
    }
  }
}

TEST(LocalStatisticsCorners, AddUpColumns) {
  for (const int rows : {0, 1, 2, 31, 257, 258, 1000, 65535})
    for (const bool brightest : {false, true}) {
      expect_columns<std::uint8_t, void>(rows, brightest);
      expect_columns<std::uint8_t, std::uint32_t>(rows, brightest);
      expect_columns<std::uint16_t, void>(rows, brightest);
      expect_columns<std::uint16_t, std::uint64_t>(rows, brightest);
    }
}

}  // namespace
}  // namespace cudavision::test
