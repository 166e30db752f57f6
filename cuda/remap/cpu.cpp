// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The remap on the CPU: collects the samples of a segment one by one, then blends all in vectors.

#include <algorithm>
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/remap/backend.h"

namespace cudavision::remap {
namespace {

/// The samples around each position of a segment: two adjacent samples, and the two below them.
template <class Value>
struct Corners {
  Value top[2 * segment_pixels], bottom[2 * segment_pixels];
};

/// One channel of a picture. Samples of two bytes may have any alignment.
template <class Value>
struct Source {
  const std::uint8_t* data;
  std::int32_t pitch, step;  ///< in bytes
  int width, height;
  Value border;  ///< sample beyond the edges, as stored
};

/// Computes, for each source pixel of a segment, its byte offset from the channel's first sample.
template <class Offset>
CUDAVISION_TARGET_CLONES void locate_segment(const Segment& segment,
                                             const Offset* __restrict offsets, std::int32_t pitch,
                                             std::int32_t step,
                                             std::int64_t* __restrict distances) {
  for (int i = 0; i < segment_pixels; ++i) {
    const Position position = position_at(segment, offsets[i]);
    distances[i] = std::int64_t{position.row()} * pitch + std::int64_t{step} * position.column();
  }
}

/// Loads the four samples of pixel i, which must be in the picture. kAdjacent: step is one sample.
template <bool kAdjacent, class Value>
void collect_inside(const Source<Value>& in, std::int64_t distance, int i,
                    Corners<Value>& corners) {
  const std::uint8_t* const from = in.data + distance;
  if constexpr (kAdjacent) {
    std::memcpy(corners.top + 2 * i, from, 2 * sizeof(Value));
    std::memcpy(corners.bottom + 2 * i, from + in.pitch, 2 * sizeof(Value));
  } else {
    std::memcpy(corners.top + 2 * i, from, sizeof(Value));
    std::memcpy(corners.top + 2 * i + 1, from + in.step, sizeof(Value));
    std::memcpy(corners.bottom + 2 * i, from + in.pitch, sizeof(Value));
    std::memcpy(corners.bottom + 2 * i + 1, from + in.pitch + in.step, sizeof(Value));
  }
}

template <class Value>
void collect_at_edge(const Source<Value>& in, const Position& position, int i,
                     Corners<Value>& corners) {
  const auto sample = [&](int x, int y) {
    Value value = in.border;
    if (x >= 0 && x < in.width && y >= 0 && y < in.height)
      std::memcpy(&value, in.data + std::ptrdiff_t{in.pitch} * y + std::ptrdiff_t{in.step} * x,
                  sizeof value);
    return value;
  };
  const int x = position.column(), y = position.row();
  corners.top[2 * i] = sample(x, y);
  corners.top[2 * i + 1] = sample(x + 1, y);
  corners.bottom[2 * i] = sample(x, y + 1);
  corners.bottom[2 * i + 1] = sample(x + 1, y + 1);
}

template <bool kAdjacent, class Value, class Offset>
void collect_segment(const Source<Value>& in, const Segment& segment, const Offset* offsets,
                     const std::int64_t* distances, Corners<Value>& corners) {
  if (segment.inside) {
    for (int i = 0; i < segment_pixels; ++i)
      collect_inside<kAdjacent>(in, distances[i], i, corners);
    return;
  }
  const auto last_x = static_cast<unsigned>(in.width - 1);
  const auto last_y = static_cast<unsigned>(in.height - 1);
  for (int i = 0; i < segment_pixels; ++i) {
    const Position position = position_at(segment, offsets[i]);
    if (static_cast<unsigned>(position.column()) < last_x &&
        static_cast<unsigned>(position.row()) < last_y)
      collect_inside<kAdjacent>(in, distances[i], i, corners);
    else
      collect_at_edge(in, position, i, corners);
  }
}

template <class Value, class Offset>
CUDAVISION_TARGET_CLONES void blend_segment(const Segment& segment,
                                            const Offset* __restrict offsets,
                                            const Corners<Value>& corners, int shift, int largest,
                                            int out_shift, Value* __restrict out) {
  const auto value = [=](Value word) __attribute__((always_inline)) {
    // 8-bit samples are already values; larger samples are shifted and clamped.
    return sizeof(Value) == 1 ? word : std::min(word >> shift, largest);
  };
  for (int i = 0; i < segment_pixels; ++i)
    out[i] = static_cast<Value>(blend(position_at(segment, offsets[i]), value(corners.top[2 * i]),
                                      value(corners.top[2 * i + 1]), value(corners.bottom[2 * i]),
                                      value(corners.bottom[2 * i + 1]))
                                << out_shift);
}

/// Stores values `step` bytes apart.
template <class Value>
void store(const Value* values, int count, int step, std::uint8_t* out) {
  if (step == static_cast<int>(sizeof(Value)))
    std::memcpy(out, values, sizeof(Value) * static_cast<std::size_t>(count));
  else
    for (int i = 0; i < count; ++i)
      std::memcpy(out + std::ptrdiff_t{step} * i, values + i, sizeof(Value));
}

template <class Value, class Offset>
void run_group(const SampleCoding& coding, int out_shift, const GroupPlanes& planes) {
  const ChannelGroup& group = *planes.channels;
  const MapView& map = group.map->view();
  const int step = static_cast<int>(sizeof(Value)) * group.step;
  const auto pitch = static_cast<std::int32_t>(planes.in.pitch);
  for_rows(map.height, [&](int y) {
    Corners<Value> corners;
    std::int64_t distances[segment_pixels];
    Value values[segment_pixels];
    for (int i = 0; i < map.segments_per_row; ++i) {
      const std::ptrdiff_t number = std::ptrdiff_t{map.segments_per_row} * y + i;
      const Segment& segment = map.segments[number];
      const Offset* const offsets =
          static_cast<const Offset*>(map.offsets) + segment_pixels * number;
      const int x = segment_pixels * i, count = std::min(segment_pixels, map.width - x);
      locate_segment(segment, offsets, pitch, step, distances);
      for (int c = 0; c < group.count; ++c) {
        const std::ptrdiff_t first = std::ptrdiff_t{sizeof(Value)} * group.offset[c];
        const Source<Value> in{planes.in.data + first,
                               pitch,
                               step,
                               map.picture.width,
                               map.picture.height,
                               static_cast<Value>(group.border[c] << coding.shift)};
        if (group.step == 1)
          collect_segment<true>(in, segment, offsets, distances, corners);
        else
          collect_segment<false>(in, segment, offsets, distances, corners);
        blend_segment(segment, offsets, corners, coding.shift, (1 << coding.bits) - 1, out_shift,
                      values);
        store(values, count, step, planes.out.row(y) + first + std::ptrdiff_t{step} * x);
      }
    }
  });
}

class BackendCpu final : public Backend {
 public:
  void run(const SampleCoding& coding, int out_shift,
           std::span<const GroupPlanes> groups) override {
    for (const GroupPlanes& planes : groups) {
      const bool wide = planes.channels->map->view().wide;
      if (coding.bits == 8)
        (wide ? run_group<std::uint8_t, std::uint64_t>
              : run_group<std::uint8_t, std::uint32_t>)(coding, out_shift, planes);
      else
        (wide ? run_group<std::uint16_t, std::uint64_t>
              : run_group<std::uint16_t, std::uint32_t>)(coding, out_shift, planes);
    }
  }

  void fill(View<std::uint8_t> rows) override {
    for_rows(rows.height,
             [&](int y) { std::memset(rows.row(y), 0xff, static_cast<std::size_t>(rows.width)); });
  }
};

}  // namespace

std::unique_ptr<Backend> make_remap_cpu(Device&) {
  return std::make_unique<BackendCpu>();
}

}  // namespace cudavision::remap
