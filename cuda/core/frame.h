// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

enum class Role : std::uint8_t { luma, chroma, red, green, blue, alpha };

constexpr Role rgb_roles[3] = {Role::red, Role::green, Role::blue};

/// A channel's samples: sample (x, y) is sample `offset + step·x` of row y of the plane.
struct Channel {
  Role role = Role::luma;
  int plane = 0;
  int offset = 0;         ///< position of the first sample, in samples
  int step = 1;           ///< distance between adjacent samples of the channel, in samples
  int width = 0;          ///< samples per row; fewer than the frame's pixels if subsampled
  int height = 0;         ///< rows
  int subsampling_x = 1;  ///< pixels per sample along x
  int subsampling_y = 1;
};

/// Size of one plane. row_bytes includes padding inside packed pixels, but not at the end of rows.
struct PlaneShape {
  int row_bytes = 0;
  int rows = 0;
};

/// Shape of a frame, independent of video formats. If bits is 8, a sample is one byte; otherwise it
/// is a word of two bytes in native byte order. The value of a word is `word >> shift`, clamped to
/// 2^bits − 1; the bits below shift are written as zero.
struct FrameLayout {
  static constexpr int max_planes = 4;
  static constexpr int max_channels = 4;

  int width = 0;   ///< pixels, 1 to 65535
  int height = 0;  ///< pixels, 1 to 65535
  int bits = 8;    ///< per sample, 8 to 16
  int shift = 0;   ///< unused low bits of each word, 0 to 16 − bits; 0 if bits is 8

  int plane_count = 0;
  std::array<PlaneShape, max_planes> planes{};
  int channel_count = 0;
  std::array<Channel, max_channels> channels{};

  int sample_bytes() const noexcept { return bits > 8 ? 2 : 1; }
  bool is_full(const Channel& c) const noexcept { return c.width == width && c.height == height; }

  /// Returns the index of the first channel with this role, or −1.
  int find(Role role) const noexcept {
    for (int c = 0; c < channel_count; ++c)
      if (channels[c].role == role)
        return c;
    return -1;
  }
};

struct PlaneSize {
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
  int bits = 8;    ///< per sample
};

/// The planes of a frame as rows of bytes. planes[p] is layout.planes[p].row_bytes wide.
template <class Byte>
struct BasicFrame {
  std::array<View<Byte>, FrameLayout::max_planes> planes{};

  template <
      class Other,
      std::enable_if_t<std::is_same_v<Other, const Byte> && !std::is_const_v<Byte>, bool> = true>
  operator BasicFrame<Other>() const {
    BasicFrame<Other> other;
    for (int p = 0; p < FrameLayout::max_planes; ++p)
      other.planes[p] = planes[p];
    return other;
  }
};

using Frame = BasicFrame<std::uint8_t>;
using ConstFrame = BasicFrame<const std::uint8_t>;

inline Frame without_chroma_planes(const FrameLayout& layout, const Frame& frame) {
  Frame others;
  for (int c = 0; c < layout.channel_count; ++c)
    if (const Channel& channel = layout.channels[c]; channel.role != Role::chroma)
      others.planes[channel.plane] = frame.planes[channel.plane];
  return others;
}

}  // namespace cudavision
