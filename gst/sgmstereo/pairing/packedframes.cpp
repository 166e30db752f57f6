// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/packedframes.h"

#include <algorithm>

#include "gst/core/elementerror.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

Packing packing_of_mode(GstVideoMultiviewMode mode) {
  switch (mode) {
    case GST_VIDEO_MULTIVIEW_MODE_NONE:
    case GST_VIDEO_MULTIVIEW_MODE_MONO:
    case GST_VIDEO_MULTIVIEW_MODE_LEFT:
    case GST_VIDEO_MULTIVIEW_MODE_RIGHT:
      return Packing::none;
    case GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE:
      return Packing::side_by_side;
    case GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM:
      return Packing::top_bottom;
    default:
      refuse_stream(
          std::string("cudasgmstereo cannot split frames packed as \"") +
          gst_video_multiview_mode_to_caps_string(mode) +
          "\": send side-by-side or top-bottom frames, or split the frames into two streams with "
          "glstereosplit.");
  }
}

}  // namespace

FramePacking packing_of(const GstVideoInfo& info, GstVideoMultiviewFramePacking property) {
  FramePacking result;
  result.packing = packing_of_mode(property != GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE
                                       ? static_cast<GstVideoMultiviewMode>(property)
                                       : GST_VIDEO_INFO_MULTIVIEW_MODE(&info));
  if (!result.packed())
    return result;
  const GstVideoMultiviewFlags flags = GST_VIDEO_INFO_MULTIVIEW_FLAGS(&info);
  constexpr int mirrored =
      GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLIPPED | GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLOPPED |
      GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLIPPED | GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLOPPED;
  if (flags & mirrored)
    refuse_stream(
        "cudasgmstereo cannot split packed frames with upside-down or mirrored halves "
        "(multiview-flags: " +
        take_gstring(g_flags_to_string(GST_TYPE_VIDEO_MULTIVIEW_FLAGS, flags & mirrored)) +
        "): correct them upstream, for example with glviewconvert.");
  if (flags & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO)
    refuse_stream(
        "cudasgmstereo does not support streams that mix packed frames and single pictures "
        "(multiview-flags=mixed-mono): send packed frames only.");
  result.right_first = flags & GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST;
  result.half_aspect = flags & GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT;
  return result;
}

std::string split_error(const FramePacking& packing, int width, int height) {
  if (packing.packing == Packing::side_by_side && width % 2 != 0)
    return "Frames with two pictures side by side must have an even width, not " +
           std::to_string(width) + ": crop one column, for example with videocrop.";
  if (packing.packing == Packing::top_bottom && height % 2 != 0)
    return "Frames with two pictures one above the other must have an even height, not " +
           std::to_string(height) + ": crop one row, for example with videocrop.";
  return {};
}

PictureSize picture_size(const FramePacking& packing, int width, int height) noexcept {
  return {packing.packing == Packing::side_by_side ? width / 2 : width,
          packing.packing == Packing::top_bottom ? height / 2 : height};
}

FrameLayout half_layout(const FramePacking& packing, const FrameLayout& whole) {
  const auto [width, height] = picture_size(packing, whole.width, whole.height);
  FrameLayout half{.width = width, .height = height, .bits = whole.bits, .shift = whole.shift};
  for (int c = 0; c < whole.channel_count; ++c) {
    Channel channel = whole.channels[c];
    if (channel.role == Role::chroma || channel.role == Role::alpha)
      continue;
    channel.width = width;
    channel.height = height;
    half.channels[half.channel_count++] = channel;
    half.planes[channel.plane] = {width * channel.step * whole.sample_bytes(), height};
    half.plane_count = std::max(half.plane_count, channel.plane + 1);
  }
  return half;
}

bool halves_have_chroma(const FramePacking& packing, const FrameLayout& whole) {
  if (!packing.packed())
    return true;
  const auto [width, height] = picture_size(packing, whole.width, whole.height);
  for (int c = 0; c < whole.channel_count; ++c) {
    const Channel& channel = whole.channels[c];
    if (packing.packing == Packing::side_by_side ? width % channel.subsampling_x != 0
                                                 : height % channel.subsampling_y != 0)
      return false;
  }
  return true;
}

ConstFrame half_of(const FramePacking& packing, const FrameLayout& half, const ConstFrame& frame,
                   bool right) {
  ConstFrame picture;
  for (int p = 0; p < half.plane_count; ++p) {
    const View<const std::uint8_t>& plane = frame.planes[p];
    const auto [row_bytes, rows] = half.planes[p];
    const std::uint8_t* data = plane.data;
    if (right != packing.right_first)
      data = packing.packing == Packing::side_by_side ? data + row_bytes : plane.row(rows);
    picture.planes[p] = {data, row_bytes, rows, plane.pitch};
  }
  return picture;
}

}  // namespace cudavision
