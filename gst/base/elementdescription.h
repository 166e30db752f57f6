// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace cudavision {

/// Sets an element's metadata. docs/elements/NAME.md must exist. All strings must be static.
inline void describe_element(GstElementClass* klass, const char* name, const char* long_name,
                             const char* categories, const char* description) {
  gst_element_class_set_static_metadata(klass, long_name, categories, description,
                                        "The gst-cudavision developers");
  gst_element_class_add_metadata(klass, GST_ELEMENT_METADATA_DOC_URI,
                                 (std::string(DOC_URI "/elements/") + name + ".md").c_str());
}

}  // namespace cudavision
