// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Finds the bytes of a tile that are replaced completely, if all regions are unrotated rectangles
// without a feather, without masks and inversion. As weights are 0 or 256, a bit per byte suffices.

#include <cstdint>

#include "cuda/regions/tile.h"

namespace cudavision::regions {

struct SelectedPart {
  std::uint16_t begin, end;  ///< bytes of a tile row; valid if covers_evenly
  std::uint16_t rows;        ///< one bit per row of the tile
  std::uint16_t number;      ///< index of the region
};
static_assert(BlendTile::height <= 16);

/// Returns the bits [begin, end), clipped to `count` bits.
CUDAVISION_HOST_DEVICE inline std::uint32_t bits_between(int begin, int end, int count) {
  begin = begin < 0 ? 0 : begin < count ? begin : count;
  end = end < 0 ? 0 : end < count ? end : count;
  return begin < end ? (1u << end) - (1u << begin) : 0;
}

/// Returns the first sample that covers `pixel` or a later pixel.
CUDAVISION_HOST_DEVICE inline int first_covering(int pixel, int pixels) {
  return pixel <= 0 ? 0 : pixel / pixels;
}
CUDAVISION_HOST_DEVICE inline int end_covering(int pixel, int pixels) {
  return pixel <= 0 ? 0 : (pixel - 1) / pixels + 1;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t selected_rows(const BlendArguments& a,
                                                          const BlendPlane& plane, int top,
                                                          const Box& box) {
  const int count =
      plane.sample_rows - top < BlendTile::height ? plane.sample_rows - top : BlendTile::height;
  if (count <= 0 || box.y0 >= a.height)
    return 0;
  if (!a.fields)
    return bits_between(first_covering(box.y0, plane.row_pixels) - top,
                        end_covering(box.y1, plane.row_pixels) - top, count);
  std::uint32_t rows = 0;
  CUDAVISION_NO_UNROLL
  for (int row = 0; row < count; ++row) {
    const CoveredPixels covered = covered_rows(top + row, plane.row_pixels, a.height, true);
    const int y = nearest(covered, box.y0, box.y1);
    rows |= static_cast<std::uint32_t>(y >= box.y0 && y < box.y1) << row;
  }
  return rows;
}

CUDAVISION_HOST_DEVICE inline SelectedPart selected_part(const BlendArguments& a,
                                                         const BlendPlane& plane, int left, int top,
                                                         int number) {
  const Box& box = a.regions[number].box;
  const auto in_tile = [&](int period) {
    const int at = period * plane.period - left;
    return static_cast<std::uint16_t>(at < 0 ? 0 : at < BlendTile::width ? at : BlendTile::width);
  };
  const bool there = box.x0 < a.width;
  return {in_tile(first_covering(box.x0, plane.period_pixels)),
          there ? in_tile(end_covering(box.x1, plane.period_pixels)) : std::uint16_t{0},
          static_cast<std::uint16_t>(selected_rows(a, plane, top, box)),
          static_cast<std::uint16_t>(number)};
}

/// The selected bytes of a thread: 16 bits per row.
class SelectedBytes {
 public:
  CUDAVISION_HOST_DEVICE void add(const BlendArguments& a, const ThreadPart& part, int thread,
                                  const SelectedPart& selected) {
    const int first = thread % BlendTile::lanes * Vec16::bytes;
    const std::uint64_t bytes =
        part.plane.covers_evenly
            ? bits_between(selected.begin - first, selected.end - first, Vec16::bytes)
            : one_by_one(a, part, a.regions[selected.number].box);
    const std::uint32_t rows = selected.rows >> (thread / BlendTile::lanes);
    CUDAVISION_UNROLL
    for (int r = 0; r < BlendTile::thread_rows; ++r)
      if ((rows >> (r * BlendTile::warps) & 1) != 0)
        bits_ |= bytes << (Vec16::bytes * r);
  }

  /// Deselects the bytes outside all channels.
  CUDAVISION_HOST_DEVICE void keep_samples(const ThreadPart& part) {
    if (part.plane.has_all_bytes)
      return;
    std::uint64_t samples = 0;
    ByteCursor cursor(part.plane, part.x);
    CUDAVISION_NO_UNROLL
    for (int i = 0; i < Vec16::bytes; ++i, cursor.advance(1))
      samples |= static_cast<std::uint64_t>(cursor.is_sample()) << i;
    bits_ &= samples * 0x0001000100010001u;
  }

  CUDAVISION_HOST_DEVICE bool any() const { return bits_ != 0; }
  CUDAVISION_HOST_DEVICE std::uint32_t row(int number) const {
    return static_cast<std::uint32_t>(bits_ >> (Vec16::bytes * number)) & 0xffff;
  }

 private:
  static_assert(Vec16::bytes * BlendTile::thread_rows == 64);

  /// Selects bytes one by one, for periods whose bytes cover different pixels.
  CUDAVISION_HOST_DEVICE static std::uint64_t one_by_one(const BlendArguments& a,
                                                         const ThreadPart& part, const Box& box) {
    std::uint64_t bytes = 0;
    ByteCursor cursor(part.plane, part.x);
    CUDAVISION_NO_UNROLL
    for (int i = 0; i < Vec16::bytes; ++i, cursor.advance(1)) {
      const int x = nearest(columns_of(a, cursor), box.x0, box.x1);
      bytes |= static_cast<std::uint64_t>(x >= box.x0 && x < box.x1) << i;
    }
    return bytes;
  }

  std::uint64_t bits_ = 0;
};

/// Returns the word `in` with the bytes of `processed` where the four bits of `bytes` are set.
template <int kSampleBytes>
CUDAVISION_HOST_DEVICE inline std::uint32_t selected_word(const BlendArguments& a, std::uint32_t in,
                                                          std::uint32_t processed,
                                                          std::uint32_t bytes) {
  const std::uint32_t mask = (bytes * 0x00204081u & 0x01010101u) * 0xff;
  if (kSampleBytes == 2) {
    const std::uint32_t first = sample_value(processed & 0xffff, a.shift, a.largest);
    const std::uint32_t second = sample_value(processed >> 16, a.shift, a.largest);
    processed = (first | second << 16) << a.shift;
  }
  return (in & ~mask) | (processed & mask);
}

}  // namespace cudavision::regions
