// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A picture as rows of groups of neighbouring pixels, and the steps of a thread from one of its
// groups to the next. A thread loads and stores the pixels of a group together (pixel_pack.h).

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// One plane of the input and of the output. Pitches have 32 bits, because one instruction
/// multiplies and adds such a number to an address.
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

/// The picture as groups: row y holds the groups y·per_row to (y + 1)·per_row − 1.
struct PackedImage {
  PlanePair planes[3];             ///< one for all, or one each for red, green and blue
  std::uint32_t count = 0;         ///< groups in the picture, below 2^30
  int rows = 0;                    ///< of groups
  int per_row = 1;                 ///< groups in a row
  int width = 0;                   ///< pixels in a row
  int row_bytes = 0;               ///< bytes in a row, of each plane
  int shift = 0;                   ///< of 16-bit samples
  std::uint32_t largest = 0;       ///< of 16-bit samples
  std::uint32_t weights_low = 0;   ///< luminance weights of a pixel's four bytes, mod 256, packed
  std::uint32_t weights_high = 0;  ///< the same, div 256
  std::uint32_t keep = 0;          ///< mask of a pixel's bytes that are not colours
  int table_of[4] = {};            ///< number, 0 to 2, of the table for each byte of a pixel
  int offset[3] = {};              ///< bytes; only for groups of scattered samples
  int step[3] = {};                ///< bytes; only for groups of scattered samples
};

/// The distance from one group of a thread to its next: in groups, and as rows plus a rest of
/// groups.
struct GroupStride {
  std::uint32_t groups = 0;
  int rows = 0;
  int rest = 0;

  GroupStride() = default;
  CUDAVISION_HOST_DEVICE GroupStride(std::uint32_t stride, int per_row)
      : groups(stride),
        rows(static_cast<int>(stride / per_row)),
        rest(static_cast<int>(stride % per_row)) {}
};

/// The ways in which groups fill the rows of a picture.
enum class Rows {
  ragged,  ///< the last group of a row may lack pixels
  whole,   ///< every group is full
  linear,  ///< every group is full and the rows are contiguous: they form one long row
};

/// The position of a group. The constructor divides; advance() only adds.
template <Rows kRows>
struct GroupCursor {
  int y;
  int x;  ///< number of the group in its row

  CUDAVISION_HOST_DEVICE GroupCursor(const PackedImage& picture, std::uint32_t group)
      : y(static_cast<int>(group / picture.per_row)),
        x(static_cast<int>(group % picture.per_row)) {}

  CUDAVISION_HOST_DEVICE bool inside(const PackedImage& picture) const { return y < picture.rows; }

  CUDAVISION_HOST_DEVICE void advance(const PackedImage& picture, const GroupStride& stride) {
    y += stride.rows;
    x += stride.rest;
    if (x >= picture.per_row) {
      x -= picture.per_row;
      ++y;
    }
  }
};

template <>
struct GroupCursor<Rows::linear> {
  static constexpr int y = 0;
  std::uint32_t x;

  CUDAVISION_HOST_DEVICE GroupCursor(const PackedImage&, std::uint32_t group) : x(group) {}
  CUDAVISION_HOST_DEVICE bool inside(const PackedImage& picture) const { return x < picture.count; }
  CUDAVISION_HOST_DEVICE void advance(const PackedImage&, const GroupStride& stride) {
    x += stride.groups;
  }
};

/// Returns the offset of a group's first byte in its row.
CUDAVISION_HOST_DEVICE inline std::int64_t row_offset(std::int64_t group, int bytes) {
  return group * bytes;
}

}  // namespace cudavision
