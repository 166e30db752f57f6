// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/capsfields.h"

#include <algorithm>

namespace cudavision {

void for_each_string(const GValue* value, const std::function<void(const char*)>& take) {
  if (value && G_VALUE_HOLDS_STRING(value))
    take(g_value_get_string(value));
  if (value && GST_VALUE_HOLDS_LIST(value))
    for (guint i = 0; i < gst_value_list_get_size(value); ++i)
      for_each_string(gst_value_list_get_value(value, i), take);
}

Formats formats_of(const GstStructure* structure) {
  Formats formats;
  for_each_string(gst_structure_get_value(structure, "format"),
                  [&](const char* name) { formats.push_back(gst_video_format_from_string(name)); });
  return formats;
}

void set_formats(GstStructure* structure, const Formats& formats) {
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (GstVideoFormat format : formats) {
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_static_string(&name, gst_video_format_to_string(format));
    gst_value_list_append_and_take_value(&list, &name);
  }
  if (formats.size() == 1)
    gst_structure_set_value(structure, "format", gst_value_list_get_value(&list, 0));
  else
    gst_structure_set_value(structure, "format", &list);
  g_value_unset(&list);
}

bool contains(const Formats& formats, GstVideoFormat format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

int depth_of(GstVideoFormat format) {
  return GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(format), 0);
}

}  // namespace cudavision
