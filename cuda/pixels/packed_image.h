// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A picture as rows of groups of neighbouring pixels, each the work of one thread at a time, and
// how a thread gets from one of its groups to the next.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// One plane of the picture on its way through the GPU. (A pitch of 32 bits multiplies into an
/// address in one instruction.)
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
  PlanePair planes[3];             ///< the plane of the pixels; of red, green, blue where apart
  std::uint32_t count = 0;         ///< groups in the picture, below 2^30
  int rows = 0;                    ///< of groups
  int per_row = 1;                 ///< groups in a row
  int width = 0;                   ///< pixels in a row
  int row_bytes = 0;               ///< bytes in a row, of each plane
  int shift = 0;                   ///< of 16-bit samples
  std::uint32_t largest = 0;       ///< of 16-bit samples
  std::uint32_t weights_low = 0;   ///< luminance weights of a pixel's four bytes, mod 256, packed
  std::uint32_t weights_high = 0;  ///< the same, div 256
  std::uint32_t keep = 0;          ///< mask of a pixel's bytes that are no colour
  int table_of[4] = {};            ///< which table each byte of a pixel goes through; 0 to 2
  int offset[3] = {};              ///< bytes; only for groups of scattered samples
  int step[3] = {};                ///< bytes; only for groups of scattered samples
};

/// How far it is from one of a thread's groups to its next, in rows and groups.
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

/// How a picture's rows consist of groups.
enum class Rows {
  ragged,  ///< the last group of a row may lack pixels
  whole,   ///< every group is full
  linear,  ///< and the rows follow each other without a gap: they are one long row
};

/// A group and where it lies. Divides once, then only adds.
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

/// Where a group begins in its row.
CUDAVISION_HOST_DEVICE inline std::int64_t row_offset(std::int64_t group, int bytes) {
  return group * bytes;
}

}  // namespace cudavision
