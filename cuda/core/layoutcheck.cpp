// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/layoutcheck.h"

#include "cuda/core/error.h"

namespace cudavision {
namespace {

std::string text(int number) {
  return std::to_string(number);
}

}  // namespace

void refuse(const char* operation, const std::string& what) {
  throw Error(Error::Kind::invalid_argument, std::string(operation) + ": " + what);
}

void check_layout(const char* operation, const FrameLayout& layout) {
  if (layout.width < 1 || layout.width > 65535 || layout.height < 1 || layout.height > 65535)
    refuse(operation, "a picture of " + text(layout.width) + "×" + text(layout.height) +
                          " pixels; width and height must be 1 to 65535");
  if (layout.bits < 8 || layout.bits > 16)
    refuse(operation, text(layout.bits) + " bits per sample; 8 to 16 are supported");
  if (layout.shift < 0 || layout.shift > (layout.bits == 8 ? 0 : 16 - layout.bits))
    refuse(operation, "samples of " + text(layout.bits) + " bits shifted by " + text(layout.shift));
  if (layout.plane_count < 1 || layout.plane_count > FrameLayout::max_planes)
    refuse(operation, text(layout.plane_count) + " planes; 1 to 4 are supported");
  if (layout.channel_count < 1 || layout.channel_count > FrameLayout::max_channels)
    refuse(operation, text(layout.channel_count) + " channels; 1 to 4 are supported");
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane < 0 || channel.plane >= layout.plane_count || channel.step < 1 ||
        channel.offset < 0 || channel.offset >= channel.step)
      refuse(operation, "channel " + text(c) + " has a plane, offset or step outside the layout");
    if (channel.width < 1 || channel.width > layout.width || channel.height < 1 ||
        channel.height > layout.height || channel.subsampling_x < 1 || channel.subsampling_y < 1)
      refuse(operation, "channel " + text(c) + " has " + text(channel.width) + "×" +
                            text(channel.height) + " samples, one for " +
                            text(channel.subsampling_x) + "×" + text(channel.subsampling_y) +
                            " pixels, which does not fit the picture");
    const PlaneShape& plane = layout.planes[channel.plane];
    const auto last = static_cast<long long>(channel.step) * (channel.width - 1) + channel.offset;
    if (plane.rows < channel.height || plane.row_bytes < (last + 1) * layout.sample_bytes())
      refuse(operation, "plane " + text(channel.plane) + " is too small for channel " + text(c));
  }
}

void check_luminance(const char* operation, const FrameLayout& layout) {
  check_layout(operation, layout);
  const bool rgb = layout.find(Role::luma) < 0;
  for (const Role role : rgb_roles)
    if (rgb && layout.find(role) < 0)
      refuse(operation, "the layout needs a luma channel, or red, green and blue channels");
  if (rgb && layout.bits != 8)
    refuse(operation, "RGB of " + std::to_string(layout.bits) + " bits; only 8 bits are supported");

  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const bool counts = channel.role != Role::chroma && channel.role != Role::alpha;
    if (counts && (channel.width != layout.width || channel.height != layout.height))
      refuse(operation, "channel " + std::to_string(c) + " must be as large as the picture");
  }
}

void check_frame(const char* operation, const FrameLayout& layout, const ConstFrame& frame,
                 const char* name) {
  for (int p = 0; p < layout.plane_count; ++p) {
    const auto& plane = frame.planes[p];
    if (!plane || plane.width != layout.planes[p].row_bytes ||
        plane.height != layout.planes[p].rows)
      refuse(operation, "plane " + text(p) + " of the " + name +
                            " frame does not have the size of the layout");
  }
}

int kernel_pitch(const char* operation, std::ptrdiff_t pitch) {
  if (pitch != static_cast<int>(pitch))
    refuse(operation,
           "a pitch of " + std::to_string(pitch) + " bytes; on a GPU it must be less than 2 GiB");
  return static_cast<int>(pitch);
}

}  // namespace cudavision
