// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/pixels/luminance_definition.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "tests/kernels/common/layouts.h"

namespace cudavision::test {
namespace {

template <class Byte>
Byte* address(const FrameLayout& layout, const BasicFrame<Byte>& frame, const Channel& channel,
              int x, int y) {
  const std::ptrdiff_t sample = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
  return frame.planes[channel.plane].row(y) + sample * layout.sample_bytes();
}

}  // namespace

int defined_sample(const FrameLayout& layout, const ConstFrame& frame, const Channel& channel,
                   int x, int y) {
  const std::uint8_t* bytes = address(layout, frame, channel, x, y);
  if (layout.bits == 8)
    return *bytes;
  std::uint16_t word;
  std::memcpy(&word, bytes, 2);
  return std::min(word >> layout.shift, (1 << layout.bits) - 1);
}

void put_sample(const FrameLayout& layout, const Frame& frame, const Channel& channel, int x, int y,
                int value) {
  std::uint8_t* bytes = address(layout, frame, channel, x, y);
  if (layout.bits == 8) {
    *bytes = static_cast<std::uint8_t>(value);
    return;
  }
  const auto word = static_cast<std::uint16_t>(value << layout.shift);
  std::memcpy(bytes, &word, 2);
}

void copy_rows(const FrameLayout& layout, const ConstFrame& in, const Frame& out,
               bool chroma_planes) {
  const auto channels = std::span(layout.channels).first(layout.channel_count);
  for (int p = 0; p < layout.plane_count; ++p) {
    const bool only_chroma = std::all_of(channels.begin(), channels.end(), [&](const Channel& c) {
      return c.plane != p || c.role == Role::chroma;
    });
    if (only_chroma && !chroma_planes)
      continue;
    for (int y = 0; y < layout.planes[p].rows; ++y)
      std::memcpy(out.planes[p].row(y), in.planes[p].row(y), layout.planes[p].row_bytes);
  }
}

DefinedLuminance::DefinedLuminance(const FrameLayout& layout, const ConstFrame& frame)
    : width(layout.width), height(layout.height) {
  const auto sample = [&](Role role, int x, int y) {
    return defined_sample(layout, frame, channel_of(layout, role), x, y);
  };
  const bool luma = layout.find(Role::luma) >= 0;
  values.reserve(static_cast<std::size_t>(width) * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      values.push_back(static_cast<std::uint16_t>(luma ? sample(Role::luma, x, y)
                                                       : (299 * sample(Role::red, x, y) +
                                                          587 * sample(Role::green, x, y) +
                                                          114 * sample(Role::blue, x, y)) /
                                                             1000));
}

}  // namespace cudavision::test
