// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudavision {

/// Registers the enumeration type of a property; values end with a zero entry and live for ever.
inline GType register_enum(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

}  // namespace cudavision
