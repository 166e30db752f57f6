// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// One lane of the CUDA kernel adds up terms of 16 neighbouring bytes of a row. All of this runs on
// the host as well, where the tests compare it with plain code for one pixel at a time.
//
// A window that moves down by a row and one that moves right by a column differ from the last one
// by whole rows and columns. A window that does both differs by its four corners alone: with p(x,
// y) = 0 outside the picture and the window's sum S(x, y),
//   (S(x, y) − S(x, y − 1)) − (S(x − 1, y) − S(x − 1, y − 1))
//     = p(x + r, y + r) − p(x + r, y − r − 1) − p(x − r − 1, y + r) + p(x − r − 1, y − r − 1),
// and the same holds for squares. The sums over x of these terms say what the windows of a row gain
// over those of the row above.

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

/// Returns the low word of high:low shifted right by `bits`, which is less than 32.
CUDAVISION_HOST_DEVICE inline std::uint32_t shift_right(std::uint32_t low, std::uint32_t high,
                                                        unsigned bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> bits);
#endif
}

/// Two neighbouring pieces of a row.
struct PiecePair {
  Piece left, right;
};

/// Makes each piece the 16 bytes that begin `skew` bytes, fewer than 16, after the beginning of a
/// pair.
template <int kCount>
CUDAVISION_HOST_DEVICE inline void take_pieces(const PiecePair (&pairs)[kCount], unsigned skew,
                                               Piece (&pieces)[kCount]) {
  const unsigned bits = skew % 4 * 8;
  const auto take = [&](auto first) {
    CUDAVISION_UNROLL
    for (int p = 0; p < kCount; ++p)
      CUDAVISION_UNROLL
    for (int w = 0; w < piece_words; ++w) {
      constexpr int begin = decltype(first)::value;
      const auto word = [&](int number) {
        return number < piece_words ? pairs[p].left.words[number]
                                    : pairs[p].right.words[number - piece_words];
      };
      pieces[p].words[w] = shift_right(word(begin + w), word(begin + w + 1), bits);
    }
  };
  // All lanes of a warp have the same skew, and each case names its registers.
  switch (skew / 4) {
    case 0:
      take(std::integral_constant<int, 0>());
      break;
    case 1:
      take(std::integral_constant<int, 1>());
      break;
    case 2:
      take(std::integral_constant<int, 2>());
      break;
    default:
      take(std::integral_constant<int, 3>());
      break;
  }
}

/// Converts stored words of 16 bits, two in each word, to values.
CUDAVISION_HOST_DEVICE inline Piece values_of_words(Piece piece, int shift, std::uint32_t largest) {
  CUDAVISION_UNROLL
  for (std::uint32_t& word : piece.words)
    word = sample_value(word & 0xffff, shift, largest) | sample_value(word >> 16, shift, largest)
                                                             << 16;
  return piece;
}

/// Returns sum minus the bytes of `bytes` whose weights are 1; weights has a 0 or a 1 in each byte.
CUDAVISION_HOST_DEVICE inline std::uint32_t subtract_bytes(std::uint32_t bytes,
                                                           std::uint32_t weights,
                                                           std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  const std::uint32_t negative = weights * 0xff;
  std::uint32_t result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(negative), "r"(sum));
  return result;
#else
  return sum - dot_bytes(bytes, weights, 0);
#endif
}

/// Converts the difference of two sums modulo 2^32, which fits 32 signed bits, to that of two sums
/// of the type Sum.
template <class Sum>
CUDAVISION_HOST_DEVICE inline Sum extended(std::uint32_t difference) {
  return static_cast<Sum>(
      static_cast<std::make_signed_t<Sum>>(static_cast<std::int32_t>(difference)));
}

/// The pieces at the corners of as many windows: those that the windows gain and those that they
/// lose, at their right ends and before their left ends.
struct Corners {
  Piece gained_right, lost_right, gained_left, lost_left;
};

CUDAVISION_HOST_DEVICE inline Corners values_of_words(const Corners& corners, int shift,
                                                      std::uint32_t largest) {
  return {values_of_words(corners.gained_right, shift, largest),
          values_of_words(corners.lost_right, shift, largest),
          values_of_words(corners.gained_left, shift, largest),
          values_of_words(corners.lost_left, shift, largest)};
}

/// The corners of two neighbouring pixels that are added, and those that are taken away: a byte for
/// each corner, the first pixel's in the low half.
struct CornerPairs {
  std::uint32_t plus, minus;
};

/// i is the number of the first pixel, which is even.
CUDAVISION_HOST_DEVICE inline CornerPairs corner_pairs(const Corners& corners, int i) {
  const int w = i / 4;
  const std::uint32_t selector = i % 4 == 0 ? 0x5140 : 0x7362;  // two bytes of each word
  return {select_bytes(corners.gained_right.words[w], corners.lost_left.words[w], selector),
          select_bytes(corners.lost_right.words[w], corners.gained_left.words[w], selector)};
}

/// Makes sums[i] the sum of the terms of pixels 0 to i.
template <class Sum>
CUDAVISION_HOST_DEVICE inline void add_up_bytes(const Corners& corners, Sum* sums) {
  Sum running = 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < piece_bytes; i += 2) {
    const auto [plus, minus] = corner_pairs(corners, i);
    CUDAVISION_UNROLL
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t weights = k == 0 ? 0x0101 : 0x01010101;
      if constexpr (sizeof(Sum) == 4)
        sums[i + k] = dot_bytes(plus, weights, subtract_bytes(minus, weights, running));
      else
        sums[i + k] =
            running + extended<Sum>(dot_bytes(plus, weights, subtract_bytes(minus, weights, 0)));
    }
    running = sums[i + 1];
  }
}

/// The same for the squares of the pixels.
template <class Square>
CUDAVISION_HOST_DEVICE inline void add_up_squared_bytes(const Corners& corners, Square* squares) {
  Square running = 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < piece_bytes; i += 2) {
    const auto [plus, minus] = corner_pairs(corners, i);
    CUDAVISION_UNROLL
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t mask = k == 0 ? 0xffff : 0xffffffff;
      if constexpr (sizeof(Square) == 4)
        squares[i + k] = dot_bytes(plus & mask, plus, running) - dot_bytes(minus & mask, minus, 0);
      else
        squares[i + k] = running + extended<Square>(dot_bytes(plus & mask, plus, 0) -
                                                    dot_bytes(minus & mask, minus, 0));
    }
    running = squares[i + 1];
  }
}

CUDAVISION_HOST_DEVICE inline std::uint32_t half_of(const Piece& piece, int number) {
  return piece.words[number / 2] >> (16 * (number % 2)) & 0xffff;
}

template <class Sum>
CUDAVISION_HOST_DEVICE inline void add_up_words(const Corners& corners, Sum* sums) {
  Sum running = 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < pixels_of_piece<std::uint16_t>; ++i)
    sums[i] = running +=
        extended<Sum>(half_of(corners.gained_right, i) + half_of(corners.lost_left, i) -
                      half_of(corners.lost_right, i) - half_of(corners.gained_left, i));
}

CUDAVISION_HOST_DEVICE inline void add_up_squared_words(const Corners& corners,
                                                        std::uint64_t* squares) {
  const auto square = [](std::uint32_t value) { return std::uint64_t{value} * value; };
  std::uint64_t running = 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < pixels_of_piece<std::uint16_t>; ++i)
    squares[i] = running +=
        square(half_of(corners.gained_right, i)) + square(half_of(corners.lost_left, i)) -
        square(half_of(corners.lost_right, i)) - square(half_of(corners.gained_left, i));
}

/// The sums of a piece's columns over some rows, and of their squares.
template <class Value, class Square>
struct ColumnSums;

template <class Square>
struct ColumnSums<std::uint8_t, Square> {
  static constexpr bool squared = !std::is_void_v<Square>;
  /// flush() must be called after at most so many rows.
  static constexpr int max_rows = 257;

  std::uint32_t sums[piece_bytes]{};
  std::uint32_t squares[squared ? piece_bytes : 1]{};
  std::uint32_t pairs[2 * piece_words]{};  // sums of 16 bits, of even and of odd columns

  CUDAVISION_HOST_DEVICE void add(const Piece& row) {
    CUDAVISION_UNROLL
    for (int w = 0; w < piece_words; ++w) {
      const std::uint32_t word = row.words[w];
      pairs[2 * w] += word & 0x00ff00ff;
      pairs[2 * w + 1] += word >> 8 & 0x00ff00ff;
      if constexpr (squared) {
        CUDAVISION_UNROLL
        for (int i = 0; i < 4; ++i)
          squares[4 * w + i] = dot_bytes(word & 0xffu << (8 * i), word, squares[4 * w + i]);
      }
    }
  }

  CUDAVISION_HOST_DEVICE void flush() {
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i)
      sums[i] += pairs[i / 4 * 2 + i % 2] >> (i % 4 / 2 * 16) & 0xffff;
    CUDAVISION_UNROLL
    for (std::uint32_t& pair : pairs)
      pair = 0;
  }
};

template <class Square>
struct ColumnSums<std::uint16_t, Square> {
  static constexpr bool squared = !std::is_void_v<Square>;
  static constexpr int max_rows = 257;

  std::uint32_t sums[pixels_of_piece<std::uint16_t>]{};
  std::uint64_t squares[squared ? pixels_of_piece<std::uint16_t> : 1]{};

  CUDAVISION_HOST_DEVICE void add(const Piece& row) {
    CUDAVISION_UNROLL
    for (int i = 0; i < pixels_of_piece<std::uint16_t>; ++i) {
      const std::uint32_t value = half_of(row, i);
      sums[i] += value;
      if constexpr (squared)
        squares[i] += std::uint64_t{value} * value;
    }
  }
  CUDAVISION_HOST_DEVICE void flush() {}
};

}  // namespace cudavision::localstatistics
