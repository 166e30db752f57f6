// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Reads 16 bytes at any place of a picture, with zeros beyond its edges.

#include "cuda/localstatistics/corners.h"

namespace cudavision::localstatistics {

/// The picture, as kernels read it.
struct PictureRows {
  const std::uint8_t* data;
  std::int64_t pitch;  // a multiple of piece_bytes
  int width, height;
  int sample_bytes;
  // The others concern samples of two bytes only.
  bool convert;           // some word is not its value
  int shift;              // from a value to its word
  std::uint32_t largest;  // value

  __device__ int row_bytes() const { return width * sample_bytes; }

  __device__ bool has_row(int y) const { return y >= 0 && y < height; }
  __device__ const std::uint8_t* row(int y) const { return data + pitch * y; }

  template <class Value>
  __device__ std::uint32_t pixel(const std::uint8_t* row, int x) const {
    if constexpr (sizeof(Value) == 1)
      return row[x];
    // Words may lie at odd addresses.
    const std::uint8_t* from = row + 2 * std::int64_t{x};
    return sample_value(from[0] | static_cast<std::uint32_t>(from[1]) << 8, shift, largest);
  }
};

namespace {

__device__ inline Piece whole_piece(const std::uint8_t* from) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  return {words.x, words.y, words.z, words.w};
}

/// Returns the aligned piece that begins at byte `at` of a row, with zeros for bytes before the row
/// and after it.
__device__ inline Piece piece_with_zeros(const std::uint8_t* row, int at, int row_bytes) {
  if (at >= 0 && at <= row_bytes - piece_bytes)
    return whole_piece(row + at);
  Piece piece{};
  if (at <= -piece_bytes || at >= row_bytes)
    return piece;
  std::uint32_t* const w = piece.words;
#pragma unroll 1
  for (int i = at + piece_bytes - 1; i >= at; --i) {
    w[3] = shift_right(w[2], w[3], 24);
    w[2] = shift_right(w[1], w[2], 24);
    w[1] = shift_right(w[0], w[1], 24);
    w[0] = w[0] << 8 | (i >= 0 && i < row_bytes ? row[i] : 0u);
  }
  return piece;
}

/// Returns a piece, or zeros if it is not wanted, without a branch.
__device__ inline Piece piece_if(bool wanted, const std::uint8_t* from) {
  Piece piece;
  asm volatile(
      "{\n\t.reg .pred wanted;\n\t"
      "setp.ne.s32 wanted, %5, 0;\n\t"
      "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\tmov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
      "@wanted ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\n\t}"
      : "=&r"(piece.words[0]), "=&r"(piece.words[1]), "=&r"(piece.words[2]), "=&r"(piece.words[3])
      : "l"(from), "r"(static_cast<int>(wanted)));
  return piece;
}

/// The place of the 16 bytes at byte `at` of each row: a part of two neighbouring aligned pieces.
struct PiecePlace {
  int begin;  // the byte of a row at which the pieces begin
  unsigned skew;
  bool left_inside, right_inside;
  bool ragged;  // A piece of some lane of the warp has bytes of the row and others.

  __device__ PiecePlace(const PictureRows& picture, int at) {
    skew = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(picture.data) + at) % piece_bytes;
    begin = at - static_cast<int>(skew);
    const int row_bytes = picture.row_bytes();
    const auto inside = [&](int first) { return first >= 0 && first <= row_bytes - piece_bytes; };
    const auto outside = [&](int first) { return first <= -piece_bytes || first >= row_bytes; };
    left_inside = inside(begin);
    right_inside = inside(begin + piece_bytes) && skew != 0;
    ragged = __any_sync(~0u, !(inside(begin) || outside(begin)) ||
                                 !(inside(begin + piece_bytes) || outside(begin + piece_bytes)));
  }

  /// Returns the pieces of a row that exists, or zeros.
  __device__ PiecePair load(const std::uint8_t* row, bool exists) const {
    return {piece_if(exists && left_inside, row + begin),
            piece_if(exists && right_inside, row + begin + piece_bytes)};
  }
  /// The same, also if ragged.
  __device__ PiecePair load_ragged(const std::uint8_t* row, bool exists, int row_bytes) const {
    const int nowhere = -2 * piece_bytes;
    return {piece_with_zeros(row, exists ? begin : nowhere, row_bytes),
            piece_with_zeros(row, exists ? begin + piece_bytes : nowhere, row_bytes)};
  }
};

/// Returns the values of the 16 bytes at a place of a row.
template <class Value>
__device__ Piece values_at(const PictureRows& picture, const std::uint8_t* row,
                           const PiecePlace& place) {
  Piece piece[1];
  if (place.skew == 0 && !place.ragged) {
    piece[0] = piece_if(place.left_inside, row + place.begin);
  } else {
    const PiecePair pair[] = {place.ragged ? place.load_ragged(row, true, picture.row_bytes())
                                           : place.load(row, true)};
    take_pieces(pair, place.skew, piece);
  }
  return sizeof(Value) == 2 && picture.convert
             ? values_of_words(piece[0], picture.shift, picture.largest)
             : piece[0];
}

/// Adds up rows `begin` to `end` − 1 as far as the picture has them.
template <class Value, class Sums>
__device__ void add_rows(const PictureRows& picture, const PiecePlace& place, int begin, int end,
                         Sums& sums) {
  begin = max(begin, 0);
  end = min(end, picture.height);
  if (place.ragged || place.skew != 0) {
#pragma unroll 1
    for (int y = begin; y < end; ++y)
      sums.add(values_at<Value>(picture, picture.row(y), place));
    return;
  }
  const std::uint8_t* from = picture.row(begin) + place.begin;
#pragma unroll 8
  for (int y = begin; y < end; ++y, from += picture.pitch) {
    Piece piece = piece_if(place.left_inside, from);
    if (sizeof(Value) == 2 && picture.convert)
      piece = values_of_words(piece, picture.shift, picture.largest);
    sums.add(piece);
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
