// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/properties.h"

#include "gst/base/elementerror.h"

namespace cudavision {

GType register_enum(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

std::string odd_size_error(const char* property, int size, const std::string& fault,
                           const char* alternative) {
  if (size % 2 != 0 || size == 0)
    return {};
  return std::string(property) + "=" + std::to_string(size) + " " + fault + ": set " + property +
         "=" + std::to_string(size - 1) + " or " + property + "=" + std::to_string(size + 1) +
         alternative + ".";
}

void SettingsGuard::require(const std::string& error) {
  if (!error.empty())
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, error);
  warned_ = false;
}

bool SettingsGuard::allows(GstElement* element, const std::string& error) {
  const bool warn = !error.empty() && !warned_;
  warned_ = !error.empty();
  if (warn)
    post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 error + " Until then the last valid settings stay in force.");
  return error.empty();
}

}  // namespace cudavision
