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

/// The sums of a piece's columns over the rows of a window. Packed sums have 16 bits, which suffice
/// for up to 257 rows of bytes.
template <class Value, bool kPacked, bool kSquared>
struct WindowColumns;

/// Adds byte by byte what a window gains and takes away what it loses.
template <class Square, int kColumns>
CUDAVISION_HOST_DEVICE inline void move_squared_bytes(const Piece& gained, const Piece& lost,
                                                      Square (&squares)[kColumns]) {
  CUDAVISION_UNROLL
  for (int i = 0; i < kColumns; ++i) {
    const std::uint32_t mask = 0xffu << (8 * (i % 4));
    squares[i] = dot_bytes(gained.words[i / 4] & mask, gained.words[i / 4], squares[i]) -
                 dot_bytes(lost.words[i / 4] & mask, lost.words[i / 4], 0);
  }
}

template <class Sum, class Entry, int kColumns>
CUDAVISION_HOST_DEVICE inline Sum sum_of(const Entry (&entries)[kColumns]) {
  Sum sum = 0;
  CUDAVISION_UNROLL
  for (const Entry entry : entries)
    sum += entry;
  return sum;
}

/// Makes sums[i] the sum of `before` and of entries 0 to i.
template <class Sum, class Entry, int kColumns>
CUDAVISION_HOST_DEVICE inline void add_up_entries(Sum before, const Entry (&entries)[kColumns],
                                                  Sum (&sums)[kColumns]) {
  CUDAVISION_UNROLL
  for (int i = 0; i < kColumns; ++i)
    sums[i] = before += entries[i];
}

/// Returns sum plus the halves of `pair` whose weights are 1.
CUDAVISION_HOST_DEVICE inline std::uint32_t add_halves(std::uint32_t pair, std::uint32_t weights,
                                                       std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp2a_lo(pair, weights, sum);
#else
  return sum + (pair & 0xffff) * (weights & 0xff) + (pair >> 16) * (weights >> 8 & 0xff);
#endif
}

template <bool kSquared>
struct WindowColumns<std::uint8_t, true, kSquared> {
  std::uint32_t pairs[2 * piece_words]{};  // of neighbouring columns
  std::uint32_t squares[kSquared ? piece_bytes : 1]{};

  /// Adds to the sums.
  CUDAVISION_HOST_DEVICE void add_sums(const std::uint32_t (&sums)[piece_bytes]) {
    CUDAVISION_UNROLL
    for (int i = 0; i < 2 * piece_words; ++i)
      pairs[i] += sums[2 * i] + (sums[2 * i + 1] << 16);
  }
  CUDAVISION_HOST_DEVICE const std::uint32_t (&sum_words() const)[2 * piece_words] { return pairs; }
  /// Adds two rows at once.
  CUDAVISION_HOST_DEVICE void add(const Piece& row, const Piece& other) {
    CUDAVISION_UNROLL
    for (int w = 0; w < piece_words; ++w) {
      pairs[2 * w] +=
          select_bytes(row.words[w], 0, 0x4140) + select_bytes(other.words[w], 0, 0x4140);
      pairs[2 * w + 1] +=
          select_bytes(row.words[w], 0, 0x4342) + select_bytes(other.words[w], 0, 0x4342);
    }
    if constexpr (kSquared) {
      move_squared_bytes(row, {}, squares);
      move_squared_bytes(other, {}, squares);
    }
  }
  CUDAVISION_HOST_DEVICE void move(const Piece& gained, const Piece& lost) {
    CUDAVISION_UNROLL
    for (int w = 0; w < piece_words; ++w) {
      const std::uint32_t gain = gained.words[w], loss = lost.words[w];
      pairs[2 * w] += select_bytes(gain, 0, 0x4140) - select_bytes(loss, 0, 0x4140);
      pairs[2 * w + 1] += select_bytes(gain, 0, 0x4342) - select_bytes(loss, 0, 0x4342);
    }
    if constexpr (kSquared)
      move_squared_bytes(gained, lost, squares);
  }

  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum total() const {
    std::uint32_t sum = 0;
    CUDAVISION_UNROLL
    for (const std::uint32_t pair : pairs)
      sum = add_halves(pair, 0x0101, sum);
    return sum;
  }
  template <class Sum>
  CUDAVISION_HOST_DEVICE void add_up(Sum before, Sum (&sums)[piece_bytes]) const {
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i)
      sums[i] = before = add_halves(pairs[i / 2], i % 2 == 0 ? 0x0001 : 0x0100, before);
  }
  template <class Square>
  CUDAVISION_HOST_DEVICE Square square_total() const {
    return sum_of<std::uint32_t>(squares);
  }
  template <class Square>
  CUDAVISION_HOST_DEVICE void add_up_squares(Square before, Square (&sums)[piece_bytes]) const {
    add_up_entries(before, squares, sums);
  }
};

/// Columns whose sums are words of their own.
template <class Entry, int kColumns, bool kSquared>
struct UnpackedColumns {
  std::uint32_t sums[kColumns]{};
  Entry squares[kSquared ? kColumns : 1]{};

  CUDAVISION_HOST_DEVICE void add_sums(const std::uint32_t (&from)[kColumns]) {
    CUDAVISION_UNROLL
    for (int i = 0; i < kColumns; ++i)
      sums[i] += from[i];
  }
  CUDAVISION_HOST_DEVICE const std::uint32_t (&sum_words() const)[kColumns] { return sums; }

  template <class Sum>
  CUDAVISION_HOST_DEVICE Sum total() const {
    return sum_of<Sum>(sums);
  }
  template <class Sum>
  CUDAVISION_HOST_DEVICE void add_up(Sum before, Sum (&to)[kColumns]) const {
    add_up_entries(before, sums, to);
  }
  template <class Square>
  CUDAVISION_HOST_DEVICE Square square_total() const {
    return sum_of<Square>(squares);
  }
  template <class Square>
  CUDAVISION_HOST_DEVICE void add_up_squares(Square before, Square (&to)[kColumns]) const {
    add_up_entries(before, squares, to);
  }
};

template <bool kSquared>
struct WindowColumns<std::uint8_t, false, kSquared>
    : UnpackedColumns<std::uint32_t, piece_bytes, kSquared> {
  CUDAVISION_HOST_DEVICE void add(const Piece& row, const Piece& other) {
    move(row, {});
    move(other, {});
  }
  CUDAVISION_HOST_DEVICE void move(const Piece& gained, const Piece& lost) {
    CUDAVISION_UNROLL
    for (int i = 0; i < piece_bytes; ++i)
      this->sums[i] += byte_of(gained.words[i / 4], i % 4) - byte_of(lost.words[i / 4], i % 4);
    if constexpr (kSquared)
      move_squared_bytes(gained, lost, this->squares);
  }
};

template <bool kPacked, bool kSquared>
struct WindowColumns<std::uint16_t, kPacked, kSquared>
    : UnpackedColumns<std::uint64_t, pixels_of_piece<std::uint16_t>, kSquared> {
  CUDAVISION_HOST_DEVICE void add(const Piece& row, const Piece& other) {
    move(row, {});
    move(other, {});
  }
  CUDAVISION_HOST_DEVICE void move(const Piece& gained, const Piece& lost) {
    CUDAVISION_UNROLL
    for (int i = 0; i < pixels_of_piece<std::uint16_t>; ++i) {
      const std::uint32_t gain = half_of(gained, i), loss = half_of(lost, i);
      this->sums[i] += gain - loss;
      if constexpr (kSquared)
        this->squares[i] += std::uint64_t{gain} * gain - std::uint64_t{loss} * loss;
    }
  }
};

}  // namespace cudavision::localstatistics
