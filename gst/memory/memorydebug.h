// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

inline GstDebugCategory* cuda_vision_memory_debug() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* created = nullptr;
    GST_DEBUG_CATEGORY_INIT(created, "cudavisionmemory", 0,
                            "Pools, allocators and mapping of the cudavision elements");
    return created;
  }();
  return category;
}

#define GST_CAT_DEFAULT cuda_vision_memory_debug()
