// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/packedframes.h"

#include "gst/core/elementerror.h"

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
          "\": give it side-by-side or top-bottom frames, or split them into the streams of two "
          "cameras with glstereosplit.");
  }
}

bool affects_disparity(const Channel& channel) {
  return channel.role != Role::chroma && channel.role != Role::alpha;
}

/// The planes that half_layout() keeps, by their index in the whole layout.
struct KeptPlanes {
  explicit KeptPlanes(const FrameLayout& whole) {
    for (int p = 0; p < whole.plane_count; ++p)
      for (int c = 0; c < whole.channel_count; ++c)
        if (affects_disparity(whole.channels[c]) && whole.channels[c].plane == p) {
          from[count] = p;
          pixel_bytes[count++] = whole.channels[c].step * whole.sample_bytes();
          break;
        }
  }

  int count = 0;
  int from[FrameLayout::max_planes] = {};
  int pixel_bytes[FrameLayout::max_planes] = {};
};

/// second: the right or lower half.
View<const std::uint8_t> half_plane(const FramePacking& packing,
                                    const View<const std::uint8_t>& plane, int row_bytes, int rows,
                                    bool second) {
  const std::uint8_t* data = plane.data;
  if (second)
    data = packing.packing == Packing::side_by_side ? data + row_bytes : plane.row(rows);
  return {data, row_bytes, rows, plane.pitch};
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
        "cudasgmstereo cannot split packed frames if one half is upside down or mirrored: flip "
        "that half before this element.");
  if (flags & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO)
    refuse_stream(
        "cudasgmstereo does not support streams that mix packed frames and single pictures "
        "(multiview-flags=mixed-mono): give it packed frames only.");
  result.right_first = flags & GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST;
  result.half_aspect = flags & GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT;
  return result;
}

std::string split_error(const FramePacking& packing, int width, int height) {
  if (packing.packing == Packing::side_by_side && width % 2 != 0)
    return "Frames with two pictures side by side must have an even width, but these are " +
           std::to_string(width) + " pixels wide: crop one column, for example with videocrop.";
  if (packing.packing == Packing::top_bottom && height % 2 != 0)
    return "Frames with two pictures one above the other must have an even height, but these are " +
           std::to_string(height) + " pixels high: crop one row, for example with videocrop.";
  return {};
}

PictureSize picture_size(const FramePacking& packing, int width, int height) noexcept {
  return {packing.packing == Packing::side_by_side ? width / 2 : width,
          packing.packing == Packing::top_bottom ? height / 2 : height};
}

FrameLayout half_layout(const FramePacking& packing, const FrameLayout& whole) {
  const auto [width, height] = picture_size(packing, whole.width, whole.height);
  const KeptPlanes kept(whole);
  FrameLayout half;
  half.width = width;
  half.height = height;
  half.bits = whole.bits;
  half.shift = whole.shift;
  half.plane_count = kept.count;
  for (int p = 0; p < kept.count; ++p) {
    half.planes[p] = {width * kept.pixel_bytes[p], height};
    for (int c = 0; c < whole.channel_count; ++c) {
      if (!affects_disparity(whole.channels[c]) || whole.channels[c].plane != kept.from[p])
        continue;
      Channel& channel = half.channels[half.channel_count++];
      channel = whole.channels[c];
      channel.plane = p;
      channel.width = width;
      channel.height = height;
    }
  }
  return half;
}

ConstFrame half_of(const FramePacking& packing, const FrameLayout& whole, const ConstFrame& frame,
                   bool right) {
  const auto [width, height] = picture_size(packing, whole.width, whole.height);
  const bool second = right != packing.right_first;
  const KeptPlanes kept(whole);
  ConstFrame half;
  for (int p = 0; p < kept.count; ++p) {
    const int row_bytes = width * kept.pixel_bytes[p];
    half.planes[p] = half_plane(packing, frame.planes[kept.from[p]], row_bytes, height, second);
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

ConstFrame left_picture_of(const FramePacking& packing, const FrameLayout& half,
                           const ConstFrame& frame) {
  ConstFrame picture;
  for (int p = 0; p < half.plane_count; ++p) {
    const auto [row_bytes, rows] = half.planes[p];
    picture.planes[p] = half_plane(packing, frame.planes[p], row_bytes, rows, packing.right_first);
  }
  return picture;
}

}  // namespace cudavision
