// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/filter/outputcaps.h"

#include <algorithm>

#include "gst/base/filter/gstcudavisionfilter.h"
#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

const Formats gray_formats{GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE};

bool contains(const Formats& formats, GstVideoFormat format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

void append_gray_picture(GstCaps* result, const GstStructure* frame, GrayDepth depth) {
  const Formats in = formats_of(frame);
  Formats out = gray_formats;
  if (depth == GrayDepth::as_input) {
    if (std::all_of(in.begin(), in.end(), is_deep))
      out = {GST_VIDEO_FORMAT_GRAY16_LE};
    else if (std::none_of(in.begin(), in.end(), is_deep))
      out = {GST_VIDEO_FORMAT_GRAY8};
  }
  GstStructure* picture = gst_structure_copy(frame);
  set_formats(picture, out);
  remove_color(picture);
  gst_caps_append_structure(result, picture);
}

void append_frames(GstCaps* result, const GstStructure* picture, GrayDepth depth) {
  const Formats in = frame_formats_for(formats_of(picture), depth);
  if (in.empty())
    return;
  GstStructure* frame = gst_structure_copy(picture);
  set_formats(frame, in);
  remove_color(frame);
  gst_caps_append_structure(result, frame);
}

}  // namespace

bool takes_cuda(GstBaseTransform* trans) {
  return gst_cuda_vision_filter_session(filter(trans)).takes_cuda();
}

bool is_deep(GstVideoFormat format) {
  return depth_of(format) > 8;
}

Formats all_formats() {
  const Caps all = video_template_caps();
  return formats_of(gst_caps_get_structure(all.get(), 0));
}

void remove_color(GstStructure* structure) {
  gst_structure_remove_fields(structure, "colorimetry", "chroma-site", nullptr);
}

Caps prefer_8_bits(const GstCaps* caps) {
  Caps sorted(gst_caps_new_empty());
  for (GstVideoFormat format : gray_formats)
    for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
      const GstStructure* structure = gst_caps_get_structure(caps, i);
      if (!contains(formats_of(structure), format))
        continue;
      GstStructure* copy = gst_structure_copy(structure);
      set_formats(copy, {format});
      gst_caps_append_structure_full(sorted.get(), copy,
                                     gst_caps_features_copy(gst_caps_get_features(caps, i)));
    }
  return sorted;
}

Formats frame_formats_for(const Formats& gray, GrayDepth depth) {
  const bool shallow = contains(gray, GST_VIDEO_FORMAT_GRAY8);
  const bool deep = contains(gray, GST_VIDEO_FORMAT_GRAY16_LE);
  Formats in = all_formats();
  std::erase_if(in, [&](GstVideoFormat format) {
    if (depth == GrayDepth::any)
      return !shallow && !deep;
    return is_deep(format) ? !deep : !shallow;
  });
  return in;
}

Caps gray_template(bool cuda) {
  Caps all(gst_caps_new_empty());
  append_with_memories(all.get(), any_frame().get(), gray_formats, cuda);
  return all;
}

Caps gray_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                             GrayDepth depth, bool cuda) {
  const bool from_sink = direction == GST_PAD_SINK;
  const Caps ours = from_sink ? video_template_caps(cuda) : gray_template(cuda);
  const Caps known(gst_caps_intersect_full(caps, ours.get(), GST_CAPS_INTERSECT_FIRST));
  const Caps other(gst_caps_new_empty());  // in system memory; caps_of_other_side() adds the other
  for (guint i = 0; i < gst_caps_get_size(known.get()); ++i) {
    const GstStructure* structure = gst_caps_get_structure(known.get(), i);
    if (from_sink)
      append_gray_picture(other.get(), structure, depth);
    else
      append_frames(other.get(), structure, depth);
  }
  return caps_of_other_side(other.get(), filter, cuda);
}

FrameFormat picture_format(const FrameFormat& in, const GstCaps* caps, int width, int height) {
  const FrameFormat out = frame_format_from_caps(caps);
  if (out.layout.width != width || out.layout.height != height)
    refuse_stream("Frames of " + size_text(in.layout.width, in.layout.height) + " cannot become " +
                  out.description() +
                  ": correct width and height in the caps after the element, or leave them out.");
  return out;
}

GstCaps* fixate_output(GstBaseTransform* trans, GstCaps* in, GstCaps* suggested,
                       const std::function<Caps(Caps)>& choose) {
  const Caps owned(suggested);
  GstCaps* chosen = post_exceptions(trans, static_cast<GstCaps*>(nullptr), [&]() -> GstCaps* {
    // Without a peer, GstBaseTransform suggests the caps of the input.
    Caps possible(
        GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(trans, GST_PAD_SINK, in, nullptr));
    if (!possible)
      return nullptr;  // transform_caps() has posted the error
    if (gst_caps_can_intersect(owned.get(), possible.get()))
      possible.reset(gst_caps_ref(owned.get()));
    return choose(std::move(possible)).release();
  });
  if (!chosen)
    return gst_caps_new_empty();
  return GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_CUDA_VISION_FILTER))
      ->fixate_caps(trans, GST_PAD_SINK, in, chosen);
}

}  // namespace cudavision
