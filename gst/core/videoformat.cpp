// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/core/videoformat.h"

#include <algorithm>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

// Samples of "LE" formats are read as native words.
static_assert(G_BYTE_ORDER == G_LITTLE_ENDIAN, "gst-cudavision needs a little-endian machine");

struct SupportedFormat {
  GstVideoFormat format;
  bool known_to_libgstcuda;  ///< libgstcuda 1.22 has pools for the format
  repack::Words words = repack::Words::native;
  /// Positions of the lowest bits of red, green, blue and alpha, if a word holds a whole pixel.
  std::array<int, FrameLayout::max_channels> low_bit = {};
};

// Add more formats here if frame.h or repack.h can describe them. Caps prefer earlier formats.
constexpr SupportedFormat formats[] = {
    {GST_VIDEO_FORMAT_GRAY8, false},
    {GST_VIDEO_FORMAT_GRAY16_LE, false},
    {GST_VIDEO_FORMAT_I420, true},
    {GST_VIDEO_FORMAT_YV12, true},
    {GST_VIDEO_FORMAT_NV12, true},
    {GST_VIDEO_FORMAT_NV21, true},
    {GST_VIDEO_FORMAT_Y42B, true},
    {GST_VIDEO_FORMAT_Y444, true},
    {GST_VIDEO_FORMAT_YUY2, true},
    {GST_VIDEO_FORMAT_UYVY, true},
    {GST_VIDEO_FORMAT_P010_10LE, true},
    {GST_VIDEO_FORMAT_I420_10LE, true},
    {GST_VIDEO_FORMAT_RGB, true},
    {GST_VIDEO_FORMAT_BGR, true},
    {GST_VIDEO_FORMAT_RGBx, true},
    {GST_VIDEO_FORMAT_BGRx, true},
    {GST_VIDEO_FORMAT_xRGB, false},
    {GST_VIDEO_FORMAT_xBGR, false},
    {GST_VIDEO_FORMAT_RGBA, true},
    {GST_VIDEO_FORMAT_BGRA, true},
    {GST_VIDEO_FORMAT_ARGB, true},
    {GST_VIDEO_FORMAT_ABGR, true},
    {GST_VIDEO_FORMAT_GBR, true},
    {GST_VIDEO_FORMAT_GRAY16_BE, false, repack::Words::swapped},
    {GST_VIDEO_FORMAT_P012_LE, false},
    {GST_VIDEO_FORMAT_P016_LE, true},
    {GST_VIDEO_FORMAT_I420_12LE, false},
    {GST_VIDEO_FORMAT_I422_10LE, true},
    {GST_VIDEO_FORMAT_I422_12LE, true},
    {GST_VIDEO_FORMAT_Y444_10LE, false},
    {GST_VIDEO_FORMAT_Y444_12LE, false},
    {GST_VIDEO_FORMAT_Y444_16LE, true},
    {GST_VIDEO_FORMAT_VUYA, false},
    {GST_VIDEO_FORMAT_RGBP, true},
    {GST_VIDEO_FORMAT_BGRP, true},
    {GST_VIDEO_FORMAT_GBR_10LE, false},
    {GST_VIDEO_FORMAT_GBR_12LE, false},
#if GST_CHECK_VERSION(1, 24, 0)
    {GST_VIDEO_FORMAT_GBR_16LE, false},
#endif
    {GST_VIDEO_FORMAT_ARGB64_LE, false},
    {GST_VIDEO_FORMAT_RGBA64_LE, false},
    {GST_VIDEO_FORMAT_RGB10A2_LE, true, repack::Words::packed, {0, 10, 20, 30}},
    {GST_VIDEO_FORMAT_BGR10A2_LE, true, repack::Words::packed, {20, 10, 0, 30}},
};

const SupportedFormat* find_format(GstVideoFormat format) {
  for (const SupportedFormat& supported : formats)
    if (supported.format == format)
      return &supported;
  return nullptr;
}

Role role_of(const GstVideoFormatInfo* format, int component) {
  if (component == 3)
    return Role::alpha;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(format))
    return rgb_roles[component];
  return component == 0 ? Role::luma : Role::chroma;
}

FrameLayout layout_of(const GstVideoInfo& info) {
  const GstVideoFormatInfo* format = info.finfo;
  FrameLayout layout;
  layout.width = info.width;
  layout.height = info.height;
  layout.bits = GST_VIDEO_FORMAT_INFO_DEPTH(format, 0);
  layout.shift = GST_VIDEO_FORMAT_INFO_SHIFT(format, 0);
  layout.plane_count = GST_VIDEO_FORMAT_INFO_N_PLANES(format);
  layout.channel_count = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format);

  for (int c = 0; c < layout.channel_count; ++c) {
    const int pixel_bytes = GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c);
    Channel& channel = layout.channels[c];
    channel.role = role_of(format, c);
    channel.plane = GST_VIDEO_FORMAT_INFO_PLANE(format, c);
    // Rounds up, because V of P010, P012 and P016 has an offset of 1 byte in GStreamer, not 2.
    const int sample_bytes = layout.sample_bytes();
    channel.offset = (GST_VIDEO_FORMAT_INFO_POFFSET(format, c) + sample_bytes - 1) / sample_bytes;
    channel.step = pixel_bytes / sample_bytes;
    channel.width = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format, c, info.width);
    channel.height = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format, c, info.height);
    channel.subsampling_x = 1 << GST_VIDEO_FORMAT_INFO_W_SUB(format, c);
    channel.subsampling_y = 1 << GST_VIDEO_FORMAT_INFO_H_SUB(format, c);

    // row_bytes includes the padding byte of the last pixel and, in YUY2 and UYVY of odd width, the
    // chroma after the last luma sample.
    PlaneShape& plane = layout.planes[channel.plane];
    plane.row_bytes = std::max(plane.row_bytes, pixel_bytes * channel.width);
    plane.rows = std::max(plane.rows, channel.height);
  }
  return layout;
}

repack::StoredLayout storage_of(const GstVideoInfo& info, const SupportedFormat& format) {
  repack::StoredLayout storage;
  storage.frame = layout_of(info);
  storage.words = format.words;
  if (format.words != repack::Words::packed)
    return storage;
  storage.low_bit = format.low_bit;
  for (int c = 0; c < storage.frame.channel_count; ++c) {
    storage.frame.channels[c].offset = 0;
    storage.frame.channels[c].step = 1;
    storage.depth[c] = GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, c);
  }
  return storage;
}

// Returns the elements that download frames to system memory.
std::string download_from(const GstCapsFeatures* features) {
  constexpr const char* elements[][2] = {
      {"memory:NVMM", "nvvideoconvert ! video/x-raw (on Jetson nvvidconv ! video/x-raw)"},
      {"memory:GLMemory", "gldownload"},
      {"memory:VAMemory", "vapostproc ! video/x-raw"},
      {cuda_memory_feature, "cudadownload"},
  };
  for (const auto& [feature, element] : elements)
    if (gst_caps_features_contains(features, feature))
      return element;
  return "an element that outputs video/x-raw in system memory";
}

const char* video_from(const char* media_type) {
  if (g_strcmp0(media_type, "video/x-bayer") == 0)
    return ": put bayer2rgb before the element.";
  if (g_str_has_prefix(media_type, "audio/"))
    return ": link the element to the video of the source, not to its audio.";
  return ": put a decoder, such as decodebin, before the element.";
}

[[noreturn]] void refuse_caps(const GstCaps* caps) {
  refuse_stream(
      "These caps do not describe video frames; a field such as format is missing or invalid: " +
      caps_text(caps) + ". Correct the capsfilter, appsrc or parser that sets these caps.");
}

void require_raw_video(const GstCaps* caps) {
  if (!gst_caps_is_fixed(caps))
    refuse_caps(caps);
  const char* media_type = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  if (g_strcmp0(media_type, "video/x-raw") != 0)
    refuse_stream(std::string("The element takes raw video frames, but gets ") + media_type +
                  video_from(media_type));
  const GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  if (has_system_feature(caps, 0) || gst_caps_features_contains(features, "format:Interlaced"))
    return;
  if (!has_cuda_feature(caps, 0))
    refuse_stream("Frames with " + take_gstring(gst_caps_features_to_string(features)) +
                  " are not supported: put " + download_from(features) + " before the element.");
  if (!built_with_cuda())
    refuse_stream(
        "The frames are in CUDA memory, but this gst-cudavision was built without CUDA: put "
        "cudadownload before the element, or rebuild with nvcc and gstreamer-cuda-1.0 installed.");
}

}  // namespace

// RGB counts as full range. GStreamer's default is full range for gray and limited for YUV.
bool is_limited_range(const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_IS_RGB(&info))
    return false;
  if (info.colorimetry.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
    return GST_VIDEO_INFO_IS_YUV(&info);
  return info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
}

std::string size_text(int width, int height) {
  return std::to_string(width) + "×" + std::to_string(height);
}

std::string format_text(GstVideoFormat format) {
  const std::string unknown = "unknown format " + std::to_string(format);
  // GLib logs a CRITICAL if the name of this format is queried.
  if (format == GST_VIDEO_FORMAT_UNKNOWN)
    return unknown;
  return text_of(gst_video_format_to_string(format), unknown.c_str());
}

std::string FrameFormat::description() const {
  if (!is_video())
    return std::to_string(size) + " bytes";
  return format_text(GST_VIDEO_INFO_FORMAT(&info)) + ", " + size_text(layout.width, layout.height);
}

FrameFormat frame_format_from_caps(const GstCaps* caps, repack::UnpackedForm form) {
  require_raw_video(caps);
  FrameFormat format;
  if (!gst_video_info_from_caps(&format.info, caps))
    refuse_caps(caps);
  const GstVideoInfo& info = format.info;
  const GstVideoFormat video_format = GST_VIDEO_INFO_FORMAT(&info);
  const SupportedFormat* supported = find_format(video_format);
  if (!supported)
    refuse_stream("The video format " + format_text(video_format) +
                  " is not supported: put videoconvert (or cudaconvert) before the element.");
  if (info.width < 1 || info.width > largest_side || info.height < 1 || info.height > largest_side)
    refuse_stream("Frames of " + size_text(info.width, info.height) +
                  " are not supported: each side must have 1 to 65535 pixels; scale or crop the "
                  "frames upstream.");
  if (GST_VIDEO_INFO_INTERLACE_MODE(&info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    refuse_stream(
        "interlace-mode=alternate is not supported: put an element that weaves fields into frames, "
        "such as deinterlace, before this one.");

  format.storage = storage_of(info, *supported);
  format.form = form;
  format.layout = repack::unpacked_layout(format.storage, form);
  format.known_to_libgstcuda = supported->known_to_libgstcuda;
  std::copy_n(info.offset, format.storage.frame.plane_count, format.offset.begin());
  std::copy_n(info.stride, format.storage.frame.plane_count, format.stride.begin());
  format.size = info.size;
  format.cuda_memory = has_cuda_feature(caps, 0);
  const int bits = format.layout.bits;
  const bool limited = is_limited_range(info);
  format.low = limited ? 16 << (bits - 8) : 0;
  format.high = limited ? 235 << (bits - 8) : (1 << bits) - 1;
  return format;
}

Structure any_frame() {
  return Structure(gst_structure_new("video/x-raw", "width", GST_TYPE_INT_RANGE, 1, largest_side,
                                     "height", GST_TYPE_INT_RANGE, 1, largest_side, "framerate",
                                     GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr));
}

Caps video_template_caps(bool cuda) {
  Formats names;
  for (const SupportedFormat& supported : formats)
    names.push_back(supported.format);
  Caps caps(gst_caps_new_empty());
  append_with_memories(caps.get(), any_frame().get(), names, cuda);
  return caps;
}

}  // namespace cudavision
