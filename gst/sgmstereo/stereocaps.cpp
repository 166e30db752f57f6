// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereocaps.h"

#include <algorithm>
#include <string>

#include "gst/base/caps.h"
#include "gst/base/elementerror.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {
namespace {

constexpr int largest = 65535;

Formats formats_out(StereoOutput output) {
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

// One structure for each format and memory, so that an intersection keeps their order. Takes frame.
GstCaps* frames_in_formats(GstStructure* frame, StereoOutput output, bool cuda) {
  GstCaps* caps = gst_caps_new_empty();
  for (GstVideoFormat format : formats_out(output)) {
    set_formats(frame, {format});
    if (cuda && built_with_cuda())
      gst_caps_append_structure_full(caps, gst_structure_copy(frame),
                                     gst_caps_features_new(cuda_memory_feature, nullptr));
    gst_caps_append_structure(caps, gst_structure_copy(frame));
  }
  gst_structure_free(frame);
  return caps;
}

GstStructure* any_frame() {
  return gst_structure_new("video/x-raw", "width", GST_TYPE_INT_RANGE, 1, largest, "height",
                           GST_TYPE_INT_RANGE, 1, largest, "framerate", GST_TYPE_FRACTION_RANGE, 0,
                           1, G_MAXINT, 1, nullptr);
}

// Pixels of half-aspect frames are twice as wide or as high as their caps say.
void set_aspect(GstStructure* picture, const FramePacking& packing) {
  if (!packing.packed() || !packing.half_aspect)
    return;
  int n = 1, d = 1;
  gst_structure_get_fraction(picture, "pixel-aspect-ratio", &n, &d);
  const int by_x = packing.packing == Packing::side_by_side ? 2 : 1;
  int product_n = n, product_d = d;
  if (gst_util_fraction_multiply(n, d, by_x, by_x == 2 ? 1 : 2, &product_n, &product_d))
    gst_structure_set(picture, "pixel-aspect-ratio", GST_TYPE_FRACTION, product_n, product_d,
                      nullptr);
}

std::string text_of(const FrameFormat& format) {
  return format.description() + " (" + std::to_string(format.layout.bits) + " bits)";
}

}  // namespace

GstCaps* stereo_src_template() {
  GstStructure* frame = any_frame();
  set_formats(frame, formats_out(StereoOutput::disparity));
  GstCaps* caps = gst_caps_new_empty();
  if (built_with_cuda())
    gst_caps_append_structure_full(caps, gst_structure_copy(frame),
                                   gst_caps_features_new(cuda_memory_feature, nullptr));
  gst_caps_append_structure(caps, frame);
  return caps;
}

GstCaps* stereo_src_caps(StereoOutput output, bool cuda) {
  return frames_in_formats(any_frame(), output, cuda);
}

GstCaps* stereo_src_caps_for(const GstCaps* left, const FramePacking& packing, StereoOutput output,
                             bool cuda) {
  GstStructure* picture = gst_structure_copy(gst_caps_get_structure(left, 0));
  int width = 0, height = 0;
  gst_structure_get_int(picture, "width", &width);
  gst_structure_get_int(picture, "height", &height);
  const ViewSize size = picture_size(packing, width, height);
  gst_structure_set(picture, "width", G_TYPE_INT, size.width, "height", G_TYPE_INT, size.height,
                    nullptr);
  set_aspect(picture, packing);
  // A map is one view, whatever the frames were, and has no colours of theirs.
  if (gst_structure_has_field(picture, "multiview-mode"))
    gst_structure_set(picture, "multiview-mode", G_TYPE_STRING, "mono", nullptr);
  gst_structure_remove_fields(picture, "multiview-flags", "views", "colorimetry", "chroma-site",
                              nullptr);
  return frames_in_formats(picture, output, cuda);
}

GstCaps* choose_stereo_output(GstCaps* caps, GstPad* src) {
  caps = gst_caps_make_writable(choose_memory(Caps(caps), src).release());
  if (gst_caps_is_empty(caps))
    return caps;
  GstStructure* structure = gst_caps_get_structure(caps, 0);
  // Of a pad whose frames have no rate: an unknown one, not the slowest that downstream takes.
  gst_structure_fixate_field_nearest_fraction(structure, "framerate", 0, 1);
  if (gst_structure_has_field(structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction(structure, "pixel-aspect-ratio", 1, 1);
  return gst_caps_fixate(caps);
}

GstCaps* stereo_sink_caps(const GstCaps* other, bool cuda) {
  const Caps all(video_template_caps());
  GstCaps* caps = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(all.get()); ++i)
    if (cuda || !has_cuda_feature(all.get(), i))
      gst_caps_append(caps, gst_caps_copy_nth(all.get(), i));
  if (!other)
    return caps;

  const GstStructure* known = gst_caps_get_structure(other, 0);
  const Formats theirs = formats_of(known);
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    GstStructure* structure = gst_caps_get_structure(caps, i);
    for (const char* field : {"width", "height"})
      if (const GValue* value = gst_structure_get_value(known, field))
        gst_structure_set_value(structure, field, value);
    if (theirs.size() != 1)
      continue;
    Formats ours = formats_of(structure);
    ours.erase(std::remove_if(
                   ours.begin(), ours.end(),
                   [&](GstVideoFormat format) { return depth_of(format) != depth_of(theirs[0]); }),
               ours.end());
    set_formats(structure, ours);
  }
  return caps;
}

void require_alike(const FrameFormat& left, const FrameFormat& right) {
  const FrameLayout& l = left.layout;
  const FrameLayout& r = right.layout;
  if (l.width != r.width || l.height != r.height)
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                       "The left frames are " + text_of(left) + ", the right ones " +
                           text_of(right) +
                           ", but the two pictures of a pair are of one size: put videoscale and a "
                           "capsfilter with width and height before both pads.");
  if (l.bits != r.bits)
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                       "The left frames are " + text_of(left) + ", the right ones " +
                           text_of(right) +
                           ", but the samples of a pair have equally many bits: put videoconvert "
                           "and a capsfilter with a format before both pads.");
}

sgm::PictureParameters::Kind picture_kind(StereoOutput output, const FrameFormat& out) {
  using Kind = sgm::PictureParameters::Kind;
  if (output == StereoOutput::depth)
    return Kind::depth;
  return out.layout.channel_count > 1 ? Kind::color : Kind::gray;
}

}  // namespace cudavision
