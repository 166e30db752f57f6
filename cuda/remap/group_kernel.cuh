// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernels that resample groups of channels. A warp computes a segment of the output. A block
// computes vertically adjacent segments. In most maps, they share most input samples, which then
// come from the L1 cache. One grid contains the blocks of all groups.

#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/remap/pixel_words.h"

namespace cudavision::remap {

constexpr int warp = 32;
constexpr int thread_pixels = segment_pixels / warp;
constexpr int block_rows = 8;
constexpr int threads = warp * block_rows;
constexpr int max_groups = FrameLayout::max_channels;

struct GroupArguments {
  const std::uint8_t* in;
  std::uint8_t* out;
  int in_pitch, out_pitch;
  int in_width, in_height;
  int out_width, out_height;
  const Segment* segments;
  const void* offsets;
  Division segments_per_row;
  bool wide;  ///< offsets are uint64_t; only in the kernel for single samples
  unsigned first_block;

  // For kernels of whole pixels:
  bool joins_pixels;            ///< adjacent pixels may be stored as one word
  std::uint32_t border[2];      ///< pixel beyond the edges, as stored
  std::uint32_t always_set[2];  ///< bits outside all channels, written as 1

  // For the kernel of single samples:
  int step, count;
  int offset[FrameLayout::max_channels];  ///< in samples
  int sample_border[FrameLayout::max_channels];
};

/// A single group has a separate type, because launches with more arguments start later.
template <int kMaxGroups>
struct KernelArguments {
  GroupArguments group[kMaxGroups];
  int group_count;
  WordCoding coding;
};

using OneGroup = KernelArguments<1>;
using SomeGroups = KernelArguments<max_groups>;

struct WarpSegment {
  int column, y;
  int number;  ///< below 2^25
};

__device__ inline const GroupArguments& find_group(const SomeGroups& a, int first) {
  int number = first;
#pragma unroll
  for (int i = 1; i < max_groups; ++i)
    if (i > first && i < a.group_count && blockIdx.x >= a.group[i].first_block)
      number = i;
  return a.group[number];
}

__device__ inline WarpSegment find_segment(const GroupArguments& group) {
  const unsigned block = blockIdx.x - group.first_block;
  const unsigned row = quotient(block, group.segments_per_row);
  WarpSegment segment;
  segment.column = static_cast<int>(block - row * group.segments_per_row.divisor);
  segment.y = static_cast<int>(row * block_rows + threadIdx.x / warp);
  segment.number =
      min(segment.y, group.out_height - 1) * static_cast<int>(group.segments_per_row.divisor) +
      segment.column;
  return segment;
}

/// Position of a thread's pixel i in the segment. A lane has sets of kJoined adjacent pixels.
template <int kJoined>
__device__ int pixel_in_segment(int i) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  return (i / kJoined * warp + lane) * kJoined + i % kJoined;
}

/* Whole pixels */

template <int kJoined>
struct alignas(4 * kJoined) JoinedOffsets {
  std::uint32_t offset[kJoined];
};

/// With pitches below this limit, byte offsets within a segment fit into 32 bits.
constexpr int pitch_limit = 1 << 20;
template <PixelKind kKind>
__device__ int byte_offset(std::uint32_t offset, int pitch) {
  return row_of(offset) * pitch + pixel_bytes<kKind> * column_of(offset);
}

template <int kJoined>
__device__ void load_offsets(const GroupArguments& group, const WarpSegment& at,
                             std::uint32_t (&offsets)[thread_pixels]) {
  using Joined = JoinedOffsets<kJoined>;
  const auto* const from = reinterpret_cast<const Joined*>(
      static_cast<const std::uint32_t*>(group.offsets) + std::int64_t{segment_pixels} * at.number +
      pixel_in_segment<kJoined>(0));
#pragma unroll
  for (int i = 0; i < thread_pixels; i += kJoined) {
    const Joined loaded = from[i / kJoined * warp];
#pragma unroll
    for (int j = 0; j < kJoined; ++j)
      offsets[i + j] = loaded.offset[j];
  }
}

template <PixelKind kKind>
__device__ PixelWords<kKind> load_pixel(const std::uint8_t* from) {
  constexpr int bytes = pixel_bytes<kKind>;
  if constexpr (bytes == 1)
    return {{__ldg(from)}};
  else if constexpr (bytes == 2)
    return {{__ldg(reinterpret_cast<const std::uint16_t*>(from))}};
  else if constexpr (bytes == 3)
    return {{select_bytes(select_bytes(__ldg(from), __ldg(from + 1), 0x7740), __ldg(from + 2),
                          0x7410)}};
  else if constexpr (bytes == 4)
    return {{__ldg(reinterpret_cast<const std::uint32_t*>(from))}};
  else {
    const uint2 words = __ldg(reinterpret_cast<const uint2*>(from));
    return {{words.x, words.y}};
  }
}

template <int kBytes>
__device__ void store_words(std::uint8_t* to, const std::uint32_t* words) {
  if constexpr (kBytes == 1)
    *to = static_cast<std::uint8_t>(words[0]);
  else if constexpr (kBytes == 2)
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(words[0]);
  else if constexpr (kBytes == 3)
    for (int b = 0; b < 3; ++b)
      to[b] = static_cast<std::uint8_t>(words[0] >> (8 * b));
  else if constexpr (kBytes == 4)
    *reinterpret_cast<std::uint32_t*>(to) = words[0];
  else
    *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
}

template <PixelKind kKind>
constexpr int joined_pixels = pixel_bytes<kKind> < 4 ? 4 / pixel_bytes<kKind> : 1;

template <PixelKind kKind>
struct Corners {
  PixelWords<kKind> top_left, top_right, bottom_left, bottom_right;
};

/// Loads the four pixels around a position. top points to the upper left pixel.
template <PixelKind kKind>
__device__ void load_inside(const std::uint8_t* top, int pitch, Corners<kKind>& corners) {
  constexpr int bytes = pixel_bytes<kKind>;
  const std::uint8_t* const bottom = top + pitch;
  corners.top_left = load_pixel<kKind>(top);
  corners.top_right = load_pixel<kKind>(top + bytes);
  corners.bottom_left = load_pixel<kKind>(bottom);
  corners.bottom_right = load_pixel<kKind>(bottom + bytes);
}

/// Like load_inside(), for pixels that may be outside the picture.
template <PixelKind kKind>
__device__ void load_anywhere(const GroupArguments& group, int x, int y, const std::uint8_t* top,
                              Corners<kKind>& corners) {
  constexpr int bytes = pixel_bytes<kKind>;
  const std::uint8_t* const bottom = top + group.in_pitch;
  const bool left = static_cast<unsigned>(x) < static_cast<unsigned>(group.in_width);
  const bool right = static_cast<unsigned>(x + 1) < static_cast<unsigned>(group.in_width);
  const bool upper = static_cast<unsigned>(y) < static_cast<unsigned>(group.in_height);
  const bool lower = static_cast<unsigned>(y + 1) < static_cast<unsigned>(group.in_height);
  PixelWords<kKind> border;
#pragma unroll
  for (int w = 0; w < PixelWords<kKind>::count; ++w)
    border.word[w] = group.border[w];
  corners = {border, border, border, border};
  if (upper && left)
    corners.top_left = load_pixel<kKind>(top);
  if (upper && right)
    corners.top_right = load_pixel<kKind>(top + bytes);
  if (lower && left)
    corners.bottom_left = load_pixel<kKind>(bottom);
  if (lower && right)
    corners.bottom_right = load_pixel<kKind>(bottom + bytes);
}

template <PixelKind kKind>
__device__ void store_pixels(const GroupArguments& group, const WarpSegment& at,
                             const PixelWords<kKind> (&pixels)[thread_pixels]) {
  constexpr int bytes = pixel_bytes<kKind>, joined = joined_pixels<kKind>;
  const int first = segment_pixels * at.column;
  std::uint8_t* const row = group.out + std::int64_t{group.out_pitch} * at.y +
                            std::int64_t{bytes} * (first + pixel_in_segment<joined>(0));
  constexpr int next = warp * joined;  // distance in pixels between a thread's sets
  if ((joined == 1 || group.joins_pixels) && first + segment_pixels <= group.out_width) {
#pragma unroll
    for (int i = 0; i < thread_pixels; i += joined) {
      PixelWords<kKind> word = pixels[i];
#pragma unroll
      for (int j = 1; j < joined; ++j)
        word.word[0] |= pixels[i + j].word[0] << (8 * bytes * j);
      store_words<bytes * joined>(row + bytes * next * (i / joined), word.word);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i)
    if (first + pixel_in_segment<joined>(i) < group.out_width)
      store_words<bytes>(row + bytes * (next * (i / joined) + i % joined), pixels[i].word);
}

template <PixelKind kKind, bool kClips>
__device__ void blend_corners(const WordCoding& coding,
                              const std::uint32_t (&offsets)[thread_pixels],
                              const Corners<kKind> (&corners)[thread_pixels],
                              PixelWords<kKind> (&pixels)[thread_pixels]) {
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i)
    pixels[i] = blend_pixels<kKind, kClips>(coding, Weights(offsets[i]), corners[i].top_left,
                                            corners[i].top_right, corners[i].bottom_left,
                                            corners[i].bottom_right);
}

template <PixelKind kKind>
__device__ void remap_pixels(const WordCoding& coding, const GroupArguments& group) {
  const WarpSegment at = find_segment(group);
  // No launch writes the map, so reading it before the wait is safe.
  std::uint32_t offsets[thread_pixels];
  load_offsets<joined_pixels<kKind>>(group, at, offsets);
  const Segment segment = group.segments[at.number];
  grid_dependency_wait();
  if (at.y >= group.out_height)
    return;
  const int first_x = segment.x >> 5, first_y = segment.y >> 5;
  const std::uint8_t* const origin = group.in + std::int64_t{group.in_pitch} * first_y +
                                     std::int64_t{pixel_bytes<kKind>} * first_x;
  // A single branch for all pixels of a thread keeps the loads of all pixels in flight together.
  Corners<kKind> corners[thread_pixels];
  if (segment.inside) {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
      load_inside<kKind>(origin + byte_offset<kKind>(offsets[i], group.in_pitch), group.in_pitch,
                         corners[i]);
  } else {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
      load_anywhere<kKind>(group, first_x + column_of(offsets[i]), first_y + row_of(offsets[i]),
                           origin + byte_offset<kKind>(offsets[i], group.in_pitch), corners[i]);
  }
  PixelWords<kKind> pixels[thread_pixels];
  if (has_words<kKind> && coding.clips)
    blend_corners<kKind, true>(coding, offsets, corners, pixels);
  else
    blend_corners<kKind, false>(coding, offsets, corners, pixels);
  if constexpr (joined_pixels<kKind> == 1) {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
#pragma unroll
      for (int w = 0; w < PixelWords<kKind>::count; ++w)
        pixels[i].word[w] |= group.always_set[w];
  }
  store_pixels<kKind>(group, at, pixels);
}

/// For two or more groups. The first group has the kind kFirst. Its arguments have constant
/// addresses, so that the loads for this group start early.
template <PixelKind kFirst, PixelKind kOthers>
__global__ void __launch_bounds__(threads) pixel_kernel(const __grid_constant__ SomeGroups a) {
  launch_dependents();
  if (blockIdx.x < a.group[1].first_block)
    remap_pixels<kFirst>(a.coding, a.group[0]);
  else
    remap_pixels<kOthers>(a.coding, find_group(a, 1));
}

template <PixelKind kKind>
__global__ void __launch_bounds__(threads) pixel_kernel_of_one(const __grid_constant__ OneGroup a) {
  launch_dependents();
  remap_pixels<kKind>(a.coding, a.group[0]);
}

/* Single samples, at any address and with any step */

template <class Sample>
__device__ std::uint32_t load_sample(const WordCoding& coding, const std::uint8_t* from) {
  if constexpr (sizeof(Sample) == 1)
    return *from;
  const bool even = reinterpret_cast<std::uintptr_t>(from) % 2 == 0;
  const std::uint32_t word = even ? *reinterpret_cast<const std::uint16_t*>(from)
                                  : from[0] | static_cast<std::uint32_t>(from[1]) << 8;
  return sample_value(word, coding.shift, coding.largest & 0xffff);
}

template <class Sample>
__device__ void store_sample(const WordCoding& coding, std::uint8_t* to, std::uint32_t value) {
  const std::uint32_t word = value << coding.out_shift;
  if (sizeof(Sample) == 2 && reinterpret_cast<std::uintptr_t>(to) % 2 == 0) {
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(word);
  } else {
    to[0] = static_cast<std::uint8_t>(word);
    if (sizeof(Sample) == 2)
      to[1] = static_cast<std::uint8_t>(word >> 8);
  }
}

template <class Sample>
__global__ void __launch_bounds__(threads) sample_kernel(const __grid_constant__ SomeGroups a) {
  launch_dependents();
  const GroupArguments& group = find_group(a, 0);
  const WarpSegment at = find_segment(group);
  const Segment segment = group.segments[at.number];
  const std::int64_t first = std::int64_t{segment_pixels} * at.number;
  Position positions[thread_pixels];
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i) {
    const std::int64_t number = first + pixel_in_segment<1>(i);
    positions[i] =
        group.wide ? position_at(segment, static_cast<const std::uint64_t*>(group.offsets)[number])
                   : position_at(segment, static_cast<const std::uint32_t*>(group.offsets)[number]);
  }
  grid_dependency_wait();
  if (at.y >= group.out_height)
    return;
  const std::int64_t step = std::int64_t{sizeof(Sample)} * group.step;
  std::uint8_t* const row = group.out + std::int64_t{group.out_pitch} * at.y;
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i) {
    const int out_x = segment_pixels * at.column + pixel_in_segment<1>(i);
    if (out_x >= group.out_width)
      return;
    const Position& position = positions[i];
    const int x = position.column(), y = position.row();
    const bool left = static_cast<unsigned>(x) < static_cast<unsigned>(group.in_width);
    const bool right = static_cast<unsigned>(x + 1) < static_cast<unsigned>(group.in_width);
    const bool upper = static_cast<unsigned>(y) < static_cast<unsigned>(group.in_height);
    const bool lower = static_cast<unsigned>(y + 1) < static_cast<unsigned>(group.in_height);
    const std::uint8_t* const pixel = group.in + std::int64_t{group.in_pitch} * y + step * x;
#pragma unroll
    for (int c = 0; c < FrameLayout::max_channels; ++c) {
      if (c >= group.count)
        break;
      const std::int64_t offset = std::int64_t{sizeof(Sample)} * group.offset[c];
      const auto border = static_cast<std::uint32_t>(group.sample_border[c]);
      const auto sample = [&](bool exists, const std::uint8_t* from) {
        return exists ? load_sample<Sample>(a.coding, from + offset) : border;
      };
      store_sample<Sample>(a.coding, row + step * out_x + offset,
                           blend_values(Weights(position), sample(upper && left, pixel),
                                        sample(upper && right, pixel + step),
                                        sample(lower && left, pixel + group.in_pitch),
                                        sample(lower && right, pixel + group.in_pitch + step)));
    }
  }
}

}  // namespace cudavision::remap
