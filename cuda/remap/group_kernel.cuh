// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernels, which resample groups of channels. A warp computes a segment of the output, and a
// block segments below each other, whose samples overlap, so that most of them come from the L1
// cache. One grid has the blocks of all groups.

#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/remap/pixel_words.h"

namespace cudavision::remap {

constexpr int warp = 32;
constexpr int thread_pixels = segment_pixels / warp;
constexpr int block_rows = 8;
constexpr int threads = warp * block_rows;
constexpr int max_groups = FrameLayout::max_channels;

/// Channels with the same map.
struct GroupArguments {
  const std::uint8_t* in;
  std::uint8_t* out;
  int in_pitch;
  std::int64_t out_pitch;
  int in_width, in_height;
  int out_width, out_height;
  const Segment* segments;
  const void* offsets;
  int segments_per_row;
  bool wide;  ///< offsets are uint64_t
  unsigned first_block;

  // For kernels of whole pixels.
  bool second_kind;             ///< Pixels are of the kernel's second kind.
  bool joins_pixels;            ///< Neighbouring pixels may be stored in one word.
  std::uint32_t border[2];      ///< the pixel beyond the edges
  std::uint32_t always_set[2];  ///< bits that belong to no channel

  // For the kernel of single samples.
  int step, count;
  int offset[FrameLayout::max_channels];         ///< of the channels' first samples, in samples
  int sample_border[FrameLayout::max_channels];  ///< values beyond the edges
};

struct KernelArguments {
  GroupArguments group[max_groups];
  int group_count;
  WordCoding coding;
};

/// The segment of a warp.
struct WarpSegment {
  int column, y;
  std::int64_t number;
};

__device__ inline const GroupArguments& find_group(const KernelArguments& a) {
  int number = 0;
#pragma unroll
  for (int i = 1; i < max_groups; ++i)
    if (i < a.group_count && blockIdx.x >= a.group[i].first_block)
      number = i;
  return a.group[number];
}

__device__ inline WarpSegment find_segment(const GroupArguments& group) {
  const unsigned block = blockIdx.x - group.first_block;
  const auto per_row = static_cast<unsigned>(group.segments_per_row);
  WarpSegment segment;
  segment.column = static_cast<int>(block % per_row);
  segment.y = static_cast<int>(block / per_row * block_rows) + static_cast<int>(threadIdx.x) / warp;
  segment.number =
      std::int64_t{group.segments_per_row} * min(segment.y, group.out_height - 1) + segment.column;
  return segment;
}

/// The pixels of a thread: groups of kJoined neighbours, one segment's length of a warp apart.
template <int kJoined>
__device__ int pixel_in_segment(int i) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  return (i / kJoined * warp + lane) * kJoined + i % kJoined;
}

template <class Offset, int kJoined>
struct alignas(sizeof(Offset) * kJoined) JoinedOffsets {
  Offset offset[kJoined];
};

template <class Offset, int kJoined>
__device__ bool load_places_of(const GroupArguments& group, const WarpSegment& at,
                               Place (&places)[thread_pixels]) {
  using Joined = JoinedOffsets<Offset, kJoined>;
  const Segment segment = group.segments[at.number];
  const auto* const offsets = reinterpret_cast<const Joined*>(
      static_cast<const Offset*>(group.offsets) + segment_pixels * at.number);
  Joined loaded[thread_pixels / kJoined];
#pragma unroll
  for (int j = 0; j < thread_pixels / kJoined; ++j)
    loaded[j] = offsets[pixel_in_segment<kJoined>(j * kJoined) / kJoined];
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i)
    places[i] = place_at(segment, loaded[i / kJoined].offset[i % kJoined]);
  return segment.inside != 0;
}

/// Loads the places of a thread's pixels. Returns true if all samples around those of the segment
/// are in the picture.
template <int kJoined>
__device__ bool load_places(const GroupArguments& group, const WarpSegment& at,
                            Place (&places)[thread_pixels]) {
  return group.wide ? load_places_of<std::uint64_t, kJoined>(group, at, places)
                    : load_places_of<std::uint32_t, kJoined>(group, at, places);
}

/* Whole pixels */

template <PixelKind kKind>
__device__ PixelWords<kKind> load_pixel(const std::uint8_t* from) {
  constexpr int bytes = pixel_bytes<kKind>;
  if constexpr (bytes == 1)
    return {{__ldg(from)}};
  else if constexpr (bytes == 2)
    return {{__ldg(reinterpret_cast<const std::uint16_t*>(from))}};
  else if constexpr (bytes == 4)
    return {{__ldg(reinterpret_cast<const std::uint32_t*>(from))}};
  else {
    const uint2 words = __ldg(reinterpret_cast<const uint2*>(from));
    return {{words.x, words.y}};
  }
}

template <PixelKind kKind>
__device__ void store_pixel(std::uint8_t* to, const PixelWords<kKind>& pixel) {
  constexpr int bytes = pixel_bytes<kKind>;
  if constexpr (bytes == 1)
    *to = static_cast<std::uint8_t>(pixel.word[0]);
  else if constexpr (bytes == 2)
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(pixel.word[0]);
  else if constexpr (bytes == 4)
    *reinterpret_cast<std::uint32_t*>(to) = pixel.word[0];
  else
    *reinterpret_cast<uint2*>(to) = make_uint2(pixel.word[0], pixel.word[1]);
}

template <PixelKind kKind>
struct Corners {
  PixelWords<kKind> top_left, top_right, bottom_left, bottom_right;
};

/// Loads the pixels around a place, which are all in the picture.
template <PixelKind kKind>
__device__ void load_inside(const GroupArguments& group, const Place& place,
                            Corners<kKind>& corners) {
  constexpr int bytes = pixel_bytes<kKind>;
  const std::uint8_t* const top =
      group.in + std::int64_t{group.in_pitch} * place.row() + std::int64_t{bytes} * place.column();
  const std::uint8_t* const bottom = top + group.in_pitch;
  corners.top_left = load_pixel<kKind>(top);
  corners.top_right = load_pixel<kKind>(top + bytes);
  corners.bottom_left = load_pixel<kKind>(bottom);
  corners.bottom_right = load_pixel<kKind>(bottom + bytes);
}

/// Loads the pixels around any place.
template <PixelKind kKind>
__device__ void load_anywhere(const GroupArguments& group, const Place& place,
                              Corners<kKind>& corners) {
  constexpr int bytes = pixel_bytes<kKind>;
  const int x = place.column(), y = place.row();
  const std::uint8_t* const top =
      group.in + std::int64_t{group.in_pitch} * y + std::int64_t{bytes} * x;
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

/// Stores those of a thread's pixels that are in the picture.
template <PixelKind kKind>
__device__ void store_pixels(const GroupArguments& group, const WarpSegment& at,
                             const PixelWords<kKind> (&pixels)[thread_pixels]) {
  constexpr int bytes = pixel_bytes<kKind>, joined = bytes < 4 ? 4 / bytes : 1;
  std::uint8_t* const row = group.out + group.out_pitch * at.y;
#pragma unroll
  for (int i = 0; i < thread_pixels; i += joined) {
    const int x = segment_pixels * at.column + pixel_in_segment<joined>(i);
    std::uint8_t* const to = row + std::int64_t{bytes} * x;
    if (joined > 1 && group.joins_pixels && x + joined <= group.out_width) {
      std::uint32_t word = 0;
#pragma unroll
      for (int j = 0; j < joined; ++j)
        word |= pixels[i + j].word[0] << (8 * bytes * j) % 32;
      *reinterpret_cast<std::uint32_t*>(to) = word;
      continue;
    }
#pragma unroll
    for (int j = 0; j < joined; ++j)
      if (x + j < group.out_width)
        store_pixel(to + bytes * j, pixels[i + j]);
  }
}

template <PixelKind kKind>
__device__ void remap_pixels(const KernelArguments& a, const GroupArguments& group) {
  constexpr int joined = pixel_bytes<kKind> < 4 ? 4 / pixel_bytes<kKind> : 1;
  const WarpSegment at = find_segment(group);
  // No launch writes to the map, so it need not be waited for.
  Place places[thread_pixels];
  const bool inside = load_places<joined>(group, at, places);
  grid_dependency_wait();
  if (at.y >= group.out_height)
    return;
  // All pixels of a thread take the same branch, so that their loads are in flight together.
  Corners<kKind> corners[thread_pixels];
  if (inside) {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
      load_inside<kKind>(group, places[i], corners[i]);
  } else {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
      load_anywhere<kKind>(group, places[i], corners[i]);
  }
  PixelWords<kKind> pixels[thread_pixels];
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i) {
    pixels[i] =
        blend_pixels<kKind>(a.coding, Weights(places[i]), corners[i].top_left, corners[i].top_right,
                            corners[i].bottom_left, corners[i].bottom_right);
#pragma unroll
    for (int w = 0; w < PixelWords<kKind>::count; ++w)
      pixels[i].word[w] |= group.always_set[w];
  }
  store_pixels<kKind>(group, at, pixels);
}

template <PixelKind kFirst, PixelKind kSecond>
__global__ void __launch_bounds__(threads) pixel_kernel(const __grid_constant__ KernelArguments a) {
  launch_dependents();
  const GroupArguments& group = find_group(a);
  if (kFirst == kSecond || !group.second_kind)
    remap_pixels<kFirst>(a, group);
  else
    remap_pixels<kSecond>(a, group);
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
__global__ void __launch_bounds__(threads)
    sample_kernel(const __grid_constant__ KernelArguments a) {
  launch_dependents();
  const GroupArguments& group = find_group(a);
  const WarpSegment at = find_segment(group);
  Place places[thread_pixels];
  load_places<1>(group, at, places);
  grid_dependency_wait();
  if (at.y >= group.out_height)
    return;
  const std::int64_t step = std::int64_t{sizeof(Sample)} * group.step;
  std::uint8_t* const row = group.out + group.out_pitch * at.y;
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i) {
    const int out_x = segment_pixels * at.column + pixel_in_segment<1>(i);
    if (out_x >= group.out_width)
      return;
    const int x = places[i].column(), y = places[i].row();
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
                           blend_values(Weights(places[i]), sample(upper && left, pixel),
                                        sample(upper && right, pixel + step),
                                        sample(lower && left, pixel + group.in_pitch),
                                        sample(lower && right, pixel + group.in_pitch + step)));
    }
  }
}

}  // namespace cudavision::remap
