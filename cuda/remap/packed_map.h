// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The form in which a device holds a map, and the arithmetic of one pixel, which both backends
// share.
//
// Most of what a frame reads is the map: OpenCV's form has 6 bytes for each pixel, where a picture
// of 8 bits and its output have one each. But neighbours in a row lie close together in the
// picture, so 2 bytes for each coordinate suffice if they count from the smallest coordinate of a
// segment of the row. This holds every map of a picture of up to 2046 pixels each way, and every
// map of a larger one whose segments do not jump further than that. Other maps take 8 bytes for
// each pixel.

#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/remap/remap.h"

namespace cudavision::remap {

/// The pixels of a segment of a row. This is what a warp works on, with 4 pixels for each thread.
constexpr int segment_pixels = 128;

struct alignas(16) Segment {
  /// The smallest coordinates of its places, in 1/32 pixel, rounded down to whole pixels. So the
  /// fractions of places are those of their offsets.
  std::int32_t x, y;
  std::uint32_t inside;  ///< 1 if all four samples of each pixel are in the picture
};

/// A place in the picture, in 1/32 pixel.
struct Place {
  int x, y;

  CUDAVISION_HOST_DEVICE int column() const { return x >> 5; }
  CUDAVISION_HOST_DEVICE int row() const { return y >> 5; }
};

/// Returns a pixel's place. An offset has x − segment.x in its lower half and y − segment.y in the
/// other one. Offset is uint32_t or uint64_t.
template <class Offset>
CUDAVISION_HOST_DEVICE inline Place place_at(const Segment& segment, Offset offset) {
  constexpr int half = sizeof(Offset) * 4;
  constexpr Offset mask = (Offset{1} << half) - 1;
  return {segment.x + static_cast<int>(offset & mask),
          segment.y + static_cast<int>(offset >> half)};
}

/// Returns the sample at a place between two samples of one row and the two below them. This is the
/// formula of remap.h, in steps that take fewer multiplications.
CUDAVISION_HOST_DEVICE inline int blend(const Place& place, int top_left, int top_right,
                                        int bottom_left, int bottom_right) {
  const int fx = place.x & 31, fy = place.y & 31;
  const int top = 32 * top_left + fx * (top_right - top_left);
  const int bottom = 32 * bottom_left + fx * (bottom_right - bottom_left);
  return (32 * top + fy * (bottom - top) + 512) >> 10;
}

/// A map in device memory.
class PackedMap {
 public:
  /// The arguments are valid. Waits until the device has the map.
  PackedMap(Device& device, const PlaneSize& picture, const Map& map);

  int width() const { return width_; }
  int height() const { return height_; }
  int segments_per_row() const { return segments_per_row_; }
  const Segment* segments() const { return segments_.as<Segment>(); }
  /// Segment by segment and row by row. Pixels beyond the width repeat the last place.
  const void* offsets() const { return offsets_.data(); }
  /// Returns true if offsets are uint64_t, else they are uint32_t.
  bool wide() const { return wide_; }

  View<const std::uint32_t> outside() const;
  bool any_outside() const { return any_outside_; }

 private:
  int width_, height_;
  int segments_per_row_;
  bool wide_ = false;
  bool any_outside_ = false;
  Buffer segments_, offsets_, outside_;
};

}  // namespace cudavision::remap
