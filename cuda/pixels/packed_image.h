// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A picture as rows of packs, and the iteration of a thread over packs. A pack is a few adjacent
// pixels that a thread loads and stores together (pixel_pack.h).

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// One plane of the input and of the output. With 32-bit pitches, one instruction multiplies the
/// pitch and adds the product to an address.
struct PlanePair {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  int in_pitch = 0;
  int out_pitch = 0;

  CUDAVISION_HOST_DEVICE const std::uint8_t* in_row(int y) const {
    return in + static_cast<std::int64_t>(y) * in_pitch;
  }
  CUDAVISION_HOST_DEVICE std::uint8_t* out_row(int y) const {
    return out + static_cast<std::int64_t>(y) * out_pitch;
  }
};

/// A packed image: row y holds the packs y·per_row to (y + 1)·per_row − 1.
struct PackedImage {
  PlanePair planes[3];             ///< one for all channels, or one each for red, green and blue
  std::uint32_t count = 0;         ///< packs in the picture, below 2^30
  int rows = 0;                    ///< rows of packs
  int per_row = 1;                 ///< packs per row
  int width = 0;                   ///< pixels per row
  int row_bytes = 0;               ///< bytes per row, in each plane
  int shift = 0;                   ///< unused low bits of two-byte samples
  std::uint32_t largest = 0;       ///< maximum value of two-byte samples
  std::uint32_t weights_low = 0;   ///< luminance weights of a pixel's four bytes, mod 256, packed
  std::uint32_t weights_high = 0;  ///< the same weights, div 256
  std::uint32_t keep = 0;          ///< mask of a pixel's bytes that are not colours
  int table_of[4] = {};            ///< index of the table for each byte of a pixel, 0 to 2
  int offset[3] = {};              ///< bytes; only for packs of scattered samples
  int step[3] = {};                ///< bytes; only for packs of scattered samples
};

struct PackStride {
  std::uint32_t packs = 0;
  int rows = 0;
  int rest = 0;

  PackStride() = default;
  CUDAVISION_HOST_DEVICE PackStride(std::uint32_t stride, int per_row)
      : packs(stride),
        rows(static_cast<int>(stride / per_row)),
        rest(static_cast<int>(stride % per_row)) {}
};

enum class Rows {
  ragged,  ///< the last pack of a row may lack pixels
  whole,   ///< every pack is full
  linear,  ///< every pack is full and the rows are contiguous, forming one long row
};

/// The position of a pack. The constructor divides once, so that advance() only needs to add.
template <Rows kRows>
struct PackCursor {
  int y;
  int x;  ///< index of the pack in its row

  CUDAVISION_HOST_DEVICE PackCursor(const PackedImage& picture, std::uint32_t pack)
      : y(static_cast<int>(pack / picture.per_row)), x(static_cast<int>(pack % picture.per_row)) {}

  CUDAVISION_HOST_DEVICE bool inside(const PackedImage& picture) const { return y < picture.rows; }

  CUDAVISION_HOST_DEVICE void advance(const PackedImage& picture, const PackStride& stride) {
    y += stride.rows;
    x += stride.rest;
    if (x >= picture.per_row) {
      x -= picture.per_row;
      ++y;
    }
  }
};

template <>
struct PackCursor<Rows::linear> {
  static constexpr int y = 0;
  std::uint32_t x;

  CUDAVISION_HOST_DEVICE PackCursor(const PackedImage&, std::uint32_t pack) : x(pack) {}
  CUDAVISION_HOST_DEVICE bool inside(const PackedImage& picture) const { return x < picture.count; }
  CUDAVISION_HOST_DEVICE void advance(const PackedImage&, const PackStride& stride) {
    x += stride.packs;
  }
};

CUDAVISION_HOST_DEVICE inline std::int64_t row_offset(std::int64_t pack, int bytes) {
  return pack * bytes;
}

}  // namespace cudavision
