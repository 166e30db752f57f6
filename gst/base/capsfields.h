// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <memory>
#include <vector>

/// Reading and writing the fields of structures in caps.
namespace cudavision {

struct UnrefCaps {
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
};
using Caps = std::unique_ptr<GstCaps, UnrefCaps>;

using Formats = std::vector<GstVideoFormat>;

/// Each string in a value that is one, or a list of them, or nothing.
void for_each_string(const GValue* value, const std::function<void(const char*)>& take);

/// The formats that a structure names.
Formats formats_of(const GstStructure* structure);
void set_formats(GstStructure* structure, const Formats& formats);
bool contains(const Formats& formats, GstVideoFormat format);

/// Bits of a format's samples.
int depth_of(GstVideoFormat format);

}  // namespace cudavision
