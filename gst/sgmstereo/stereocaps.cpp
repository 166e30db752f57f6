// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereocaps.h"

#include <algorithm>
#include <string>

#include "gst/base/caps.h"
#include "gst/base/elementerror.h"

namespace cudavision {
namespace {

Formats output_formats(StereoOutput output) {
  switch (output) {
    case StereoOutput::depth:
      return {GST_VIDEO_FORMAT_GRAY16_LE};
    case StereoOutput::confidence:
      return {GST_VIDEO_FORMAT_GRAY8};
    case StereoOutput::disparity:
      break;
  }
  return {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_RGB,
          GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRx};
}

// Each format has a structure of its own, so that an intersection keeps their order.
Caps with_output_formats(const GstStructure* frame, StereoOutput output, bool cuda) {
  Caps caps(gst_caps_new_empty());
  for (GstVideoFormat format : output_formats(output))
    append_with_memories(caps.get(), frame, {format}, cuda);
  return caps;
}

// Pixels of half-aspect frames are twice as wide or as high as their caps say.
void correct_half_aspect(GstStructure* picture, const FramePacking& packing) {
  if (!packing.packed() || !packing.half_aspect)
    return;
  int n = 1, d = 1;
  gst_structure_get_fraction(picture, "pixel-aspect-ratio", &n, &d);
  const bool side_by_side = packing.packing == Packing::side_by_side;
  int product_n = n, product_d = d;
  if (gst_util_fraction_multiply(n, d, side_by_side ? 2 : 1, side_by_side ? 1 : 2, &product_n,
                                 &product_d))
    gst_structure_set(picture, "pixel-aspect-ratio", GST_TYPE_FRACTION, product_n, product_d,
                      nullptr);
}

[[noreturn]] void refuse_pair(const FrameFormat& left, const FrameFormat& right,
                              const std::string& remedy) {
  const auto text = [](const FrameFormat& format) {
    return format.description() + " (" + std::to_string(format.layout.bits) + " bits)";
  };
  refuse_stream("The left frames are " + text(left) + ", the right ones " + text(right) + ", but " +
                remedy);
}

}  // namespace

Caps stereo_src_template() {
  Caps caps(gst_caps_new_empty());
  append_with_memories(caps.get(), any_frame().get(), output_formats(StereoOutput::disparity),
                       true);
  return caps;
}

Caps stereo_src_caps(StereoOutput output, bool cuda) {
  return with_output_formats(any_frame().get(), output, cuda);
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
  // A map is a single view even if the frames are packed, and their colorimetry does not apply.
  if (gst_structure_has_field(picture.get(), "multiview-mode"))
    gst_structure_set(picture.get(), "multiview-mode", G_TYPE_STRING, "mono", nullptr);
  gst_structure_remove_fields(picture.get(), "multiview-flags", "views", "colorimetry",
                              "chroma-site", nullptr);
  return with_output_formats(picture.get(), output, cuda);
}

Caps stereo_sink_caps(const GstCaps* other, bool cuda) {
  const Caps all(video_template_caps());
  Caps caps(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(all.get()); ++i)
    if (cuda || !has_cuda_feature(all.get(), i))
      gst_caps_append(caps.get(), gst_caps_copy_nth(all.get(), i));
  if (!other)
    return caps;

  const GstStructure* fixed = gst_caps_get_structure(other, 0);
  const Formats their_formats = formats_of(fixed);
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    GstStructure* structure = gst_caps_get_structure(caps.get(), i);
    for (const char* field : {"width", "height"})
      if (const GValue* value = gst_structure_get_value(fixed, field))
        gst_structure_set_value(structure, field, value);
    if (their_formats.size() != 1)
      continue;
    const int depth = depth_of(their_formats[0]);
    Formats formats = formats_of(structure);
    formats.erase(std::remove_if(formats.begin(), formats.end(),
                                 [&](GstVideoFormat format) { return depth_of(format) != depth; }),
                  formats.end());
    set_formats(structure, formats);
  }
  return caps;
}

void require_equal_pictures(const FrameFormat& left, const FrameFormat& right) {
  if (left.layout.width != right.layout.width || left.layout.height != right.layout.height)
    refuse_pair(left, right,
                "the two pictures of a pair must have the same size: put videoscale and a "
                "capsfilter with width and height before both pads.");
  if (left.layout.bits != right.layout.bits)
    refuse_pair(left, right,
                "the two pictures of a pair must have the same bit depth: put videoconvert and a "
                "capsfilter with a format before both pads.");
}

}  // namespace cudavision
