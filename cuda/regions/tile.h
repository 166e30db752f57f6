// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How the blocks of a launch share the planes of a frame, and what one thread does with its bytes.
// All of this compiles for the host, too, where the tests run it block by block.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/pixels/pixel_pack.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/regions/activecells.h"

namespace cudavision::regions {

/// A block works on a tile of 16 rows of 512 bytes. A thread has 16 bytes in each of four rows,
/// and those of a warp lie side by side.
struct BlendTile {
  static constexpr int chunk_bytes = 16;
  static constexpr int lanes = 32, warps = 4;
  static constexpr int threads = lanes * warps;
  static constexpr int width = lanes * chunk_bytes;  ///< bytes
  static constexpr int thread_rows = 4;
  static constexpr int height = warps * thread_rows;
};

/// A plane of the three frames, as bytes. A period is the smallest number of bytes after which the
/// channels repeat.
struct BlendPlane {
  static constexpr int max_period = 8;

  const std::uint8_t* in = nullptr;
  const std::uint8_t* processed = nullptr;
  std::uint8_t* out = nullptr;
  int in_pitch = 0, processed_pitch = 0, out_pitch = 0;
  bool aligned = false;  ///< all addresses and pitches are multiples of 16

  int rows = 0, row_bytes = 0;
  int blended_rows = 0;  ///< the rest belongs to no channel
  int strips = 0;        ///< tiles side by side
  int first_block = 0;   ///< the blocks of earlier planes come before it

  int row_pixels = 1;     ///< rows of pixels that a row stands for
  int period = 1;         ///< bytes
  int period_pixels = 1;  ///< that a period stands for
  /// By a byte's position in its period: the position in a row from which on such bytes belong to
  /// no channel, and the pixel that the byte belongs to, counted from the first of the period.
  int end[max_period] = {};
  std::uint8_t pixel[max_period] = {};
};

/// The one argument of the kernels.
struct BlendArguments {
  BlendPlane planes[FrameLayout::max_planes];
  int plane_count = 0;
  int shift = 0;  ///< of words, as in FrameLayout
  std::uint32_t largest = 255;

  const Region* regions = nullptr;
  int region_count = 0;
  Shape shape = Shape::rectangle;
  int feather = 0;
  bool invert = false;
  bool everywhere = true;  ///< else the weights are 0 outside the active cells
  ActiveCells active;
};

/// Describes a plane of a layout; only the addresses and first_block are missing.
inline BlendPlane describe_plane(const FrameLayout& layout, int number) {
  BlendPlane plane;
  plane.rows = layout.planes[number].rows;
  plane.row_bytes = layout.planes[number].row_bytes;
  plane.strips = (plane.row_bytes + BlendTile::width - 1) / BlendTile::width;
  const int bytes = layout.sample_bytes();
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != number || channel.step * bytes < plane.period)
      continue;
    plane.period = channel.step * bytes;
    plane.period_pixels = channel.subsampling_x;
    plane.row_pixels = channel.subsampling_y;
    plane.blended_rows = channel.height;
  }
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != number)
      continue;
    const int last = (channel.offset + channel.step * (channel.width - 1)) * bytes;
    for (int sample = 0; sample * channel.step * bytes < plane.period; ++sample)
      for (int b = 0; b < bytes; ++b) {
        const int at = (channel.offset + sample * channel.step) * bytes + b;
        plane.end[at] = last + bytes;
        plane.pixel[at] = static_cast<std::uint8_t>(sample * channel.subsampling_x);
      }
  }
  return plane;
}

/// Returns the pixels that the bytes [left, right) of the rows [top, bottom) belong to, and perhaps
/// a few more beside them.
CUDAVISION_HOST_DEVICE inline Box pixels_of(const BlendPlane& plane, int left, int right, int top,
                                            int bottom) {
  return {left / plane.period * plane.period_pixels, top * plane.row_pixels,
          ((right - 1) / plane.period + 1) * plane.period_pixels,
          (bottom - 1) * plane.row_pixels + 1};
}

/// A byte of a row, which moves on along the row.
class BytePlace {
 public:
  CUDAVISION_HOST_DEVICE BytePlace(const BlendPlane& plane, int position)
      : plane_(plane),
        position_(position),
        first_pixel_(position / plane.period * plane.period_pixels),
        within_(position % plane.period) {}

  CUDAVISION_HOST_DEVICE int pixel() const { return first_pixel_ + plane_.pixel[within_]; }
  CUDAVISION_HOST_DEVICE bool is_sample() const { return position_ < plane_.end[within_]; }

  /// bytes is at most a period.
  CUDAVISION_HOST_DEVICE void advance(int bytes) {
    position_ += bytes;
    within_ += bytes;
    if (within_ >= plane_.period) {
      within_ -= plane_.period;
      first_pixel_ += plane_.period_pixels;
    }
  }

 private:
  const BlendPlane& plane_;
  int position_;
  int first_pixel_;  // of the period
  int within_;       // the period
};

/// What a thread has of a plane.
struct ThreadPart {
  const BlendPlane& plane;
  int x;     ///< its first byte in each row
  int y;     ///< its first row
  int left;  ///< the number of its bytes that are in the row, 16 or fewer; may be negative

  CUDAVISION_HOST_DEVICE ThreadPart(const BlendPlane& one, int block, int thread)
      : plane(one),
        x((block - one.first_block) % one.strips * BlendTile::width +
          thread % BlendTile::lanes * BlendTile::chunk_bytes),
        y((block - one.first_block) / one.strips * BlendTile::height + thread / BlendTile::lanes),
        left(one.row_bytes - x < BlendTile::chunk_bytes ? one.row_bytes - x
                                                        : BlendTile::chunk_bytes) {}

  CUDAVISION_HOST_DEVICE int row(int number) const { return y + number * BlendTile::warps; }
  CUDAVISION_HOST_DEVICE bool has(int number) const { return left > 0 && row(number) < plane.rows; }
  CUDAVISION_HOST_DEVICE bool whole() const {
    return plane.aligned && left == BlendTile::chunk_bytes;
  }
  /// Only for a part that has its first row.
  CUDAVISION_HOST_DEVICE Box pixels() const {
    return pixels_of(plane, x, x + left, y, row(BlendTile::thread_rows - 1) + 1);
  }
};

/// Returns the pixels of a block's tile, which may end beyond the frame.
CUDAVISION_HOST_DEVICE inline Box pixels_of_tile(const BlendPlane& plane, int block) {
  const ThreadPart first(plane, block, 0);
  return pixels_of(plane, first.x, first.x + BlendTile::width, first.y,
                   first.y + BlendTile::height);
}

/// Returns the plane that a block works on.
CUDAVISION_HOST_DEVICE inline const BlendPlane& plane_of_block(const BlendArguments& a, int block) {
  int number = 0;
  while (number + 1 < a.plane_count && block >= a.planes[number + 1].first_block)
    ++number;
  return a.planes[number];
}

/// Raises a thread's weights to those of one region. weights(row, sample) is a reference to the
/// weight of a sample.
template <int kSampleBytes, class Weights>
CUDAVISION_HOST_DEVICE inline void raise_to_region(const BlendArguments& a, const ThreadPart& part,
                                                   const Region& region, const Weights& weights) {
  constexpr int rows = BlendTile::thread_rows, samples = BlendTile::chunk_bytes / kSampleBytes;
  const Box& box = region.box;
  if (a.shape == Shape::rectangle) {
    BytePlace place(part.plane, part.x);
    int of_row[rows];
    CUDAVISION_UNROLL
    for (int r = 0; r < rows; ++r)
      of_row[r] = rectangle_weight(box.y0, box.y1, a.feather, part.row(r) * part.plane.row_pixels);
    CUDAVISION_NO_UNROLL
    for (int s = 0; s < samples; ++s, place.advance(kSampleBytes)) {
      const int of_column = rectangle_weight(box.x0, box.x1, a.feather, place.pixel());
      CUDAVISION_UNROLL
      for (int r = 0; r < rows; ++r) {
        const int weight = of_column < of_row[r] ? of_column : of_row[r];
        if (weight > weights(r, s))
          weights(r, s) = static_cast<std::uint16_t>(weight);
      }
    }
  } else {
    // Row by row, to save registers.
    CUDAVISION_NO_UNROLL
    for (int r = 0; r < rows; ++r) {
      const EllipseOffset of_row = ellipse_offset(box.y0, box.y1, region.scale_y, a.feather,
                                                  part.row(r) * part.plane.row_pixels);
      BytePlace place(part.plane, part.x);
      CUDAVISION_NO_UNROLL
      for (int s = 0; s < samples; ++s, place.advance(kSampleBytes)) {
        const int weight =
            ellipse_weight(ellipse_offset(box.x0, box.x1, region.scale_x, a.feather, place.pixel()),
                           of_row, a.feather);
        if (weight > weights(r, s))
          weights(r, s) = static_cast<std::uint16_t>(weight);
      }
    }
  }
}

/// Finds the weights of a thread's samples; that of a byte that belongs to no channel is 0. near
/// holds the numbers of all regions that reach the tile.
template <int kSampleBytes, class Weights>
CUDAVISION_HOST_DEVICE inline void find_weights(const BlendArguments& a, const ThreadPart& part,
                                                const std::uint16_t* near, int near_count,
                                                const Weights& weights) {
  constexpr int rows = BlendTile::thread_rows, samples = BlendTile::chunk_bytes / kSampleBytes;
  CUDAVISION_NO_UNROLL
  for (int s = 0; s < samples; ++s)
    CUDAVISION_UNROLL
  for (int r = 0; r < rows; ++r)
    weights(r, s) = 0;
  if (!part.has(0))
    return;
  const Box pixels = part.pixels();
  CUDAVISION_NO_UNROLL
  for (int i = 0; i < near_count; ++i) {
    const Region region = a.regions[near[i]];
    if (overlap(grown(region.box, a.feather), pixels))
      raise_to_region<kSampleBytes>(a, part, region, weights);
  }
  BytePlace place(part.plane, part.x);
  CUDAVISION_NO_UNROLL
  for (int s = 0; s < samples; ++s, place.advance(kSampleBytes)) {
    CUDAVISION_UNROLL
    for (int r = 0; r < rows; ++r) {
      const int weight = a.invert ? full_weight - weights(r, s) : int{weights(r, s)};
      weights(r, s) = place.is_sample() && part.row(r) < part.plane.blended_rows
                          ? static_cast<std::uint16_t>(weight)
                          : std::uint16_t{0};
    }
  }
}

/// A thread's 16 bytes of one row.
struct Chunk {
  std::uint32_t words[BlendTile::chunk_bytes / 4];

  /// Loads `count` bytes, or all with a single access if `whole` is true.
  CUDAVISION_HOST_DEVICE void load(const std::uint8_t* from, int count, bool whole) {
#ifdef __CUDA_ARCH__
    if (whole) {
      const uint4 all = *reinterpret_cast<const uint4*>(from);
      words[0] = all.x;
      words[1] = all.y;
      words[2] = all.z;
      words[3] = all.w;
      return;
    }
#else
    (void)whole;
#endif
    CUDAVISION_UNROLL
    for (int w = 0; w < BlendTile::chunk_bytes / 4; ++w) {
      words[w] = 0;
      CUDAVISION_UNROLL
      for (int b = 0; b < 4; ++b)
        if (4 * w + b < count)
          words[w] |= static_cast<std::uint32_t>(from[4 * w + b]) << (8 * b);
    }
  }

  CUDAVISION_HOST_DEVICE void store(std::uint8_t* to, int count, bool whole) const {
#ifdef __CUDA_ARCH__
    if (whole) {
      *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
      return;
    }
#else
    (void)whole;
#endif
    CUDAVISION_UNROLL
    for (int i = 0; i < BlendTile::chunk_bytes; ++i)
      if (i < count)
        to[i] = static_cast<std::uint8_t>(byte_of(words[i / 4], i % 4));
  }
};

/// Returns a word of samples, mixed by weight(sample).
template <int kSampleBytes, class Weight>
CUDAVISION_HOST_DEVICE inline std::uint32_t mixed_word(const BlendArguments& a, std::uint32_t in,
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
      sample = mixed(from, to, w);
    else if (w != 0)
      sample =
          mixed(sample_value(from, a.shift, a.largest), sample_value(to, a.shift, a.largest), w)
          << a.shift;
    result |= sample << (bits * i);
  }
  return result;
}

}  // namespace cudavision::regions
