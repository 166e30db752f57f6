// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralcaps.h"

#include <algorithm>
#include <iterator>

#include "gst/base/filter/outputcaps.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/tensors.h"

namespace cudavision {
namespace {

// A table may have one more row and column than the frame. integral_output_format() reports tables
// that are too large for a picture.
constexpr int largest_output = largest_side + 1;

Structure table_structure(const std::vector<integral::TableElement>& elements) {
  std::vector<const char*> types;
  for (const NamedElement& named : named_elements)
    if (std::find(elements.begin(), elements.end(), named.element) != elements.end())
      types.push_back(named.name);
  return tensor_structure(types);
}

// Adds `by` to an int, int range or list, clipped to 1…maximum. Returns false if nothing is left.
bool shift_sizes(const GValue* value, int by, int maximum, GValue* shifted) {
  if (GST_VALUE_HOLDS_LIST(value)) {
    g_value_init(shifted, GST_TYPE_LIST);
    for (guint i = 0; i < gst_value_list_get_size(value); ++i) {
      GValue part = G_VALUE_INIT;
      if (shift_sizes(gst_value_list_get_value(value, i), by, maximum, &part))
        gst_value_list_append_and_take_value(shifted, &part);
    }
    if (gst_value_list_get_size(shifted) > 0)
      return true;
    g_value_unset(shifted);
    return false;
  }
  int first, last;
  if (G_VALUE_HOLDS_INT(value)) {
    first = last = g_value_get_int(value);
  } else if (GST_VALUE_HOLDS_INT_RANGE(value)) {
    first = gst_value_get_int_range_min(value);
    last = gst_value_get_int_range_max(value);
  } else {
    return false;
  }
  first = std::max(first + by, 1);
  last = std::min(last, maximum - by) + by;
  if (first > last)
    return false;
  g_value_init(shifted, first == last ? G_TYPE_INT : GST_TYPE_INT_RANGE);
  if (first == last)
    g_value_set_int(shifted, first);
  else
    gst_value_set_int_range(shifted, first, last);
  return true;
}

// Adds `by` to width and height, and appends the result if both can be from 1 to maximum. Removes
// the fields for interlacing and multiview, because a table sums over the whole frame.
void append_resized(GstCaps* result, Structure structure, int by, int maximum) {
  for (const char* name : {"width", "height"}) {
    GValue shifted = G_VALUE_INIT;
    if (!shift_sizes(gst_structure_get_value(structure.get(), name), by, maximum, &shifted))
      return;
    gst_structure_take_value(structure.get(), name, &shifted);
  }
  gst_structure_remove_fields(structure.get(), "interlace-mode", "field-order", "multiview-mode",
                              "multiview-flags", nullptr);
  gst_caps_append_structure(result, structure.release());
}

void append_tensor(GstCaps* result, const GstStructure* s, const OutputForm& form) {
  FrameLayout frame;
  const Formats formats = formats_of(s);
  const bool sized = gst_structure_get_int(s, "width", &frame.width) &&
                     gst_structure_get_int(s, "height", &frame.height);
  if (formats.size() == 1)
    frame.bits = depth_of(formats[0]);
  const bool known = sized && formats.size() == 1;
  Structure tensor = table_structure(
      known ? std::vector<integral::TableElement>{form.element_for(frame)} : form.elements());
  if (sized)
    set_dimensions(tensor.get(), 1, {frame.width + form.extra(), frame.height + form.extra()});
  copy_framerate(s, tensor.get());
  gst_caps_append_structure(result, tensor.release());
}

void append_frames_of_tensor(GstCaps* result, const GstStructure* s, const OutputForm& form) {
  const auto append = [&](const std::optional<TensorSize>& size) {
    if (size && (size->columns <= form.extra() || size->rows <= form.extra()))
      return;
    GstStructure* frame = any_frame().release();
    set_formats(frame, all_formats());
    copy_framerate(s, frame);
    if (size)
      gst_structure_set(frame, "width", G_TYPE_INT, size->columns - form.extra(), "height",
                        G_TYPE_INT, size->rows - form.extra(), nullptr);
    gst_caps_append_structure(result, frame);
  };
  const GValue* dimensions = gst_structure_get_value(s, "dimensions");
  if (!dimensions)
    append(std::nullopt);
  for_each_string(dimensions, [&](const char* text) {
    if (const auto size = tensor_size(text, 1))
      append(size);
  });
}

// Sets the colorimetry if the samples, and so their means, have limited range. Without colorimetry,
// gray caps mean full range.
Caps set_limited_range(Caps caps, const GstCaps* in) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, in) || !is_limited_range(info))
    return caps;
  const std::string colorimetry = take_gstring(gst_video_colorimetry_to_string(&info.colorimetry));
  if (!colorimetry.empty()) {
    caps.reset(gst_caps_make_writable(caps.release()));
    GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
    if (gst_structure_has_field(structure, "colorimetry"))
      gst_structure_fixate_field_string(structure, "colorimetry", colorimetry.c_str());
    else
      gst_structure_set(structure, "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
  }
  return caps;
}

Caps tensors_in(const GstCaps* caps) {
  Caps tensors(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (is_tensor(gst_caps_get_structure(caps, i)))
      gst_caps_append(tensors.get(), gst_caps_copy_nth(caps, i));
  return tensors;
}

}  // namespace

Caps integral_src_template(bool cuda) {
  Caps all(gst_caps_new_empty());
  std::vector<integral::TableElement> elements;
  for (const NamedElement& named : named_elements)
    elements.push_back(named.element);
  append_with_memories(all.get(), table_structure(elements), cuda);
  Caps pictures = gray_template(cuda);
  gst_caps_set_simple(pictures.get(), "width", GST_TYPE_INT_RANGE, 1, largest_output, "height",
                      GST_TYPE_INT_RANGE, 1, largest_output, nullptr);
  gst_caps_append(all.get(), pictures.release());
  return all;
}

Caps integral_caps_of_other_side(GstPadDirection direction, GstCaps* caps, GstCaps* filter,
                                 const OutputForm& form, bool cuda) {
  if (!form.is_table())
    return gray_caps_of_other_side(direction, caps, filter, GrayDepth::as_input, cuda);
  const bool from_sink = direction == GST_PAD_SINK;
  const Caps ours = from_sink ? video_template_caps(cuda) : integral_src_template(cuda);
  const Caps known(gst_caps_intersect_full(caps, ours.get(), GST_CAPS_INTERSECT_FIRST));

  // These caps are for system memory; caps_of_other_side() adds CUDA memory.
  const Caps tensors(gst_caps_new_empty()), video(gst_caps_new_empty());
  const Caps types(gst_caps_new_full(table_structure(form.elements()).release(), nullptr));
  for (guint i = 0; i < gst_caps_get_size(known.get()); ++i) {
    const GstStructure* structure = gst_caps_get_structure(known.get(), i);
    if (from_sink) {
      append_tensor(tensors.get(), structure, form);
      append_resized(video.get(), gray_pictures_of(structure, GrayDepth::any), form.extra(),
                     largest_output);
    } else if (!is_tensor(structure)) {
      if (Structure frames = frames_of_gray(structure, GrayDepth::any))
        append_resized(video.get(), std::move(frames), -form.extra(), largest_side);
    } else if (gst_structure_can_intersect(structure, gst_caps_get_structure(types.get(), 0))) {
      append_frames_of_tensor(video.get(), structure, form);
    }
  }

  Caps result = caps_of_other_side(tensors.get(), nullptr, cuda);
  gst_caps_append(result.get(), caps_of_other_side(video.get(), nullptr, cuda).release());
  return filtered(std::move(result), filter);
}

Caps choose_integral_output(Caps caps, const GstCaps* in, const OutputForm& form, GstPad* src) {
  if (Caps tensors = tensors_in(caps.get()); !gst_caps_is_empty(tensors.get())) {
    tensors.reset(gst_caps_make_writable(choose_memory(std::move(tensors), src).release()));
    gst_structure_fixate_field_nearest_fraction(gst_caps_get_structure(tensors.get(), 0),
                                                "framerate", 0, 1);
    return tensors;
  }
  Caps chosen = choose_memory(prefer_8_bits(caps.get()), src);
  if (form.output == IntegralOutput::mean && !gst_caps_is_empty(chosen.get()))
    return set_limited_range(std::move(chosen), in);
  return chosen;
}

FrameFormat tensor_format_from_caps(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const auto size = tensor_size(text_of(gst_structure_get_string(structure, "dimensions")), 1);
  const std::string type = text_of(gst_structure_get_string(structure, "types"));
  const auto* const known =
      std::find_if(std::begin(named_elements), std::end(named_elements),
                   [&](const NamedElement& named) { return named.name == type; });
  if (!is_tensor(structure) || !size || known == std::end(named_elements))
    refuse_stream("These caps do not describe a table, because types or dimensions are invalid: " +
                  caps_text(caps) + ". Correct the capsfilter after the element.");
  return tensor_format(
      caps, static_cast<gsize>(size->columns) * bytes_of(known->element), size->rows,
      "table of " + size_text(size->columns, size->rows) + " elements of type " + known->name,
      "scale frames down before the element, or replace 64-bit elements by element-type=uint32");
}

FrameFormat integral_output_format(const FrameFormat& in, const GstCaps* caps,
                                   const OutputForm& form) {
  const int extra = form.is_table() ? form.extra() : 0;
  const int width = in.layout.width + extra, height = in.layout.height + extra;
  if (form.is_table() && is_tensor(gst_caps_get_structure(caps, 0))) {
    const FrameFormat out = tensor_format_from_caps(caps);
    const gsize element = bytes_of(form.element_for(in.layout));
    if (out.size != element * width * height || out.layout.planes[0].rows != height)
      refuse_stream(
          "The table of a frame of " + size_text(in.layout.width, in.layout.height) +
          " pixels does not fit into a tensor of " + out.description() +
          ": correct dimensions and types in the caps after the element, or leave them out.");
    return out;
  }
  if (form.is_table() && std::max(width, height) > largest_side)
    refuse_stream(
        "A table of " + size_text(width, height) +
        " elements does not fit into a picture, whose sides can have at most 65535 pixels: set "
        "table-layout=same-size, or put an element that accepts other/tensors after this one.");
  return picture_format(in, caps, width, height);
}

}  // namespace cudavision
