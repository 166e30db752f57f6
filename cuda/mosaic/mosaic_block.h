// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The tiles of a launch, and the functions of one thread. Tests also compile this for the host.

#include <cstdint>
#include <type_traits>

#include "cuda/mosaic/blocks.h"
#include "cuda/pixels/packed_image.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/regions/activecells.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::mosaic {

using regions::Vec16;

/// A plane of the input and the output, or one field of the plane.
struct MosaicPlane : regions::PlaneBytes, PlanePair {
  bool aligned = false;  ///< all addresses and pitches are multiples of 16

  int tile_blocks = 1;  ///< blocks per row of a tile
  int strips = 0;       ///< tiles per row
  int first_tile = 0;   ///< index of the plane's first tile

  int channel_count = 0;              ///< number of hidden channels
  std::int8_t slot[max_period] = {};  ///< hidden channel of each byte of a period, or −1
  // Indexed by hidden channel:
  std::uint8_t slot_pixels[FrameLayout::max_channels] = {};  ///< pixels per sample along x
  int slot_width[FrameLayout::max_channels] = {};            ///< samples per row
  std::uint16_t value[FrameLayout::max_channels] = {};       ///< replaces samples if `solid`
};

struct MosaicArguments {
  static constexpr int max_planes = 2 * FrameLayout::max_planes;  ///< two fields of four planes
  static constexpr int max_slots = 512;  ///< blocks of a tile times channels

  MosaicPlane planes[max_planes];
  int plane_count = 0;
  int tile_count = 0;
  int block_size = 0;
  std::uint32_t reciprocal = 0;  ///< 2^32 div block_size + 1
  int blocks = 0;                ///< blocks per row
  bool solid = false;
  int shift = 0;  ///< unused low bits of two-byte samples
  std::uint32_t largest = 255;

  int frame_rows = 1;      ///< rows of the frame per row of a field
  bool everywhere = true;  ///< false: process only tiles that touch active cells
  regions::ActiveCells active;
};

constexpr int warp_lanes = 32;

/// Adjacent blocks of one row of blocks, processed by one thread block.
struct MosaicTile {
  const MosaicPlane& plane;
  int first_block;
  int block_row;
  int begin, end;   ///< bytes of a row
  int top, bottom;  ///< rows of the plane

  CUDAVISION_HOST_DEVICE MosaicTile(const MosaicArguments& a, const MosaicPlane& one, int tile)
      : plane(one),
        first_block((tile - one.first_tile) % one.strips * one.tile_blocks),
        block_row((tile - one.first_tile) / one.strips),
        begin(first_byte(one, first_block, a.block_size)),
        end(first_block + one.tile_blocks < a.blocks
                ? first_byte(one, first_block + one.tile_blocks, a.block_size)
                : one.row_bytes),
        top(first_sample(block_row, a.block_size, one.row_pixels, one.sample_rows)),
        bottom(first_sample(block_row + 1, a.block_size, one.row_pixels, one.sample_rows)) {}

  CUDAVISION_HOST_DEVICE bool is_needed(const MosaicArguments& a) const {
    const int x = first_block * a.block_size, y = block_row * a.block_size * a.frame_rows;
    return a.everywhere ||
           a.active.touch({x, y, x + plane.tile_blocks * a.block_size + max_overhang,
                           y + (a.block_size + max_overhang) * a.frame_rows});
  }

  CUDAVISION_HOST_DEVICE int slots() const { return plane.tile_blocks * plane.channel_count; }
  CUDAVISION_HOST_DEVICE int first_chunk() const { return begin / Vec16::bytes * Vec16::bytes; }

  /// Returns the number of samples of a slot. A slot is one channel of one block.
  CUDAVISION_HOST_DEVICE int samples(const MosaicArguments& a, int slot) const {
    const int block = first_block + slot / plane.channel_count,
              channel = slot % plane.channel_count;
    const int pixels = plane.slot_pixels[channel], width = plane.slot_width[channel];
    return (first_sample(block + 1, a.block_size, pixels, width) -
            first_sample(block, a.block_size, pixels, width)) *
           (bottom - top);
  }
};

CUDAVISION_HOST_DEVICE inline const MosaicPlane& plane_of_tile(const MosaicArguments& a, int tile) {
  int number = 0;
  while (number + 1 < a.plane_count && tile >= a.planes[number + 1].first_tile)
    ++number;
  return a.planes[number];
}

/// Returns pixel div block_size. Exact, because pixel·(reciprocal·block_size − 2^32) < 2^32.
CUDAVISION_HOST_DEVICE inline int block_of(const MosaicArguments& a, int pixel) {
  return static_cast<int>(std::uint64_t{static_cast<std::uint32_t>(pixel)} * a.reciprocal >> 32);
}

/// Calls function(sample, slot) for each sample of the chunk at byte x. slot is −1 for samples that
/// the tile does not hide. kPeriod is the number of samples in the plane's period or, for periods
/// of more than four samples, in a chunk. Visits samples in order of their index modulo kPeriod.
template <int kSampleBytes, int kPeriod, class Function>
CUDAVISION_HOST_DEVICE inline void for_each_sample(const MosaicArguments& a, const MosaicTile& tile,
                                                   int x, const Function& function) {
  constexpr int samples = Vec16::bytes / kSampleBytes;
  const MosaicPlane& plane = tile.plane;
  CUDAVISION_UNROLL
  for (int phase = 0; phase < kPeriod; ++phase) {
    const int first = x + phase * kSampleBytes;
    const int periods = first / plane.period, within = first - periods * plane.period;
    const int slot = plane.slot[within];
    const int begin = tile.begin, end = tile.end < plane.end[within] ? tile.end : plane.end[within];
    int pixel = periods * plane.period_pixels + plane.pixel[within];
    CUDAVISION_UNROLL
    for (int s = phase; s < samples; s += kPeriod, pixel += plane.period_pixels) {
      const int at = x + s * kSampleBytes;
      const bool hidden = slot >= 0 && at >= begin && at < end;
      function(s,
               hidden ? (block_of(a, pixel) - tile.first_block) * plane.channel_count + slot : -1);
    }
  }
}

/// Calls function(std::integral_constant) with the kPeriod for for_each_sample().
template <int kSampleBytes, class Function>
CUDAVISION_HOST_DEVICE inline void with_period(const MosaicPlane& plane, const Function& function) {
  switch (plane.period / kSampleBytes) {
    case 1:
      function(std::integral_constant<int, 1>());
      break;
    case 2:
      function(std::integral_constant<int, 2>());
      break;
    case 3:
      function(std::integral_constant<int, 3>());
      break;
    case 4:
      function(std::integral_constant<int, 4>());
      break;
    default:
      function(std::integral_constant<int, Vec16::bytes / kSampleBytes>());
  }
}

/// Sums of up to 256 chunks, one per sample position in a chunk. For bytes, a word holds two sums.
template <int kSampleBytes>
class ChunkSums {
 public:
  CUDAVISION_HOST_DEVICE void add(const Vec16& chunk, const MosaicArguments& a) {
    CUDAVISION_UNROLL
    for (int w = 0; w < Vec16::word_count; ++w) {
      const std::uint32_t word = chunk.words[w];
      if (kSampleBytes == 1) {
        sums_[2 * w] += word & 0xff00ffu;
        sums_[2 * w + 1] += word >> 8 & 0xff00ffu;
      } else {
        sums_[2 * w] += sample_value(word & 0xffff, a.shift, a.largest);
        sums_[2 * w + 1] += sample_value(word >> 16, a.shift, a.largest);
      }
    }
  }

  CUDAVISION_HOST_DEVICE std::uint32_t of(int sample) const {
    if (kSampleBytes == 2)
      return sums_[sample];
    const std::uint32_t pair = sums_[sample / 4 * 2 + sample % 2];
    return sample % 4 < 2 ? pair & 0xffff : pair >> 16;
  }

 private:
  std::uint32_t sums_[2 * Vec16::word_count] = {};
};

/// Calls add(slot, sum) for the samples of a chunk. Consecutive samples of a slot are summed first.
template <int kSampleBytes, class Add>
CUDAVISION_HOST_DEVICE inline void add_to_slots(const MosaicArguments& a, const MosaicTile& tile,
                                                int x, const ChunkSums<kSampleBytes>& sums,
                                                const Add& add) {
  with_period<kSampleBytes>(tile.plane, [&](auto period) {
    int last = -1;
    std::uint32_t sum = 0;
    for_each_sample<kSampleBytes, decltype(period)::value>(a, tile, x, [&](int sample, int slot) {
      if (slot != last) {
        if (last >= 0)
          add(last, sum);
        last = slot;
        sum = 0;
      }
      sum += sums.of(sample);
    });
    if (last >= 0)
      add(last, sum);
  });
}

struct Replacement {
  Vec16 result;
  Vec16 kept;  ///< 0xff for bytes to copy from the input
  bool keeps;  ///< the chunk has bytes of the tile to copy

  CUDAVISION_HOST_DEVICE Vec16 in_place_of(const Vec16& in) const {
    Vec16 out;
    CUDAVISION_UNROLL
    for (int w = 0; w < Vec16::word_count; ++w)
      out.words[w] = (in.words[w] & kept.words[w]) | result.words[w];
    return out;
  }
};

/// Returns the replacement of the chunk at byte x. value(slot) returns the value of a slot.
template <int kSampleBytes, class Value>
CUDAVISION_HOST_DEVICE inline Replacement replacement(const MosaicArguments& a,
                                                      const MosaicTile& tile, int x,
                                                      const Value& value) {
  Replacement chunk;
  CUDAVISION_UNROLL
  for (int w = 0; w < Vec16::word_count; ++w) {
    chunk.result.words[w] = 0;
    chunk.kept.words[w] = 0;
  }
  chunk.keeps = false;
  constexpr int bits = 8 * kSampleBytes, in_word = 4 / kSampleBytes;
  with_period<kSampleBytes>(tile.plane, [&](auto period) {
    for_each_sample<kSampleBytes, decltype(period)::value>(a, tile, x, [&](int sample, int slot) {
      const int word = sample / in_word, shift = sample % in_word * bits;
      if (slot >= 0) {
        chunk.result.words[word] |= value(slot) << a.shift << shift;
      } else {
        chunk.kept.words[word] |= ((1u << bits) - 1) << shift;
        const int at = x + sample * kSampleBytes;
        chunk.keeps = chunk.keeps || (at + kSampleBytes > tile.begin && at < tile.end);
      }
    });
  });
  return chunk;
}

/// Stores the bytes of the chunk that belong to the tile. whole: stores all bytes with one access.
CUDAVISION_HOST_DEVICE inline void store_in_tile(const Vec16& chunk, const MosaicTile& tile, int x,
                                                 std::uint8_t* row, bool whole) {
  if (whole) {
    chunk.store(row + x, Vec16::bytes, true);
    return;
  }
  CUDAVISION_UNROLL
  for (int i = 0; i < Vec16::bytes; ++i)
    if (x + i >= tile.begin && x + i < tile.end)
      row[x + i] = static_cast<std::uint8_t>(byte_of(chunk.words[i / 4], i % 4));
}

}  // namespace cudavision::mosaic
