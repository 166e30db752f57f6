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

bool is_deep(GstVideoFormat format) {
  return depth_of(format) > 8;
}

// Drops colorimetry and chroma-site, because they differ between gray pictures and their frames.
Structure copy_with_formats(const GstStructure* structure, const Formats& formats) {
  Structure copy(gst_structure_copy(structure));
  set_formats(copy.get(), formats);
  gst_structure_remove_fields(copy.get(), "colorimetry", "chroma-site", nullptr);
  return copy;
}

}  // namespace

bool takes_cuda(GstBaseTransform* trans) {
  return gst_cuda_vision_filter_session(filter(trans)).takes_cuda();
}

Formats all_formats() {
  const Caps all = video_template_caps();
  return formats_of(gst_caps_get_structure(all.get(), 0));
}

Structure gray_pictures_of(const GstStructure* frame, GrayDepth depth) {
  const Formats in = formats_of(frame);
  if (depth == GrayDepth::as_input && std::all_of(in.begin(), in.end(), is_deep))
    return copy_with_formats(frame, {GST_VIDEO_FORMAT_GRAY16_LE});
  if (depth == GrayDepth::as_input && std::none_of(in.begin(), in.end(), is_deep))
    return copy_with_formats(frame, {GST_VIDEO_FORMAT_GRAY8});
  return copy_with_formats(frame, gray_formats);
}

Structure frames_of_gray(const GstStructure* picture, GrayDepth depth) {
  const Formats gray = formats_of(picture);
  const bool shallow = contains(gray, GST_VIDEO_FORMAT_GRAY8);
  const bool deep = contains(gray, GST_VIDEO_FORMAT_GRAY16_LE);
  Formats in = all_formats();
  std::erase_if(in, [&](GstVideoFormat format) {
    if (depth == GrayDepth::any)
      return !shallow && !deep;
    return is_deep(format) ? !deep : !shallow;
  });
  return in.empty() ? nullptr : copy_with_formats(picture, in);
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
  const Caps other(gst_caps_new_empty());  // in system memory; caps_of_other_side() adds CUDA
  for (guint i = 0; i < gst_caps_get_size(known.get()); ++i) {
    const GstStructure* structure = gst_caps_get_structure(known.get(), i);
    if (Structure converted =
            from_sink ? gray_pictures_of(structure, depth) : frames_of_gray(structure, depth))
      gst_caps_append_structure(other.get(), converted.release());
  }
  return caps_of_other_side(other.get(), filter, cuda);
}

FrameFormat picture_format(const FrameFormat& in, const GstCaps* caps, int width, int height) {
  const FrameFormat out = frame_format_from_caps(caps);
  if (out.layout.width != width || out.layout.height != height)
    refuse_stream("Frames of " + size_text(in.layout.width, in.layout.height) +
                  " have an output of " + size_text(width, height) + ", not " +
                  size_text(out.layout.width, out.layout.height) +
                  ": correct width and height in the caps after the element, or leave them out.");
  return out;
}

GstCaps* fixate_output(GstBaseTransform* trans, GstPadDirection direction, GstCaps* in,
                       GstCaps* suggested, const std::function<Caps(Caps)>& choose) {
  auto* const filter_class =
      GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_CUDA_VISION_FILTER));
  if (direction == GST_PAD_SRC)
    return filter_class->fixate_caps(trans, direction, in, suggested);
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
  return filter_class->fixate_caps(trans, GST_PAD_SINK, in, chosen);
}

}  // namespace cudavision
