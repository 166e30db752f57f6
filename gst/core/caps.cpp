// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/core/caps.h"

#include "cuda/core/device.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

// Merges the accepted structures of caps into result, with `feature` as their only feature.
Caps merge_with_feature(Caps result, const GstCaps* caps, const char* feature, bool accept_cuda) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const bool any = gst_caps_features_is_any(gst_caps_get_features(caps, i));
    if (!any && !has_system_feature(caps, i) && !(accept_cuda && has_cuda_feature(caps, i)))
      continue;
    result.reset(gst_caps_merge_structure_full(result.release(),
                                               gst_structure_copy(gst_caps_get_structure(caps, i)),
                                               gst_caps_features_new(feature, nullptr)));
  }
  return result;
}

}  // namespace

void for_each_string(const GValue* value, const std::function<void(const char*)>& take) {
  if (value && G_VALUE_HOLDS_STRING(value))
    take(text_of(g_value_get_string(value)));
  if (value && GST_VALUE_HOLDS_LIST(value))
    for (guint i = 0; i < gst_value_list_get_size(value); ++i)
      for_each_string(gst_value_list_get_value(value, i), take);
}

void set_strings(GstStructure* structure, const char* field,
                 const std::vector<std::string>& strings) {
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (const std::string& text : strings) {
    GValue string = G_VALUE_INIT;
    g_value_init(&string, G_TYPE_STRING);
    g_value_set_string(&string, text.c_str());
    gst_value_list_append_and_take_value(&list, &string);
  }
  gst_structure_set_value(structure, field,
                          strings.size() == 1 ? gst_value_list_get_value(&list, 0) : &list);
  g_value_unset(&list);
}

Formats formats_of(const GstStructure* structure) {
  Formats formats;
  for_each_string(gst_structure_get_value(structure, "format"),
                  [&](const char* name) { formats.push_back(gst_video_format_from_string(name)); });
  return formats;
}

void set_formats(GstStructure* structure, const Formats& formats) {
  std::vector<std::string> names;
  for (GstVideoFormat format : formats)
    names.emplace_back(text_of(gst_video_format_to_string(format)));
  set_strings(structure, "format", names);
}

int depth_of(GstVideoFormat format) {
  return GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(format), 0);
}

bool has_cuda_feature(const GstCaps* caps, guint index) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, index);
  return features && !gst_caps_features_is_any(features) &&
         gst_caps_features_get_size(features) == 1 &&
         gst_caps_features_contains(features, cuda_memory_feature);
}

bool has_system_feature(const GstCaps* caps, guint index) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, index);
  return !features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

void append_with_memories(GstCaps* caps, Structure structure, bool cuda) {
  if (cuda && built_with_cuda())
    gst_caps_append_structure_full(caps, gst_structure_copy(structure.get()),
                                   gst_caps_features_new(cuda_memory_feature, nullptr));
  gst_caps_append_structure(caps, structure.release());
}

void append_with_memories(GstCaps* caps, const GstStructure* frame, const Formats& formats,
                          bool cuda) {
  Structure copy(gst_structure_copy(frame));
  set_formats(copy.get(), formats);
  append_with_memories(caps, std::move(copy), cuda);
}

std::string caps_text(const GstCaps* caps) {
  return take_gstring(gst_caps_to_string(caps));
}

std::string needs_cuda_memory_text(const std::string& peer) {
  return peer +
         " accepts only memory:CUDAMemory, but this element runs on the CPU: put cudaupload "
         "between them, remove the feature from the caps filter, or set backend=cuda.";
}

Caps filtered(Caps caps, GstCaps* filter) {
  if (!filter)
    return caps;
  return Caps(gst_caps_intersect_full(filter, caps.get(), GST_CAPS_INTERSECT_FIRST));
}

Caps peer_caps(GstPad* pad, GstCaps* filter) {
  const Caps answer(gst_pad_peer_query_caps(pad, filter));
  return Caps(filter ? gst_caps_intersect_full(answer.get(), filter, GST_CAPS_INTERSECT_FIRST)
                     : gst_caps_ref(answer.get()));
}

Caps caps_of_other_side(GstCaps* caps, GstCaps* filter, bool cuda) {
  if (gst_caps_is_any(caps))
    return Caps(gst_caps_ref(filter ? filter : caps));
  const bool accept_cuda = cuda && built_with_cuda();
  Caps result(gst_caps_new_empty());
  if (accept_cuda)
    result = merge_with_feature(std::move(result), caps, cuda_memory_feature, accept_cuda);
  result = merge_with_feature(std::move(result), caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY,
                              accept_cuda);
  return filtered(std::move(result), filter);
}

Caps choose_memory(Caps caps, GstPad* src) {
  if (gst_caps_get_size(caps.get()) == 0)
    return caps;
  // Queries without a filter, because a peer with ANY caps would return the filter.
  const Caps peer = peer_caps(src, nullptr);
  const char* media_type = gst_structure_get_name(gst_caps_get_structure(caps.get(), 0));
  bool cuda = false;  // stays false for ANY caps and ANY features
  for (guint i = 0; i < gst_caps_get_size(peer.get()); ++i)
    cuda |= has_cuda_feature(peer.get(), i) &&
            gst_structure_has_name(gst_caps_get_structure(peer.get(), i), media_type);
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i)
    if (has_cuda_feature(caps.get(), i) == cuda)
      return Caps(gst_caps_copy_nth(caps.get(), i));
  return Caps(gst_caps_truncate(caps.release()));
}

}  // namespace cudavision
