// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/layoutcheck.h"

namespace cudavision {

void check_layout(const char* operation, const FrameLayout& layout) {
  if (layout.width < 1 || layout.width > 65535 || layout.height < 1 || layout.height > 65535)
    refuse(operation, "a picture of ", text_of(layout.width, layout.height),
           " pixels; width and height must be 1 to 65535");
  if (layout.bits < 8 || layout.bits > 16)
    refuse(operation, layout.bits, " bits per sample; 8 to 16 are supported");
  const int max_shift = layout.bits == 8 ? 0 : 16 - layout.bits;
  if (layout.shift < 0 || layout.shift > max_shift)
    refuse(operation, "samples of ", layout.bits, " bits shifted by ", layout.shift,
           "; the shift must be 0 to ", max_shift);
  if (layout.plane_count < 1 || layout.plane_count > FrameLayout::max_planes)
    refuse(operation, layout.plane_count, " planes; 1 to 4 are supported");
  if (layout.channel_count < 1 || layout.channel_count > FrameLayout::max_channels)
    refuse(operation, layout.channel_count, " channels; 1 to 4 are supported");
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane < 0 || channel.plane >= layout.plane_count || channel.step < 1 ||
        channel.offset < 0 || channel.offset >= channel.step)
      refuse(operation, "channel ", c, " is outside the layout: plane=", channel.plane,
             " must be 0 or more, below ", layout.plane_count, ", and offset=", channel.offset,
             " must be 0 or more, below step=", channel.step);
    if (channel.width < 1 || channel.width > layout.width || channel.height < 1 ||
        channel.height > layout.height || channel.subsampling_x < 1 || channel.subsampling_y < 1)
      refuse(operation, "channel ", c, " has ", text_of(channel.width, channel.height),
             " samples, one for ", text_of(channel.subsampling_x, channel.subsampling_y),
             " pixels, which does not fit the picture of ", text_of(layout.width, layout.height));
    const PlaneShape& plane = layout.planes[channel.plane];
    const auto last = static_cast<long long>(channel.step) * (channel.width - 1) + channel.offset;
    const long long needed_bytes = (last + 1) * layout.sample_bytes();
    if (plane.rows < channel.height || plane.row_bytes < needed_bytes)
      refuse(operation, "plane ", channel.plane, " of ", text_of(plane.row_bytes, plane.rows),
             " bytes is too small for channel ", c, ", which needs ", channel.height, " rows of ",
             needed_bytes, " bytes");
  }
}

void check_luminance(const char* operation, const FrameLayout& layout) {
  check_layout(operation, layout);
  const bool rgb = layout.find(Role::luma) < 0;
  for (const Role role : rgb_roles)
    if (rgb && layout.find(role) < 0)
      refuse(operation, "the layout needs a luma channel, or red, green and blue channels");
  if (rgb && layout.bits != 8)
    refuse(operation, "RGB of ", layout.bits, " bits; only 8 bits are supported");

  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role != Role::chroma && channel.role != Role::alpha && !layout.is_full(channel))
      refuse(operation, "channel ", c, " of ", text_of(channel.width, channel.height),
             " samples must be as large as the picture, ", text_of(layout.width, layout.height));
  }
}

void check_frame(const char* operation, const FrameLayout& layout, const ConstFrame& frame,
                 const char* name) {
  for (int p = 0; p < layout.plane_count; ++p) {
    const auto& plane = frame.planes[p];
    const auto& [row_bytes, rows] = layout.planes[p];
    if (!plane || plane.width != row_bytes || plane.height != rows)
      refuse(operation, "plane ", p, " of the ", name, " frame has ",
             plane ? text_of(plane.width, plane.height) : "no", " bytes; it must have ",
             text_of(row_bytes, rows));
  }
}

int kernel_pitch(const char* operation, std::ptrdiff_t pitch) {
  if (pitch != static_cast<int>(pitch))
    refuse(operation, "a pitch of ", pitch, " bytes; its magnitude must be less than 2 GiB");
  return static_cast<int>(pitch);
}

}  // namespace cudavision
