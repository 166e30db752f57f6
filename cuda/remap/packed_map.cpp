// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/packed_map.h"

#include <algorithm>
#include <vector>

#include "cuda/core/parallel.h"

namespace cudavision::remap {
namespace {

constexpr int word_bits = 32;

int words_per_row(int width) {
  return (width + word_bits - 1) / word_bits;
}

/// Reads the places of a map, for pictures of one size.
class Places {
 public:
  Places(const ImageSize& picture, const Map& map)
      : map_(map),
        last_x_(32 * (picture.width - 1)),
        last_y_(32 * (picture.height - 1)),
        width_(map.fractions.width) {}

  Place at(int x, int y) const {
    const std::int16_t* whole = map_.places.row(y) + 2 * static_cast<std::ptrdiff_t>(x);
    const int fractions = map_.fractions.row(y)[x];
    return {whole[0] * 32 + (fractions & 31), whole[1] * 32 + (fractions >> 5 & 31)};
  }

  bool outside(const Place& place) const {
    return place.x < 0 || place.x > last_x_ || place.y < 0 || place.y > last_y_;
  }

  /// Sets places[i] to the place of pixel x + i of row y, for a whole segment. Places beyond the
  /// reach of the interpolation give 0, however far away they are; they are brought close, so that
  /// they do not widen the range of the segment.
  void read_segment(int x, int y, Place (&places)[segment_pixels]) const {
    for (int i = 0; i < segment_pixels; ++i) {
      const Place place = at(std::min(x + i, width_ - 1), y);
      places[i] = {std::clamp(place.x, -reach, last_x_ + reach),
                   std::clamp(place.y, -reach, last_y_ + reach)};
    }
  }

  /// Returns true if the samples at the place, right of it, below and below on the right exist.
  bool inside(const Place& place) const {
    return place.x >= 0 && place.x < last_x_ && place.y >= 0 && place.y < last_y_;
  }

 private:
  static constexpr int reach = 32;

  Map map_;
  int last_x_, last_y_;
  int width_;
};

/// Returns true if the offsets of the segment need more than 16 bits.
bool describe_segment(const Places& places, int x, int y, Segment& segment) {
  Place all[segment_pixels];
  places.read_segment(x, y, all);
  Place least = all[0], most = all[0];
  for (const Place& place : all) {
    least = {std::min(least.x, place.x), std::min(least.y, place.y)};
    most = {std::max(most.x, place.x), std::max(most.y, place.y)};
  }
  segment = {least.x, least.y, places.inside(least) && places.inside(most) ? 1u : 0u};
  return most.x - least.x > 0xffff || most.y - least.y > 0xffff;
}

template <class Offset>
void write_offsets(const Places& places, int x, int y, const Segment& segment, Offset* offsets) {
  Place all[segment_pixels];
  places.read_segment(x, y, all);
  for (int i = 0; i < segment_pixels; ++i)
    offsets[i] = static_cast<Offset>(all[i].x - segment.x) |
                 static_cast<Offset>(all[i].y - segment.y) << sizeof(Offset) * 4;
}

/// Returns true if a place of the row lies outside.
bool mark_outside(const Places& places, int width, int y, std::uint32_t* words) {
  bool any = false;
  std::fill_n(words, words_per_row(width), 0);
  for (int x = 0; x < width; ++x)
    if (places.outside(places.at(x, y))) {
      words[x / word_bits] |= std::uint32_t{1} << x % word_bits;
      any = true;
    }
  return any;
}

/// Copies rows of equal length to new memory of the device.
Buffer upload(Device& device, const Buffer& host, int rows) {
  Buffer memory = device.allocate(host.size());
  const auto row_bytes = static_cast<int>(host.size() / static_cast<std::size_t>(rows));
  device.upload({host.as<std::uint8_t>(), row_bytes, rows, row_bytes},
                {memory.as<std::uint8_t>(), row_bytes, rows, row_bytes});
  return memory;
}

}  // namespace

PackedMap::PackedMap(Device& device, const ImageSize& picture, const Map& map)
    : width_(map.fractions.width),
      height_(map.fractions.height),
      segments_per_row_((width_ + segment_pixels - 1) / segment_pixels) {
  const Places places(picture, map);
  const auto segment_count = static_cast<std::size_t>(segments_per_row_) * height_;
  const Bands bands(height_);
  const int words = words_per_row(width_);

  const Buffer segments = device.allocate_host(sizeof(Segment) * segment_count);
  const Buffer outside = device.allocate_host(sizeof(std::uint32_t) * words * height_);
  std::vector<char> wide(bands.count()), any_outside(bands.count());
  const auto segment_at = [&](int number, int y) -> Segment& {
    return segments.as<Segment>()[static_cast<std::ptrdiff_t>(segments_per_row_) * y + number];
  };
  bands.for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      any_outside[band.number] |= mark_outside(
          places, width_, y, outside.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(words) * y);
      for (int i = 0; i < segments_per_row_; ++i)
        wide[band.number] |= describe_segment(places, segment_pixels * i, y, segment_at(i, y));
    }
  });
  const auto is_set = [](char flag) { return flag != 0; };
  wide_ = std::any_of(wide.begin(), wide.end(), is_set);
  any_outside_ = std::any_of(any_outside.begin(), any_outside.end(), is_set);

  const std::size_t offset_bytes = wide_ ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  const Buffer offsets = device.allocate_host(offset_bytes * segment_pixels * segment_count);
  const auto write = [&](auto* to) {
    bands.for_each([&](const Band& band) {
      for (int y = band.begin; y < band.end; ++y)
        for (int i = 0; i < segments_per_row_; ++i) {
          const Segment& segment = segment_at(i, y);
          write_offsets(places, segment_pixels * i, y, segment,
                        to + segment_pixels * (&segment - segments.as<Segment>()));
        }
    });
  };
  if (wide_)
    write(offsets.as<std::uint64_t>());
  else
    write(offsets.as<std::uint32_t>());

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
