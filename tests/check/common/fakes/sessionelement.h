// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/devicesession.h"

namespace check {

/// Makes an element with a session's properties. Setting them has no effect.
inline GstElement* new_element_with_session() {
  static const auto initialise = [](gpointer klass, gpointer) {
    GObjectClass* object_class = G_OBJECT_CLASS(klass);
    object_class->set_property = [](GObject*, guint, const GValue*, GParamSpec*) {};
    object_class->get_property = [](GObject*, guint, GValue*, GParamSpec*) {};
    using cudavision::DeviceSettings;
    static cudavision::ElementProperties<DeviceSettings> all(object_class);
    cudavision::add_device_properties<DeviceSettings>(all, nullptr);
  };
  static const GType type = g_type_register_static_simple(
      GST_TYPE_ELEMENT, "ElementWithSession", sizeof(GstElementClass), initialise,
      sizeof(GstElement), nullptr, static_cast<GTypeFlags>(0));
  return GST_ELEMENT(gst_object_ref_sink(g_object_new(type, nullptr)));
}

}  // namespace check
