// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/stereocaps.h"

#include <algorithm>
#include <utility>

#include "cuda/sgm/points/points.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/tensors.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

Formats output_formats(StereoOutput output) {
  if (output == StereoOutput::confidence)
    return {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA,
            GST_VIDEO_FORMAT_BGRx};
  return {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_RGB,
          GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRx};
}

// Gives each format its own structure, so that an intersection keeps the order of the formats.
Caps with_output_formats(const GstStructure* frame, StereoOutput output, bool cuda) {
  Caps caps(gst_caps_new_empty());
  for (GstVideoFormat format : output_formats(output))
    append_with_memories(caps.get(), frame, {format}, cuda);
  return caps;
}

// If the frame has no size, returns the caps for all sizes.
Caps tensor_caps(const GstStructure* frame, bool cuda) {
  Structure tensor = tensor_structure({"float32"});
  TensorSize size;
  if (gst_structure_get_int(frame, "width", &size.columns) &&
      gst_structure_get_int(frame, "height", &size.rows))
    set_dimensions(tensor.get(), 3, size);
  copy_framerate(frame, tensor.get());
  Caps caps(gst_caps_new_empty());
  append_with_memories(caps.get(), std::move(tensor), cuda);
  return caps;
}

// Returns caps of the frames' format and of GRAY8. Omits the frames' format if halves of packed
// frames split chroma samples. `left` has the frames' caps, `picture` the output's other fields.
Caps rectified_caps(const GstCaps* left, const FramePacking& packing, const GstStructure* picture,
                    bool cuda) {
  const FrameFormat frames = frame_format_from_caps(left);
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&frames.info);
  Caps caps(gst_caps_new_empty());
  if (halves_have_chroma(packing, frames.layout))
    append_with_memories(caps.get(), picture, {format}, cuda);
  if (format == GST_VIDEO_FORMAT_GRAY8)
    return caps;
  const Structure gray(gst_structure_copy(picture));
  gst_structure_remove_fields(gray.get(), "colorimetry", "chroma-site", nullptr);
  // Gray without colorimetry has the full range, so a limited range must be in the caps.
  if (is_limited_range(frames.info)) {
    const std::string colorimetry =
        take_gstring(gst_video_colorimetry_to_string(&frames.info.colorimetry));
    if (!colorimetry.empty())
      gst_structure_set(gray.get(), "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
  }
  append_with_memories(caps.get(), gray.get(), {GST_VIDEO_FORMAT_GRAY8}, cuda);
  return caps;
}

void correct_half_aspect(GstStructure* picture, const FramePacking& packing) {
  if (!packing.packed() || !packing.half_aspect)
    return;
  int n = 1, d = 1;
  gst_structure_get_fraction(picture, "pixel-aspect-ratio", &n, &d);
  const bool side_by_side = packing.packing == Packing::side_by_side;
  if (gst_util_fraction_multiply(n, d, side_by_side ? 2 : 1, side_by_side ? 1 : 2, &n, &d))
    gst_structure_set(picture, "pixel-aspect-ratio", GST_TYPE_FRACTION, n, d, nullptr);
}

// Removes formats whose depth `other` does not allow. Returns false if no format is left.
bool intersect_depths(GstStructure* structure, const GstStructure* other) {
  const Formats theirs = formats_of(other);
  if (theirs.empty())
    return true;
  Formats formats = formats_of(structure);
  const auto unlike_theirs = [&](GstVideoFormat format) {
    return std::none_of(theirs.begin(), theirs.end(), [&](GstVideoFormat their_format) {
      return depth_of(their_format) == depth_of(format);
    });
  };
  std::erase_if(formats, unlike_theirs);
  if (formats.empty())
    return false;
  set_formats(structure, formats);
  return true;
}

}  // namespace

Caps stereo_src_template() {
  Caps caps(gst_caps_new_empty());
  append_with_memories(caps.get(), any_frame().get(), output_formats(StereoOutput::disparity),
                       true);
  return caps;
}

Caps stereo_src_caps(StereoOutput output, bool cuda) {
  if (output == StereoOutput::rectified)
    return video_template_caps(cuda);
  return output == StereoOutput::points ? tensor_caps(any_frame().get(), cuda)
                                        : with_output_formats(any_frame().get(), output, cuda);
}

Caps stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                         bool cuda) {
  const Structure picture(gst_structure_copy(gst_caps_get_structure(left, 0)));
  int width = 0, height = 0;
  gst_structure_get_int(picture.get(), "width", &width);
  gst_structure_get_int(picture.get(), "height", &height);
  const PictureSize size = picture_size(packing, width, height);
  gst_structure_set(picture.get(), "width", G_TYPE_INT, size.width, "height", G_TYPE_INT,
                    size.height, nullptr);
  correct_half_aspect(picture.get(), packing);
  if (gst_structure_has_field(picture.get(), "multiview-mode"))
    gst_structure_set(picture.get(), "multiview-mode", G_TYPE_STRING, "mono", nullptr);
  gst_structure_remove_fields(picture.get(), "multiview-flags", "views", nullptr);
  if (output == StereoOutput::rectified)
    return rectified_caps(left, packing, picture.get(), cuda);
  gst_structure_remove_fields(picture.get(), "colorimetry", "chroma-site", nullptr);
  return output == StereoOutput::points ? tensor_caps(picture.get(), cuda)
                                        : with_output_formats(picture.get(), output, cuda);
}

FrameFormat stereo_output_format(StereoOutput output, const GstCaps* caps) {
  if (output != StereoOutput::points)
    return frame_format_from_caps(caps);
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const auto size = tensor_size(text_of(gst_structure_get_string(structure, "dimensions")), 3);
  if (!size)
    refuse_stream("These caps do not describe points: " + caps_text(caps) +
                  ". Correct the capsfilter after the element.");
  return tensor_format(caps,
                       gsize{sgm::Points::bytes_per_point} * static_cast<gsize>(size->columns),
                       size->rows, "cloud of " + size_text(size->columns, size->rows) + " points",
                       "scale the frames down before the element");
}

Caps stereo_sink_caps_for(const GstCaps* other, bool cuda) {
  const Caps all = video_template_caps(cuda);
  Caps caps(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(other); ++i) {
    const GstStructure* theirs = gst_caps_get_structure(other, i);
    if (!gst_structure_has_name(theirs, "video/x-raw"))
      continue;
    const Structure size(gst_structure_new_empty("video/x-raw"));
    for (const char* field : {"width", "height"})
      if (const GValue* value = gst_structure_get_value(theirs, field))
        gst_structure_set_value(size.get(), field, value);
    for (guint k = 0; k < gst_caps_get_size(all.get()); ++k) {
      Structure ours(gst_structure_intersect(gst_caps_get_structure(all.get(), k), size.get()));
      if (!ours || !intersect_depths(ours.get(), theirs))
        continue;
      GstCapsFeatures* features = gst_caps_features_copy(gst_caps_get_features(all.get(), k));
      caps.reset(gst_caps_merge_structure_full(caps.release(), ours.release(), features));
    }
  }
  return caps;
}

bool leaves_choice(const GstCaps* caps) {
  if (gst_caps_is_empty(caps))
    return false;
  const GstStructure* first = gst_caps_get_structure(caps, 0);
  const int depth = depth_of(formats_of(first).front());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    for (const char* field : {"width", "height"}) {
      const GValue* value = gst_structure_get_value(structure, field);
      if (!G_VALUE_HOLDS_INT(value) ||
          gst_value_compare(value, gst_structure_get_value(first, field)) != GST_VALUE_EQUAL)
        return true;
    }
    for (GstVideoFormat format : formats_of(structure))
      if (depth_of(format) != depth)
        return true;
  }
  return false;
}

std::string pair_error(const FrameFormat& left, const FrameFormat& right) {
  const FrameLayout& l = left.layout;
  const FrameLayout& r = right.layout;
  const bool same_size = l.width == r.width && l.height == r.height;
  if (same_size && l.bits == r.bits)
    return {};
  const auto text = [](const FrameFormat& format) {
    return format.description() + " (" + std::to_string(format.layout.bits) + " bits)";
  };
  const std::string remedy =
      same_size ? "bit depth: put \"videoconvert ! video/x-raw,format=" +
                      format_text(GST_VIDEO_INFO_FORMAT(&left.info))
                : "size: put \"videoscale ! video/x-raw,width=" + std::to_string(l.width) +
                      ",height=" + std::to_string(l.height);
  return "The left frames are " + text(left) + ", the right frames " + text(right) +
         ", but the two pictures of a pair must have the same " + remedy +
         "\" before sink_right, or convert the left frames.";
}

}  // namespace cudavision
