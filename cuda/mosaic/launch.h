// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Host code for a launch: describes the planes of a frame and divides them into tiles.

#include <algorithm>
#include <array>

#include "cuda/core/layoutcheck.h"
#include "cuda/mosaic/mosaic_block.h"

namespace cudavision::mosaic {

/// Sets all members except first_tile and the members that set_frames() sets.
inline MosaicPlane describe_plane(const FrameLayout& layout, const Parameters& parameters,
                                  int block_size, int number, int field) {
  MosaicPlane plane;
  static_cast<regions::PlaneBytes&>(plane) = regions::plane_bytes(layout, number);
  plane.sample_rows = regions::field_rows(plane.sample_rows, field, parameters.fields);
  std::ranges::fill(plane.slot, std::int8_t{-1});
  const int bytes = layout.sample_bytes();
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != number || (channel.role == Role::alpha && !parameters.hide_alpha))
      continue;
    const int slot = plane.channel_count++;
    plane.slot_pixels[slot] = static_cast<std::uint8_t>(channel.subsampling_x);
    plane.slot_width[slot] = channel.width;
    plane.value[slot] = parameters.values[c];
    for (int at = channel.offset * bytes; at < plane.period; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b)
        plane.slot[at + b] = static_cast<std::int8_t>(slot);
  }

  // Chooses the widest tile that a warp loads at once and max_slots allows, but at least one group.
  // Prefers multiples of 16 bytes, because the edges of such tiles can be stored in whole chunks.
  constexpr int width = warp_lanes * Vec16::bytes;
  const int group = separable_blocks(plane, block_size);
  const int max_blocks = std::max(
      group, MosaicArguments::max_slots / std::max(plane.channel_count, 1) / group * group);
  plane.tile_blocks = group;
  bool whole = first_byte(plane, group, block_size) % Vec16::bytes == 0;
  for (int blocks = 2 * group; blocks <= max_blocks; blocks += group) {
    const int tile_bytes = first_byte(plane, blocks, block_size);
    if (tile_bytes > width)
      break;
    const bool is_whole = tile_bytes % Vec16::bytes == 0;
    if (whole ? is_whole : is_whole || tile_bytes + Vec16::bytes <= width) {
      plane.tile_blocks = blocks;
      whole = is_whole;
    }
  }
  const int blocks = block_count(block_size, 1, layout.width);
  plane.strips = (blocks + plane.tile_blocks - 1) / plane.tile_blocks;
  return plane;
}

class MosaicLaunch {
 public:
  MosaicLaunch(const FrameLayout& layout, const Parameters& parameters)
      : fields_(parameters.fields) {
    MosaicArguments& a = arguments;
    // With a solid colour, the block size does not affect the result. 16 makes efficient tiles.
    constexpr int solid_block_size = 16;
    a.block_size = parameters.solid ? solid_block_size : parameters.block_size;
    a.reciprocal = static_cast<std::uint32_t>((std::uint64_t{1} << 32) /
                                              static_cast<std::uint32_t>(a.block_size)) +
                   1;
    a.blocks = block_count(a.block_size, 1, layout.width);
    a.solid = parameters.solid;
    a.shift = layout.shift;
    a.largest = (1u << layout.bits) - 1;
    a.frame_rows = regions::field_count(fields_);
    for (int p = 0; p < layout.plane_count; ++p)
      for (int field = 0; field < a.frame_rows; ++field) {
        MosaicPlane plane = describe_plane(layout, parameters, a.block_size, p, field);
        if (plane.sample_rows == 0)
          continue;
        plane.first_tile = a.tile_count;
        a.tile_count +=
            plane.strips * block_count(a.block_size, plane.row_pixels, plane.sample_rows);
        sources_[static_cast<std::size_t>(a.plane_count)] = {p, field};
        a.planes[a.plane_count++] = plane;
      }
  }

  /// If active is nullptr, the whole output is needed.
  void set_frames(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
    for (int i = 0; i < arguments.plane_count; ++i) {
      const Source& source = sources_[static_cast<std::size_t>(i)];
      const auto number = static_cast<std::size_t>(source.plane);
      MosaicPlane& plane = arguments.planes[i];
      const auto from = regions::field_view(in.planes[number], source.field, fields_);
      const auto to = regions::field_view(out.planes[number], source.field, fields_);
      static_cast<PlanePair&>(plane) = {from.data, to.data, kernel_pitch("mosaic", from.pitch),
                                        kernel_pitch("mosaic", to.pitch)};
      plane.aligned = regions::has_aligned_rows(from) && regions::has_aligned_rows(to);
    }
    arguments.everywhere = active == nullptr;
    if (active)
      arguments.active = *active;
  }

  MosaicArguments arguments;

 private:
  /// The plane and the field of the frame that an entry of MosaicArguments::planes describes.
  struct Source {
    int plane, field;
  };

  bool fields_;
  std::array<Source, MosaicArguments::max_planes> sources_{};
};

}  // namespace cudavision::mosaic
