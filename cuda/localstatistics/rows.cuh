// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Reads pieces of a picture, 16 bytes at addresses divisible by 16, with zeros beyond its edges.

#include "cuda/localstatistics/windowcolumns.h"

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

  /// The same, or 0 where there is no such row.
  template <class Value>
  __device__ std::uint32_t pixel_if(int y, int x) const {
    return has_row(y) ? pixel<Value>(row(y), x) : 0;
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

/// The place of an aligned piece in each row.
struct PiecePlace {
  int begin;    // the byte of a row at which the piece begins
  bool inside;  // It has bytes of the row only.
  bool ragged;  // A piece of some lane of the warp has bytes of the row and others.

  __device__ PiecePlace(const PictureRows& picture, int begin) : begin(begin) {
    const int row_bytes = picture.row_bytes();
    inside = begin >= 0 && begin <= row_bytes - piece_bytes;
    ragged = __any_sync(~0u, !inside && begin > -piece_bytes && begin < row_bytes);
  }
};

template <class Value>
__device__ Piece as_values(const PictureRows& picture, const Piece& piece) {
  return sizeof(Value) == 2 && picture.convert
             ? values_of_words(piece, picture.shift, picture.largest)
             : piece;
}

/// Returns the values of a piece, or zeros for those beyond the picture.
template <class Value>
__device__ Piece values_at(const PictureRows& picture, const std::uint8_t* row, bool exists,
                           const PiecePlace& place) {
  return as_values<Value>(
      picture, place.ragged
                   ? piece_with_zeros(row, exists ? place.begin : -piece_bytes, picture.row_bytes())
                   : piece_if(exists && place.inside, row + place.begin));
}

/// Loads the row that enters the windows and the row that leaves them, at one place, as the windows
/// move down row by row.
template <class Value>
class MovingRows {
 public:
  Piece gained{}, lost{};

  /// The windows move to row y first.
  __device__ MovingRows(const PictureRows& picture, const PiecePlace& place, int y, int radius)
      : picture_(picture), place_(place), radius_(radius), gained_row_(picture.row(y + radius)) {}

  /// Loads what windows gain and lose that move to row y, the one after the last.
  __device__ void load(int y) {
    const std::uint8_t* const lost_row = gained_row_ - picture_.pitch * (2 * radius_ + 1);
    gained = values_at<Value>(picture_, gained_row_, y + radius_ < picture_.height, place_);
    lost = values_at<Value>(picture_, lost_row, y > radius_ && y < picture_.height, place_);
    gained_row_ += picture_.pitch;
  }

 private:
  const PictureRows& picture_;
  const PiecePlace place_;
  int radius_;
  const std::uint8_t* gained_row_;
};

/// Reads four pixels from an aligned word.
template <class Value>
__device__ void load_aligned_pixels(const PictureRows& picture, const std::uint8_t* from,
                                    std::uint32_t (&pixels)[4]) {
  if constexpr (sizeof(Value) == 1) {
    const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(from);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pixels[i] = byte_of(word, i);
  } else {
    const uint2 words = *reinterpret_cast<const uint2*>(from);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pixels[i] = sample_value((i < 2 ? words.x : words.y) >> (16 * (i % 2)) & 0xffff,
                               picture.shift, picture.largest);
  }
}

/// Calls add(row, other) for rows `begin` to `end` − 1 as far as the picture has them. A row may be
/// zeros instead. The loads of kBatch rows are on their way before the first of them is used.
template <class Value, int kBatch, class Add>
__device__ void add_rows(const PictureRows& picture, const PiecePlace& place, int begin, int end,
                         const Add& add) {
  begin = max(begin, 0);
  end = min(end, picture.height);
  const std::uint8_t* row = picture.row(begin);
  if (place.ragged) {
#pragma unroll 1
    for (int y = begin; y < end; ++y, row += picture.pitch)
      add(values_at<Value>(picture, row, true, place), {});
    return;
  }
#pragma unroll 1
  for (int y = begin; y < end; y += kBatch) {
    Piece pieces[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i, row += picture.pitch)
      pieces[i] = piece_if(place.inside && y + i < end, row + place.begin);
#pragma unroll
    for (int i = 0; i < kBatch; i += 2)
      add(as_values<Value>(picture, pieces[i]), as_values<Value>(picture, pieces[i + 1]));
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
