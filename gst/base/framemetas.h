// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudavision {

/// Returns true if a meta of an input frame also applies to the output frame. This holds for a meta
/// without tags and, if both frames have the same size, for a meta whose only tags are video, size
/// and orientation. A GstVideoMeta never applies, because it describes the memory of one buffer.
bool applies_to_output(const GstMeta* meta, bool same_size);

/// Copies flags, times and the metas that apply to the output.
void copy_metadata(GstBuffer* in, GstBuffer* out, bool same_size);

}  // namespace cudavision
