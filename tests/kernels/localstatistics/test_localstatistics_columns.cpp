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

/// Shows how each kind of columns is used.
struct Packed {
  using Value = std::uint8_t;
  static constexpr bool squared = false;
  static constexpr int scale = 0;
  PackedColumns columns;
  void add(const Piece& row, const Piece& other) { columns.add(row, other); }
  void move(const Piece& gained, const Piece& lost) { columns.move(gained, lost); }
  void add_sums(const std::uint32_t (&sums)[piece_bytes]) { columns.add_sums(sums); }
  std::uint32_t total() const { return columns.total(); }
  void add_up(std::uint32_t before, std::uint32_t (&sums)[piece_bytes]) const {
    for (int i = 0; i < piece_bytes; ++i)
      sums[i] = before += columns.pairs[i / 2] >> (16 * (i % 2)) & 0xffff;
  }
};
template <class Columns, class V, bool kSquared, int kScale>
struct Weighted {
  using Value = V;
  static constexpr bool squared = kSquared;
  static constexpr int scale = kScale;
  Columns columns;
  QuadWeights weights{kScale};
  void add(const Piece& row, const Piece& other) {
    columns.add(row, weights);
    columns.add(other, weights);
  }
  void move(const Piece& gained, const Piece& lost) { columns.move(gained, lost, weights); }
  template <std::size_t kColumns>
  void add_sums(const std::uint32_t (&sums)[kColumns]) {
    columns.add_sums(sums, kScale);
  }
  std::uint32_t total() const { return columns.template total<std::uint32_t>(); }
  template <std::size_t kColumns>
  void add_up(std::uint32_t before, std::uint32_t (&sums)[kColumns]) const {
    columns.add_up(before, sums);
  }
};
template <bool kSquared, int kScale>
using Quads = Weighted<QuadColumns<kSquared>, std::uint8_t, kSquared, kScale>;
template <class Value, bool kSquared>
using Singles = Weighted<SingleColumns<Value, kSquared>, Value, kSquared, 0>;

/// The type of the sums of squares of a row's columns.
template <class User>
using SquareTotal =
    std::conditional_t<std::is_same_v<User, Quads<true, 0>>, std::uint32_t, std::uint64_t>;

/// Moves windows of `rows` rows down and compares all sums with those of single pixels.
template <class User>
void expect_columns(int rows, bool brightest) {
  using Value = typename User::Value;
  Random random(54);
  constexpr std::size_t kColumns = pixels_of_piece<Value>;
  std::deque<Piece> window;
  User user;
  const auto next = [&] { return brightest ? Piece{{~0u, ~0u, ~0u, ~0u}} : random_piece(random); };
  const auto expect_sums = [&] {
    std::uint64_t sum = 7, squares = 9;
    std::uint32_t sums[kColumns], shown[kColumns]{};
    user.add_up(std::uint32_t{7}, sums);
    SquareTotal<User> square_sums[kColumns]{};
    SquareColumn<Value> shown_squares[kColumns]{};
    if constexpr (User::squared)
      user.columns.add_up_squares(SquareTotal<User>{9}, square_sums);
    for (std::size_t k = 0; k < kColumns; ++k) {
      for (const Piece& piece : window) {
        const auto value = static_cast<std::uint64_t>(values_of<Value>(piece)[k]);
        sum += value << User::scale;
        squares += value * value;
        shown[k] += static_cast<std::uint32_t>(value);
        shown_squares[k] += static_cast<SquareColumn<Value>>(value * value);
      }
      ASSERT_EQ(sums[k], static_cast<std::uint32_t>(sum)) << rows << " rows, column " << k;
      if constexpr (User::squared) {
        ASSERT_EQ(square_sums[k], static_cast<SquareTotal<User>>(squares))
            << rows << " rows, column " << k;
      }
    }
    ASSERT_EQ(user.total(), static_cast<std::uint32_t>(sum - 7));
    // Sums that are added instead of their rows give the same.
    User same;
    same.add_sums(shown);
    std::uint32_t same_sums[kColumns];
    same.add_up(std::uint32_t{7}, same_sums);
    ASSERT_TRUE(std::equal(sums, sums + kColumns, same_sums));
    if constexpr (User::squared) {
      ASSERT_EQ(user.columns.template square_total<SquareTotal<User>>(),
                static_cast<SquareTotal<User>>(squares - 9));
      same.columns.add_squares(shown_squares);
      SquareTotal<User> same_squares[kColumns];
      same.columns.add_up_squares(SquareTotal<User>{9}, same_squares);
      ASSERT_TRUE(std::equal(square_sums, square_sums + kColumns, same_squares));
    }
  };
  for (int row = 0; row + 2 <= rows; row += 2) {
    window.push_back(next());
    window.push_back(next());
    user.add(window[window.size() - 2], window.back());
  }
  if (rows % 2 == 1) {
    window.push_back(next());
    user.add(window.back(), {});
  }
  expect_sums();
  for (int step = 0; step < 5 && rows > 0; ++step) {
    window.push_back(next());
    user.move(window.back(), window.front());
    window.pop_front();
    expect_sums();
  }
}

TEST(LocalStatisticsColumns, AreThoseOfSinglePixels) {
  for (const bool brightest : {false, true}) {
    for (const int rows : {0, 1, 2, 31, 257})
      expect_columns<Packed>(rows, brightest);
    for (const int rows : {0, 1, 2, 258, 1000}) {
      expect_columns<Quads<false, 0>>(rows, brightest);
      expect_columns<Quads<false, 1>>(rows, brightest);
      expect_columns<Quads<false, QuadWeights::max_scale>>(rows, brightest);
      expect_columns<Quads<true, 0>>(rows, brightest);
      expect_columns<Singles<std::uint8_t, false>>(rows, brightest);
      expect_columns<Singles<std::uint8_t, true>>(rows, brightest);
      expect_columns<Singles<std::uint16_t, false>>(rows, brightest);
      expect_columns<Singles<std::uint16_t, true>>(rows, brightest);
    }
  }
}

}  // namespace
}  // namespace cudavision::test
