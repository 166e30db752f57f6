// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The sums of 16 neighbouring bytes' columns, which one thread of the CUDA kernels keeps in its
// registers. These functions also run on the host, where the tests compare them with plain code for
// one pixel at a time.

#include <cstdint>
#include <type_traits>

#include "cuda/pixels/pixel_pack.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::localstatistics {

constexpr int piece_bytes = 16;
constexpr int piece_words = 4;

/// Sixteen bytes as four words.
struct Piece {
  std::uint32_t words[piece_words];
};

/// The samples of a piece.
template <class Value>
constexpr int pixels_of_piece = piece_bytes / static_cast<int>(sizeof(Value));

/// The type of the sums of a column's squares.
template <class Value>
using SquareColumn = std::conditional_t<sizeof(Value) == 1, std::uint32_t, std::uint64_t>;

/// Returns the low word of high:low shifted right by `bits`, which is less than 32.
CUDAVISION_HOST_DEVICE inline std::uint32_t shift_right(std::uint32_t low, std::uint32_t high,
                                                        unsigned bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> bits);
#endif
}

/// Converts stored words of 16 bits, two in each word, to values.
CUDAVISION_HOST_DEVICE inline Piece values_of_words(Piece piece, int shift, std::uint32_t largest) {
  CUDAVISION_UNROLL
  for (std::uint32_t& word : piece.words)
    word = sample_value(word & 0xffff, shift, largest) | sample_value(word >> 16, shift, largest)
                                                             << 16;
  return piece;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t half_of(const Piece& piece, int number) {
  return piece.words[number / 2] >> (16 * (number % 2)) & 0xffff;
}

/// The sums of 16 neighbouring columns of bytes over the rows of a window, with 16 bits each, which
/// suffice for up to 257 rows.
struct PackedColumns {
  std::uint32_t pairs[2 * piece_words]{};  // of neighbouring columns

  /// Adds to the sums.
  CUDAVISION_HOST_DEVICE void add_sums(const std::uint32_t (&sums)[piece_bytes]) {
    CUDAVISION_UNROLL
    for (int i = 0; i < 2 * piece_words; ++i)
      pairs[i] += sums[2 * i] + (sums[2 * i + 1] << 16);
  }
  /// Adds two rows at once.
  CUDAVISION_HOST_DEVICE void add(const Piece& row, const Piece& other) {
    CUDAVISION_UNROLL
    for (int w = 0; w < piece_words; ++w) {
      pairs[2 * w] +=
          select_bytes(row.words[w], 0, 0x4140) + select_bytes(other.words[w], 0, 0x4140);
      pairs[2 * w + 1] +=
          select_bytes(row.words[w], 0, 0x4342) + select_bytes(other.words[w], 0, 0x4342);
    }
  }
  CUDAVISION_HOST_DEVICE void move(const Piece& gained, const Piece& lost) {
    CUDAVISION_UNROLL
    for (int w = 0; w < piece_words; ++w) {
      const std::uint32_t gain = gained.words[w], loss = lost.words[w];
      pairs[2 * w] += select_bytes(gain, 0, 0x4140) - select_bytes(loss, 0, 0x4140);
      pairs[2 * w + 1] += select_bytes(gain, 0, 0x4342) - select_bytes(loss, 0, 0x4342);
    }
  }
  CUDAVISION_HOST_DEVICE std::uint32_t total() const {
    std::uint32_t sum = 0;
    CUDAVISION_UNROLL
    for (const std::uint32_t pair : pairs)
      sum = dot_low_bytes(pair, 0x0101, sum);
    return sum;
  }
};

/// The weights by which quads are added up and taken away. With a scale, all sums are multiplied by
/// 2^scale, which costs nothing.
struct QuadWeights {
  static constexpr int max_scale = 7;
  std::uint32_t gained[4]{}, lost[4]{};

  QuadWeights() = default;
  explicit QuadWeights(int scale) {
    for (int i = 0; i < 4; ++i) {
      gained[i] = (0x01010101u << scale) & first_bytes(i + 1);
      lost[i] = (0x01010101u * (0x100u - (1u << scale))) & first_bytes(i + 1);
    }
  }
  CUDAVISION_HOST_DEVICE static constexpr std::uint32_t first_bytes(int count) {
    return ~0u >> (32 - 8 * count);
  }
};

/// The sums of 16 neighbouring columns of bytes over the rows of a window, in quads: each column's
/// sum includes those of the columns before it in the same word. So a dot product of four bytes
/// with weights adds a row to a sum, and the prefix sums of the quads do not depend on each other.
template <bool kSquared>
struct QuadColumns {
  std::uint32_t sums[piece_bytes]{};
  std::uint32_t squares[kSquared ? piece_bytes : 1]{};

  /// Adds sums of single columns.
  CUDAVISION_HOST_DEVICE void add_sums(const std::uint32_t (&from)[piece_bytes], int scale) {
    add_columns(from, sums, scale);
  }
  CUDAVISION_HOST_DEVICE void add_squares(const std::uint32_t (&from)[piece_bytes]) {
    add_columns(from, squares, 0);
  }
  CUDAVISION_HOST_DEVICE void add(const Piece& row, const QuadWeights& weights) {
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i) {
      sums[i] = dot_bytes(row.words[i / 4], weights.gained[i % 4], sums[i]);
      if constexpr (kSquared)
        squares[i] = dot_squares(row, i, squares[i]);
    }
  }
  CUDAVISION_HOST_DEVICE void take(const Piece& row, const QuadWeights& weights) {
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i) {
      sums[i] = dot_signed_bytes(row.words[i / 4], weights.lost[i % 4], sums[i]);
      if constexpr (kSquared)
        squares[i] -= dot_squares(row, i, 0);
    }
  }
  CUDAVISION_HOST_DEVICE void move(const Piece& gained, const Piece& lost,
                                   const QuadWeights& weights) {
    add(gained, weights);
    take(lost, weights);
  }

  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum total() const {
    return total_of(sums);
  }
  CUDAVISION_HOST_DEVICE void add_up(std::uint32_t before, std::uint32_t (&to)[piece_bytes]) const {
    add_up_quads(before, sums, to);
  }
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum square_total() const {
    return total_of(squares);
  }
  CUDAVISION_HOST_DEVICE void add_up_squares(std::uint32_t before,
                                             std::uint32_t (&to)[piece_bytes]) const {
    add_up_quads(before, squares, to);
  }

 private:
  CUDAVISION_HOST_DEVICE static void add_columns(const std::uint32_t (&from)[piece_bytes],
                                                 std::uint32_t (&to)[piece_bytes], int scale) {
    std::uint32_t quad = 0;
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i) {
      quad = (i % 4 == 0 ? 0 : quad) + from[i];
      to[i] += quad << scale;
    }
  }
  CUDAVISION_HOST_DEVICE static std::uint32_t total_of(const std::uint32_t (&quads)[piece_bytes]) {
    return quads[3] + quads[7] + quads[11] + quads[15];
  }
  CUDAVISION_HOST_DEVICE static void add_up_quads(std::uint32_t before,
                                                  const std::uint32_t (&quads)[piece_bytes],
                                                  std::uint32_t (&to)[piece_bytes]) {
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i) {
      to[i] = before + quads[i];
      if (i % 4 == 3)
        before = to[i];
    }
  }
  CUDAVISION_HOST_DEVICE static std::uint32_t dot_squares(const Piece& row, int i,
                                                          std::uint32_t sum) {
    const std::uint32_t word = row.words[i / 4];
    return dot_bytes(word & QuadWeights::first_bytes(i % 4 + 1), word, sum);
  }
};

/// The sums of a piece's columns over the rows of a window, one by one.
template <class Value, bool kSquared>
struct SingleColumns {
  static constexpr int kColumns = pixels_of_piece<Value>;
  using Square = SquareColumn<Value>;
  std::uint32_t sums[kColumns]{};
  Square squares[kSquared ? kColumns : 1]{};

  CUDAVISION_HOST_DEVICE void add_sums(const std::uint32_t (&from)[kColumns], int) {
    CUDAVISION_UNROLL
    for (int i = 0; i < kColumns; ++i)
      sums[i] += from[i];
  }
  CUDAVISION_HOST_DEVICE void add_squares(const Square (&from)[kColumns]) {
    CUDAVISION_UNROLL
    for (int i = 0; i < kColumns; ++i)
      squares[i] += from[i];
  }
  CUDAVISION_HOST_DEVICE void add(const Piece& row, const QuadWeights& weights) {
    move(row, {}, weights);
  }
  CUDAVISION_HOST_DEVICE void take(const Piece& row, const QuadWeights& weights) {
    move({}, row, weights);
  }
  CUDAVISION_HOST_DEVICE void move(const Piece& gained, const Piece& lost, const QuadWeights&) {
    CUDAVISION_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      const std::uint32_t gain = value_in(gained, i), loss = value_in(lost, i);
      sums[i] += gain - loss;
      if constexpr (kSquared)
        squares[i] += static_cast<Square>(gain) * gain - static_cast<Square>(loss) * loss;
    }
  }

  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum total() const {
    return total_of<Sum>(sums);
  }
  template <class Sum>
  CUDAVISION_HOST_DEVICE void add_up(Sum before, Sum (&to)[kColumns]) const {
    add_up_entries(before, sums, to);
  }
  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum square_total() const {
    return total_of<Sum>(squares);
  }
  template <class Sum>
  CUDAVISION_HOST_DEVICE void add_up_squares(Sum before, Sum (&to)[kColumns]) const {
    add_up_entries(before, squares, to);
  }

 private:
  CUDAVISION_HOST_DEVICE static std::uint32_t value_in(const Piece& piece, int i) {
    return sizeof(Value) == 1 ? byte_of(piece.words[i / 4], i % 4) : half_of(piece, i);
  }
  template <class Sum, class Entry>
  CUDAVISION_HOST_DEVICE static Sum total_of(const Entry (&entries)[kColumns]) {
    Sum sum = 0;
    CUDAVISION_UNROLL
    for (const Entry entry : entries)
      sum += entry;
    return sum;
  }
  template <class Sum, class Entry>
  CUDAVISION_HOST_DEVICE static void add_up_entries(Sum before, const Entry (&entries)[kColumns],
                                                    Sum (&to)[kColumns]) {
    CUDAVISION_UNROLL
    for (int i = 0; i < kColumns; ++i)
      to[i] = before += entries[i];
  }
};

}  // namespace cudavision::localstatistics
