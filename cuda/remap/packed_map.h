// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A map in device memory, and the interpolation of one pixel.
//
// Maps dominate the memory traffic: OpenCV's format has 6 bytes per pixel. Adjacent pixels have
// nearby positions, so 2 bytes per coordinate suffice, relative to the smallest coordinate of a
// segment. This works for every map of a picture of up to 2046 pixels along each axis. Maps of
// larger pictures take 8 bytes per pixel if any segment spans more than 2047 pixels along an axis.

#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/remap/remap.h"

namespace cudavision::remap {

/// Pixels per segment of a row. A warp computes one segment, with 4 pixels per thread.
constexpr int segment_pixels = 128;

struct alignas(16) Segment {
  /// Smallest coordinates of the segment's positions in 1/32 pixel, rounded down to whole pixels,
  /// so that the low 5 bits of an offset are the fraction of the position.
  std::int32_t x, y;
  std::uint32_t inside;  ///< 1 if all four samples of each pixel are in the picture
};

/// A position in the input, in 1/32 pixel (remap.h).
struct Position {
  int x, y;

  CUDAVISION_HOST_DEVICE int column() const { return x >> 5; }
  CUDAVISION_HOST_DEVICE int row() const { return y >> 5; }
};

/// Offset is uint32_t or uint64_t: x − segment.x in the low half, y − segment.y in the high half.
template <class Offset>
CUDAVISION_HOST_DEVICE inline Position position_at(const Segment& segment, Offset offset) {
  constexpr int half = sizeof(Offset) * 4;
  constexpr Offset mask = (Offset{1} << half) - 1;
  return {segment.x + static_cast<int>(offset & mask),
          segment.y + static_cast<int>(offset >> half)};
}

/// Computes `out` by the formula of remap.h, with fewer multiplications.
CUDAVISION_HOST_DEVICE inline int blend(const Position& position, int top_left, int top_right,
                                        int bottom_left, int bottom_right) {
  const int fx = position.x & 31, fy = position.y & 31;
  const int top = 32 * top_left + fx * (top_right - top_left);
  const int bottom = 32 * bottom_left + fx * (bottom_right - bottom_left);
  return (32 * top + fy * (bottom - top) + 512) >> 10;
}

/// A view of a PackedMap, whose segments and offsets are in device memory.
struct MapView {
  const Segment* segments = nullptr;  ///< nullptr: there is no map
  /// Ordered by row, then by segment. Pixels beyond the width repeat the last position.
  const void* offsets = nullptr;
  int width = 0, height = 0;  ///< size of the output
  int segments_per_row = 0;
  bool wide = false;    ///< offsets are uint64_t instead of uint32_t
  PlaneSize picture{};  ///< size of the input

  CUDAVISION_HOST_DEVICE explicit operator bool() const { return segments != nullptr; }

  /// Finds the input pixel nearest to the position of output pixel (x, y): column (mx + 16) >> 5,
  /// row (my + 16) >> 5. Returns false if the position is outside the input (Remap::outside()).
  CUDAVISION_HOST_DEVICE bool nearest(int x, int y, int& column, int& row) const {
    const std::int64_t number =
        static_cast<std::int64_t>(segments_per_row) * y + x / segment_pixels;
    const std::int64_t pixel = segment_pixels * number + x % segment_pixels;
    const Position position =
        wide ? position_at(segments[number], static_cast<const std::uint64_t*>(offsets)[pixel])
             : position_at(segments[number], static_cast<const std::uint32_t*>(offsets)[pixel]);
    column = (position.x + 16) >> 5;
    row = (position.y + 16) >> 5;
    return position.x >= 0 && position.x <= 32 * (picture.width - 1) && position.y >= 0 &&
           position.y <= 32 * (picture.height - 1);
  }
};

class PackedMap {
 public:
  /// Copies the map to the device, and waits for the end of the copy.
  PackedMap(Device& device, const PlaneSize& picture, const Map& map);

  const MapView& view() const { return view_; }
  View<const std::uint32_t> outside() const;
  bool any_outside() const { return any_outside_; }

 private:
  MapView view_;
  bool any_outside_ = false;
  Buffer segments_, offsets_, outside_;
};

}  // namespace cudavision::remap
