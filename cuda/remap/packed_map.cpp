// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/packed_map.h"

#include <algorithm>
#include <atomic>

#include "cuda/core/parallel.h"

namespace cudavision::remap {
namespace {

constexpr int word_bits = 32;

int words_per_row(int width) {
  return divide_up(width, word_bits);
}
int segments_in_row(int width) {
  return divide_up(width, segment_pixels);
}

class Places {
 public:
  Places(const PlaneSize& picture, const Map& map)
      : map_(map), last_x_(32 * (picture.width - 1)), last_y_(32 * (picture.height - 1)) {}

  int width() const { return map_.fractions.width; }
  int height() const { return map_.fractions.height; }

  Place at(int x, int y) const {
    const std::int16_t* whole = map_.places.row(y) + 2 * static_cast<std::ptrdiff_t>(x);
    const int fractions = map_.fractions.row(y)[x];
    return {whole[0] * 32 + (fractions & 31), whole[1] * 32 + (fractions >> 5 & 31)};
  }

  bool outside(const Place& place) const {
    return place.x < 0 || place.x > last_x_ || place.y < 0 || place.y > last_y_;
  }

  /// Reads the positions of the segment that starts at pixel x of row y. Positions far outside the
  /// picture are moved closer, so that they do not widen the range of the segment.
  void read_segment(int x, int y, Place (&places)[segment_pixels]) const {
    for (int i = 0; i < segment_pixels; ++i) {
      const Place place = at(std::min(x + i, width() - 1), y);
      places[i] = {std::clamp(place.x, -margin, last_x_ + margin),
                   std::clamp(place.y, -margin, last_y_ + margin)};
    }
  }

  /// Returns true if all four samples around the position are in the picture.
  bool inside(const Place& place) const {
    return place.x >= 0 && place.x < last_x_ && place.y >= 0 && place.y < last_y_;
  }

 private:
  static constexpr int margin = 32;

  Map map_;
  int last_x_, last_y_;
};

/// Calls function(number, x, y) for all segments, in parallel. x is the first pixel of the segment.
template <class Function>
void for_each_segment(const Places& places, const Function& function) {
  const int per_row = segments_in_row(places.width());
  for_rows(places.height(), [&](int y) {
    for (int i = 0; i < per_row; ++i)
      function(static_cast<std::ptrdiff_t>(per_row) * y + i, segment_pixels * i, y);
  });
}

std::size_t segment_count(const Places& places) {
  return static_cast<std::size_t>(segments_in_row(places.width())) * places.height();
}

/// Describes all segments. Sets `wide` if any offset needs more than 16 bits per coordinate.
Buffer describe_segments(Device& device, const Places& places, bool& wide) {
  Buffer segments = device.allocate_host(sizeof(Segment) * segment_count(places));
  std::atomic<bool> any_wide{false};
  for_each_segment(places, [&](std::ptrdiff_t number, int x, int y) {
    Place all[segment_pixels];
    places.read_segment(x, y, all);
    Place minimum = all[0], maximum = all[0];
    for (const Place& place : all) {
      minimum = {std::min(minimum.x, place.x), std::min(minimum.y, place.y)};
      maximum = {std::max(maximum.x, place.x), std::max(maximum.y, place.y)};
    }
    const bool inside = places.inside(minimum) && places.inside(maximum);
    const Place first = {32 * minimum.column(), 32 * minimum.row()};
    segments.as<Segment>()[number] = {first.x, first.y, inside ? 1u : 0u};
    if (maximum.x - first.x > 0xffff || maximum.y - first.y > 0xffff)
      any_wide = true;
  });
  wide = any_wide;
  return segments;
}

template <class Offset>
Buffer make_offsets(Device& device, const Places& places, const Segment* segments) {
  Buffer offsets = device.allocate_host(sizeof(Offset) * segment_pixels * segment_count(places));
  for_each_segment(places, [&](std::ptrdiff_t number, int x, int y) {
    Place all[segment_pixels];
    places.read_segment(x, y, all);
    const Segment& segment = segments[number];
    Offset* const to = offsets.as<Offset>() + segment_pixels * number;
    for (int i = 0; i < segment_pixels; ++i)
      to[i] = static_cast<Offset>(all[i].x - segment.x) | static_cast<Offset>(all[i].y - segment.y)
                                                              << sizeof(Offset) * 4;
  });
  return offsets;
}

/// Returns the bits of Remap::outside(). Sets `any` if any position is outside the picture.
Buffer mark_outside(Device& device, const Places& places, bool& any) {
  const int words = words_per_row(places.width());
  Buffer marks = device.allocate_host(sizeof(std::uint32_t) * words * places.height());
  std::atomic<bool> any_outside{false};
  for_rows(places.height(), [&](int y) {
    std::uint32_t* const row = marks.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(words) * y;
    std::fill_n(row, words, 0);
    for (int x = 0; x < places.width(); ++x)
      if (places.outside(places.at(x, y))) {
        row[x / word_bits] |= std::uint32_t{1} << x % word_bits;
        any_outside = true;
      }
  });
  any = any_outside;
  return marks;
}

Buffer upload(Device& device, const Buffer& host, int rows) {
  Buffer memory = device.allocate(host.size());
  const auto row_bytes = static_cast<int>(host.size() / static_cast<std::size_t>(rows));
  device.upload({host.as<std::uint8_t>(), row_bytes, rows, row_bytes},
                {memory.as<std::uint8_t>(), row_bytes, rows, row_bytes});
  return memory;
}

}  // namespace

PackedMap::PackedMap(Device& device, const PlaneSize& picture, const Map& map)
    : width_(map.fractions.width),
      height_(map.fractions.height),
      segments_per_row_(segments_in_row(width_)) {
  const Places places(picture, map);
  const Buffer segments = describe_segments(device, places, wide_);
  const Buffer offsets = wide_
                             ? make_offsets<std::uint64_t>(device, places, segments.as<Segment>())
                             : make_offsets<std::uint32_t>(device, places, segments.as<Segment>());
  const Buffer outside = mark_outside(device, places, any_outside_);
  segments_ = upload(device, segments, height_);
  offsets_ = upload(device, offsets, height_);
  outside_ = upload(device, outside, height_);
  device.finish();
}

View<const std::uint32_t> PackedMap::outside() const {
  const int words = words_per_row(width_);
  return {outside_.as<std::uint32_t>(), words, height_,
          static_cast<std::ptrdiff_t>(sizeof(std::uint32_t)) * words};
}

}  // namespace cudavision::remap
