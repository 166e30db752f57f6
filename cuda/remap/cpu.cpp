// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend. It collects the samples of a segment one by one, then blends them in vectors.

#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/remap/backend.h"

namespace cudavision::remap {
namespace {

/// Samples around the places of a segment: pairs of adjacent samples, and the pairs below them.
template <class Value>
struct Corners {
  Value top[2 * segment_pixels], bottom[2 * segment_pixels];
};

/// Distances in bytes from the picture's first sample to the samples at a segment's places.
template <class Value, class Offset>
CUDAVISION_TARGET_CLONES void locate_segment(const Segment& segment,
                                             const Offset* __restrict offsets, std::int32_t pitch,
                                             std::int64_t* __restrict distances) {
  for (int i = 0; i < segment_pixels; ++i) {
    const Place place = place_at(segment, offsets[i]);
    distances[i] = std::int64_t{place.row()} * pitch +
                   static_cast<std::int64_t>(sizeof(Value)) * place.column();
  }
}

/// Collects the samples of pixel i, which are all in the picture. Rows may have any alignment.
template <class Value>
void collect_inside(const SamplePlane& in, std::int64_t distance, int i, Corners<Value>& corners) {
  const std::uint8_t* const from = in.rows.data + distance;
  std::memcpy(corners.top + 2 * i, from, 2 * sizeof(Value));
  std::memcpy(corners.bottom + 2 * i, from + in.rows.pitch, 2 * sizeof(Value));
}

template <class Value>
void collect_at_edge(const SamplePlane& in, const Place& place, int i, Corners<Value>& corners) {
  const auto sample = [&](int x, int y) {
    Value value = 0;
    if (x >= 0 && x < in.width && y >= 0 && y < in.height())
      std::memcpy(&value, in.rows.row(y) + static_cast<std::ptrdiff_t>(sizeof(Value)) * x,
                  sizeof value);
    return value;
  };
  const int x = place.column(), y = place.row();
  corners.top[2 * i] = sample(x, y);
  corners.top[2 * i + 1] = sample(x + 1, y);
  corners.bottom[2 * i] = sample(x, y + 1);
  corners.bottom[2 * i + 1] = sample(x + 1, y + 1);
}

template <class Value, class Offset>
void collect_segment(const SamplePlane& in, const Segment& segment, const Offset* offsets,
                     Corners<Value>& corners) {
  std::int64_t distances[segment_pixels];
  locate_segment<Value>(segment, offsets, static_cast<std::int32_t>(in.rows.pitch), distances);
  if (segment.inside) {
    for (int i = 0; i < segment_pixels; ++i)
      collect_inside(in, distances[i], i, corners);
    return;
  }
  const auto last_x = static_cast<unsigned>(in.width - 1);
  const auto last_y = static_cast<unsigned>(in.height() - 1);
  for (int i = 0; i < segment_pixels; ++i) {
    const Place place = place_at(segment, offsets[i]);
    if (static_cast<unsigned>(place.column()) < last_x &&
        static_cast<unsigned>(place.row()) < last_y)
      collect_inside(in, distances[i], i, corners);
    else
      collect_at_edge(in, place, i, corners);
  }
}

template <class Value, class Offset>
CUDAVISION_TARGET_CLONES void blend_segment(const Segment& segment,
                                            const Offset* __restrict offsets,
                                            const Corners<Value>& corners, int shift, int largest,
                                            Value* __restrict out) {
  const auto value = [=](Value word) __attribute__((always_inline)) {
    // Bytes need neither a shift nor a limit.
    return sizeof(Value) == 1 ? word : std::min(word >> shift, largest);
  };
  for (int i = 0; i < segment_pixels; ++i)
    out[i] = static_cast<Value>(blend(place_at(segment, offsets[i]), value(corners.top[2 * i]),
                                      value(corners.top[2 * i + 1]), value(corners.bottom[2 * i]),
                                      value(corners.bottom[2 * i + 1])));
}

class RemapCpu final : public Remap::Backend {
 public:
  explicit RemapCpu(const PackedMap& map) : map_(map) {}

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    if (in.bits == 8)
      run_as<std::uint8_t>(in, out);
    else
      run_as<std::uint16_t>(in, out);
  }

 private:
  template <class Value>
  void run_as(const SamplePlane& in, View<std::uint8_t> out) const {
    if (map_.wide())
      run_with<Value, std::uint64_t>(in, out);
    else
      run_with<Value, std::uint32_t>(in, out);
  }

  template <class Value, class Offset>
  void run_with(const SamplePlane& in, View<std::uint8_t> out) const {
    const int largest = (1 << in.bits) - 1;
    for_rows(map_.height(), [&](int y) {
      Corners<Value> corners;
      for (int i = 0; i < map_.segments_per_row(); ++i) {
        const std::ptrdiff_t number = static_cast<std::ptrdiff_t>(map_.segments_per_row()) * y + i;
        const Segment& segment = map_.segments()[number];
        const Offset* const offsets =
            static_cast<const Offset*>(map_.offsets()) + segment_pixels * number;
        collect_segment(in, segment, offsets, corners);
        blend_segment(segment, offsets, corners, in.shift, largest,
                      reinterpret_cast<Value*>(out.row(y)) + segment_pixels * i);
      }
    });
  }

  const PackedMap& map_;
};

}  // namespace

std::unique_ptr<Remap::Backend> make_remap_cpu(Device&, const PackedMap& map) {
  return std::make_unique<RemapCpu>(map);
}

}  // namespace cudavision::remap
