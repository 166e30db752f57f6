// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/packed_map.h"

#include <algorithm>
#include <atomic>

#include "cuda/core/parallel.h"

namespace cudavision::remap {
namespace {

constexpr int word_bits = 32;

class MapPositions {
 public:
  MapPositions(const PlaneSize& picture, const Map& map)
      : map_(map), last_x_(32 * (picture.width - 1)), last_y_(32 * (picture.height - 1)) {}

  int width() const { return map_.fractions.width; }
  int height() const { return map_.fractions.height; }
  int segments_per_row() const { return divide_up(width(), segment_pixels); }

  Position at(int x, int y) const {
    const std::int16_t* whole = map_.places.row(y) + 2 * static_cast<std::ptrdiff_t>(x);
    const int fractions = map_.fractions.row(y)[x];
    return {whole[0] * 32 + (fractions & 31), whole[1] * 32 + (fractions >> 5 & 31)};
  }

  bool outside(const Position& position) const {
    return position.x < 0 || position.x > last_x_ || position.y < 0 || position.y > last_y_;
  }

  /// Reads the positions of the segment that starts at pixel x of row y. Clamps positions to one
  /// pixel beyond the edges, where the result is the same, to keep the range of the segment small.
  void read_segment(int x, int y, Position (&positions)[segment_pixels]) const {
    for (int i = 0; i < segment_pixels; ++i) {
      const Position position = at(std::min(x + i, width() - 1), y);
      positions[i] = {std::clamp(position.x, -margin, last_x_ + margin),
                      std::clamp(position.y, -margin, last_y_ + margin)};
    }
  }

  /// Returns true if all four samples around the position are in the picture.
  bool inside(const Position& position) const {
    return position.x >= 0 && position.x < last_x_ && position.y >= 0 && position.y < last_y_;
  }

 private:
  static constexpr int margin = 32;

  Map map_;
  int last_x_, last_y_;
};

/// Calls function(index, x, y) for all segments, in parallel. x is the first pixel of the segment.
template <class Function>
void for_each_segment(const MapPositions& positions, const Function& function) {
  const int per_row = positions.segments_per_row();
  for_rows(positions.height(), [&](int y) {
    for (int i = 0; i < per_row; ++i)
      function(static_cast<std::ptrdiff_t>(per_row) * y + i, segment_pixels * i, y);
  });
}

std::size_t segment_count(const MapPositions& positions) {
  return static_cast<std::size_t>(positions.segments_per_row()) * positions.height();
}

/// Describes all segments. Sets `wide` if any offset needs more than 16 bits per coordinate.
Buffer describe_segments(Device& device, const MapPositions& positions, bool& wide) {
  Buffer segments = device.allocate_host(sizeof(Segment) * segment_count(positions));
  std::atomic<bool> any_wide{false};
  for_each_segment(positions, [&](std::ptrdiff_t number, int x, int y) {
    Position all[segment_pixels];
    positions.read_segment(x, y, all);
    Position minimum = all[0], maximum = all[0];
    for (const Position& position : all) {
      minimum = {std::min(minimum.x, position.x), std::min(minimum.y, position.y)};
      maximum = {std::max(maximum.x, position.x), std::max(maximum.y, position.y)};
    }
    const bool inside = positions.inside(minimum) && positions.inside(maximum);
    const Position first = {32 * minimum.column(), 32 * minimum.row()};
    segments.as<Segment>()[number] = {first.x, first.y, inside ? 1u : 0u};
    if (maximum.x - first.x > 0xffff || maximum.y - first.y > 0xffff)
      any_wide = true;
  });
  wide = any_wide;
  return segments;
}

template <class Offset>
Buffer make_offsets(Device& device, const MapPositions& positions, const Segment* segments) {
  Buffer offsets = device.allocate_host(sizeof(Offset) * segment_pixels * segment_count(positions));
  for_each_segment(positions, [&](std::ptrdiff_t number, int x, int y) {
    Position all[segment_pixels];
    positions.read_segment(x, y, all);
    const Segment& segment = segments[number];
    Offset* const to = offsets.as<Offset>() + segment_pixels * number;
    for (int i = 0; i < segment_pixels; ++i)
      to[i] = static_cast<Offset>(all[i].x - segment.x) | static_cast<Offset>(all[i].y - segment.y)
                                                              << sizeof(Offset) * 4;
  });
  return offsets;
}

/// Returns the bits of Remap::outside(). Sets `any` if any position is outside the picture.
Buffer mark_outside(Device& device, const MapPositions& positions, bool& any) {
  const int words = divide_up(positions.width(), word_bits);
  Buffer marks = device.allocate_host(sizeof(std::uint32_t) * words * positions.height());
  std::atomic<bool> any_outside{false};
  for_rows(positions.height(), [&](int y) {
    std::uint32_t* const row = marks.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(words) * y;
    std::fill_n(row, words, 0);
    for (int x = 0; x < positions.width(); ++x)
      if (positions.outside(positions.at(x, y))) {
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

PackedMap::PackedMap(Device& device, const PlaneSize& picture, const Map& map) {
  const MapPositions positions(picture, map);
  const int height = positions.height();
  bool wide = false;
  const Buffer segments = describe_segments(device, positions, wide);
  const auto make = wide ? make_offsets<std::uint64_t> : make_offsets<std::uint32_t>;
  const Buffer offsets = make(device, positions, segments.as<Segment>());
  const Buffer outside = mark_outside(device, positions, any_outside_);
  segments_ = upload(device, segments, height);
  offsets_ = upload(device, offsets, height);
  outside_ = upload(device, outside, height);
  device.finish();
  view_ = {segments_.as<Segment>(),
           offsets_.data(),
           positions.width(),
           height,
           positions.segments_per_row(),
           wide,
           picture};
}

View<const std::uint32_t> PackedMap::outside() const {
  return contiguous_rows(outside_.as<std::uint32_t>(), divide_up(view_.width, word_bits),
                         view_.height);
}

}  // namespace cudavision::remap
