// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Divides the planes of a frame among the blocks of a launch, and finds the weights of one thread.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/pixels/packed_image.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/regions/activecells.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::regions {

/// A block processes a tile of 16 rows of 512 bytes. A thread processes 16 bytes in each of four
/// rows (two in copy_planes()). The threads of a warp process adjacent bytes.
struct BlendTile {
  static constexpr int lanes = 32, warps = 4;
  static constexpr int threads = lanes * warps;
  static constexpr int width = lanes * Vec16::bytes;  ///< bytes
  static constexpr int thread_rows = 4;
  static constexpr int height = warps * thread_rows;
};

struct BlendPlane : PlaneBytes, PlanePair {
  const std::uint8_t* processed = nullptr;
  int processed_pitch = 0;
  bool aligned = false;  ///< all addresses and pitches are multiples of 16

  bool subsampled = false;     ///< some samples cover several pixels
  bool covers_evenly = false;  ///< all bytes of a period cover the same pixels
  bool has_all_bytes = false;  ///< every byte of the first sample_rows rows is in a channel
  int strips = 0;              ///< tiles per row
  int first_block = 0;         ///< index of the plane's first block
};

struct BlendArguments {
  BlendPlane planes[FrameLayout::max_planes];
  int plane_count = 0;
  int shift = 0;  ///< of two-byte samples, as in FrameLayout
  std::uint32_t largest = 255;
  int width = 0, height = 0;  ///< of the frame in pixels

  const Region* regions = nullptr;
  int region_count = 0;
  Shape shape = Shape::rectangle;
  int feather = 0;
  bool invert = false;
  bool fields = false;
  ActiveCells active;  ///< outside these cells, weights are 0, unless inverted

  const RotatedRegion* rotated = nullptr;
  int rotated_count = 0;
  const std::uint8_t* distances = nullptr;  ///< nullptr without masks
  std::int64_t distances_pitch = 0;
  int mask_margin = 0, mask_feather = 0;
};

/// Describes a plane of a layout. Does not set first_block or the members that depend on frames.
inline BlendPlane describe_plane(const FrameLayout& layout, int number) {
  BlendPlane plane;
  static_cast<PlaneBytes&>(plane) = plane_bytes(layout, number);
  plane.strips = (plane.row_bytes + BlendTile::width - 1) / BlendTile::width;
  plane.subsampled = plane.row_pixels > 1;
  for (const int pixels : plane.pixels)
    plane.subsampled = plane.subsampled || pixels > 1;
  plane.covers_evenly = plane.has_all_bytes = true;
  for (int byte = 0; byte < plane.period; ++byte) {
    const bool of_channel = plane.end[byte] > 0;
    if (of_channel && (plane.pixel[byte] != 0 || plane.pixels[byte] != plane.period_pixels))
      plane.covers_evenly = false;
    if (byte < plane.row_bytes &&
        plane.end[byte] <= (plane.row_bytes - 1 - byte) / plane.period * plane.period + byte)
      plane.has_all_bytes = false;
  }
  return plane;
}

/// The pixels that the bytes [left, right) of the rows [top, bottom) cover, and possibly a few
/// adjacent pixels. With fields, the box includes the rows of both fields.
CUDAVISION_HOST_DEVICE inline Box covered_box(const BlendPlane& plane, bool fields, int left,
                                              int right, int top, int bottom) {
  const int together = fields ? 2 : 1, row_pixels = plane.row_pixels * together;
  return {left / plane.period * plane.period_pixels, top / together * row_pixels,
          ((right - 1) / plane.period + 1) * plane.period_pixels,
          ((bottom - 1) / together + 1) * row_pixels};
}

struct ThreadPart {
  const BlendPlane& plane;
  int x;     ///< first byte of each row
  int y;     ///< first row
  int left;  ///< bytes of the row from x on, at most 16; may be negative

  CUDAVISION_HOST_DEVICE ThreadPart(const BlendPlane& one, int block, int thread)
      : plane(one),
        x((block - one.first_block) % one.strips * BlendTile::width +
          thread % BlendTile::lanes * Vec16::bytes),
        y((block - one.first_block) / one.strips * BlendTile::height + thread / BlendTile::lanes),
        left(one.row_bytes - x < Vec16::bytes ? one.row_bytes - x : Vec16::bytes) {}

  CUDAVISION_HOST_DEVICE int row(int number) const { return y + number * BlendTile::warps; }
  CUDAVISION_HOST_DEVICE bool has(int number) const { return left > 0 && row(number) < plane.rows; }
  CUDAVISION_HOST_DEVICE bool whole() const { return plane.aligned && left == Vec16::bytes; }
  /// The pixels that the part covers. The first row of the part must exist.
  CUDAVISION_HOST_DEVICE Box covered(bool fields) const {
    return covered_box(plane, fields, x, x + left, y, row(BlendTile::thread_rows - 1) + 1);
  }
};

/// The pixels that the tile of a block covers. The box may end beyond the frame.
CUDAVISION_HOST_DEVICE inline Box covered_by_tile(const BlendPlane& plane, bool fields, int block) {
  const ThreadPart first(plane, block, 0);
  return covered_box(plane, fields, first.x, first.x + BlendTile::width, first.y,
                     first.y + BlendTile::height);
}

CUDAVISION_HOST_DEVICE inline const BlendPlane& plane_of_block(const BlendArguments& a, int block) {
  int number = 0;
  while (number + 1 < a.plane_count && block >= a.planes[number + 1].first_block)
    ++number;
  return a.planes[number];
}

CUDAVISION_HOST_DEVICE inline CoveredPixels columns_of(const BlendArguments& a,
                                                       const ByteCursor& cursor) {
  return {cursor.pixel(), 1, cursor.pixels(), a.width - 1};
}
CUDAVISION_HOST_DEVICE inline CoveredPixels rows_of(const BlendArguments& a, const ThreadPart& part,
                                                    int row) {
  return covered_rows(part.row(row), part.plane.row_pixels, a.height, a.fields);
}

CUDAVISION_HOST_DEVICE inline int weight_in_region(const BlendArguments& a, const Region& region,
                                                   int x, int y) {
  const Box& box = region.box;
  if (a.shape == Shape::ellipse)
    return ellipse_weight(ellipse_offset(box.x0, box.x1, region.scale_x, a.feather, x),
                          ellipse_offset(box.y0, box.y1, region.scale_y, a.feather, y), a.feather);
  const int of_column = rectangle_weight(box.x0, box.x1, a.feather, x);
  const int of_row = rectangle_weight(box.y0, box.y1, a.feather, y);
  return of_column < of_row ? of_column : of_row;
}

/// Returns the pixel that determines the weight of a sample in a region [first, end).
template <bool kSubsampled>
CUDAVISION_HOST_DEVICE inline int deciding_column(const BlendArguments& a, const ByteCursor& cursor,
                                                  int first, int end) {
  return kSubsampled ? nearest(columns_of(a, cursor), first, end) : cursor.pixel();
}
template <bool kSubsampled>
CUDAVISION_HOST_DEVICE inline int deciding_row(const BlendArguments& a, const ThreadPart& part,
                                               int row, int first, int end) {
  return kSubsampled ? nearest(rows_of(a, part, row), first, end) : part.row(row);
}

/// Raises the weights of a thread to the weights of one region. weights(row, sample) returns a
/// reference. The order of the loops saves registers. Planes without subsampling have a separate
/// instance: with one instance for all planes, a 15×15 blur in one region of 3840×2160 GRAY8 took
/// 17.2 instead of 10.8 µs on an H200.
template <int kSampleBytes, bool kSubsampled, class Weights>
CUDAVISION_HOST_DEVICE inline void raise_to_region(const BlendArguments& a, const ThreadPart& part,
                                                   const Region& region, const Weights& weights) {
  constexpr int rows = BlendTile::thread_rows, samples = Vec16::bytes / kSampleBytes;
  const Box& box = region.box;
  const auto raise = [&](int r, int s, int weight) {
    if (weight > weights(r, s))
      weights(r, s) = static_cast<std::uint16_t>(weight);
  };
  const auto row = [&](int r) { return deciding_row<kSubsampled>(a, part, r, box.y0, box.y1); };
  if (a.shape == Shape::rectangle) {
    std::uint64_t of_rows = 0;  // 16 bits each
    CUDAVISION_NO_UNROLL
    for (int r = 0; r < rows; ++r)
      of_rows |= static_cast<std::uint64_t>(rectangle_weight(box.y0, box.y1, a.feather, row(r)))
                 << (16 * r);
    ByteCursor cursor(part.plane, part.x);
    CUDAVISION_NO_UNROLL
    for (int s = 0; s < samples; ++s, cursor.advance(kSampleBytes)) {
      const int x = deciding_column<kSubsampled>(a, cursor, box.x0, box.x1);
      const int of_column = rectangle_weight(box.x0, box.x1, a.feather, x);
      CUDAVISION_UNROLL
      for (int r = 0; r < rows; ++r) {
        const int of_row = static_cast<int>(of_rows >> (16 * r) & 0xffff);
        raise(r, s, of_column < of_row ? of_column : of_row);
      }
    }
  } else {
    CUDAVISION_NO_UNROLL
    for (int r = 0; r < rows; ++r) {
      const EllipseOffset of_row =
          ellipse_offset(box.y0, box.y1, region.scale_y, a.feather, row(r));
      ByteCursor cursor(part.plane, part.x);
      CUDAVISION_NO_UNROLL
      for (int s = 0; s < samples; ++s, cursor.advance(kSampleBytes)) {
        const int x = deciding_column<kSubsampled>(a, cursor, box.x0, box.x1);
        raise(r, s,
              ellipse_weight(ellipse_offset(box.x0, box.x1, region.scale_x, a.feather, x), of_row,
                             a.feather));
      }
    }
  }
}

struct NearRegions {
  const std::uint16_t* numbers;
  int count;
};

/// Minimum weight of a sample's pixels. The weight of a pixel is the maximum over all regions.
CUDAVISION_HOST_DEVICE inline int min_weight(const BlendArguments& a, const NearRegions& near,
                                             const CoveredPixels& columns,
                                             const CoveredPixels& rows) {
  int smallest = full_weight;
  CUDAVISION_NO_UNROLL
  for (int j = 0; j < rows.count; ++j)
    CUDAVISION_NO_UNROLL
  for (int i = 0; i < columns.count && smallest > 0; ++i) {
    int largest = 0;
    CUDAVISION_NO_UNROLL
    for (int n = 0; n < near.count && largest < smallest; ++n) {
      const int weight = weight_in_region(a, a.regions[near.numbers[n]], columns[i], rows[j]);
      if (weight > largest)
        largest = weight;
    }
    if (largest < smallest)
      smallest = largest;
  }
  return smallest;
}

template <int kSampleBytes, bool kSubsampled, class Weights>
CUDAVISION_HOST_DEVICE inline void find_weights_of_plane(const BlendArguments& a,
                                                         const ThreadPart& part,
                                                         const NearRegions& near,
                                                         const Weights& weights) {
  constexpr int rows = BlendTile::thread_rows, samples = Vec16::bytes / kSampleBytes;
  CUDAVISION_NO_UNROLL
  for (int s = 0; s < samples; ++s)
    CUDAVISION_UNROLL
  for (int r = 0; r < rows; ++r)
    weights(r, s) = 0;
  if (!part.has(0))
    return;
  const bool pixel_by_pixel = kSubsampled && a.invert && near.count > 0;
  if (!pixel_by_pixel) {
    const Box covered = part.covered(a.fields);
    CUDAVISION_NO_UNROLL
    for (int i = 0; i < near.count; ++i) {
      const Region region = a.regions[near.numbers[i]];
      if (overlap(grown(region.box, a.feather), covered))
        raise_to_region<kSampleBytes, kSubsampled>(a, part, region, weights);
    }
  }
  ByteCursor cursor(part.plane, part.x);
  CUDAVISION_NO_UNROLL
  for (int s = 0; s < samples; ++s, cursor.advance(kSampleBytes)) {
    const bool is_sample = cursor.is_sample();
    CUDAVISION_NO_UNROLL
    for (int r = 0; r < rows; ++r) {
      int weight = 0;
      if (is_sample && part.row(r) < part.plane.sample_rows) {
        weight = pixel_by_pixel ? min_weight(a, near, columns_of(a, cursor), rows_of(a, part, r))
                                : int{weights(r, s)};
        if (a.invert)
          weight = full_weight - weight;
      }
      weights(r, s) = static_cast<std::uint16_t>(weight);
    }
  }
}

/// Computes the weights of a thread's samples. Bytes outside all channels get the weight 0.
template <int kSampleBytes, class Weights>
CUDAVISION_HOST_DEVICE inline void find_weights(const BlendArguments& a, const ThreadPart& part,
                                                const NearRegions& near, const Weights& weights) {
  if (part.plane.subsampled)
    find_weights_of_plane<kSampleBytes, true>(a, part, near, weights);
  else
    find_weights_of_plane<kSampleBytes, false>(a, part, near, weights);
}

/// Maximum weight of a pixel over regions and masks. Rotated regions have the highest indices.
CUDAVISION_HOST_DEVICE inline int pixel_weight(const BlendArguments& a, const NearRegions& near,
                                               int x, int y) {
  int largest = a.distances ? mask_weight(a.distances[y * a.distances_pitch + x], a.mask_margin,
                                          a.mask_feather)
                            : 0;
  CUDAVISION_NO_UNROLL
  for (int n = 0; n < near.count && largest < full_weight; ++n) {
    const int number = near.numbers[n];
    const int weight = number < a.region_count ? weight_in_region(a, a.regions[number], x, y)
                                               : rotated_weight(a.rotated[number - a.region_count],
                                                                a.shape, a.feather, x, y);
    if (weight > largest)
      largest = weight;
  }
  return largest;
}

/// Like find_weights(), for regions of any shape and masks: checks every pixel that a sample
/// covers. Returns true if any weight is above 0.
template <int kSampleBytes, class Weights>
CUDAVISION_HOST_DEVICE inline bool find_weights_by_pixel(const BlendArguments& a,
                                                         const ThreadPart& part,
                                                         const NearRegions& near,
                                                         const Weights& weights) {
  constexpr int samples = Vec16::bytes / kSampleBytes;
  bool any = false;
  ByteCursor cursor(part.plane, part.x);
  CUDAVISION_NO_UNROLL
  for (int s = 0; s < samples; ++s, cursor.advance(kSampleBytes))
    CUDAVISION_NO_UNROLL
  for (int r = 0; r < BlendTile::thread_rows; ++r) {
    int weight = 0;
    if (part.has(r) && cursor.is_sample() && part.row(r) < part.plane.sample_rows) {
      const CoveredPixels columns = columns_of(a, cursor), rows = rows_of(a, part, r);
      CUDAVISION_NO_UNROLL
      for (int j = 0; j < rows.count; ++j)
        CUDAVISION_NO_UNROLL
      for (int i = 0; i < columns.count && weight < full_weight; ++i) {
        const int of_pixel = pixel_weight(a, near, columns[i], rows[j]);
        const int counted = a.invert ? full_weight - of_pixel : of_pixel;
        if (counted > weight)
          weight = counted;
      }
    }
    weights(r, s) = static_cast<std::uint16_t>(weight);
    any |= weight != 0;
  }
  return any;
}

template <int kSampleBytes, class Weight>
CUDAVISION_HOST_DEVICE inline std::uint32_t blended_word(const BlendArguments& a, std::uint32_t in,
                                                         std::uint32_t processed,
                                                         const Weight& weight) {
  constexpr int bits = 8 * kSampleBytes;
  constexpr std::uint32_t mask = (1u << bits) - 1;
  std::uint32_t result = 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < 4 / kSampleBytes; ++i) {
    const std::uint32_t from = in >> (bits * i) & mask, to = processed >> (bits * i) & mask;
    const int w = weight(i);
    std::uint32_t sample = from;
    if (kSampleBytes == 1)
      sample = blended(from, to, w);
    else if (w != 0)
      sample =
          blended(sample_value(from, a.shift, a.largest), sample_value(to, a.shift, a.largest), w)
          << a.shift;
    result |= sample << (bits * i);
  }
  return result;
}

}  // namespace cudavision::regions
