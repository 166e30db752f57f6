// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace check {

/// Returns the name of an element that the tests may use, or an empty string.
inline std::string any_element() {
  GList* features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  const std::string name = features != nullptr ? GST_OBJECT_NAME(features->data) : "";
  gst_plugin_feature_list_free(features);
  return name;
}

}  // namespace check
