// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudavision {

/// Returns true if a meta of an input frame applies to the output frame as well. A meta without
/// tags does. If both frames have the same size, so does a meta whose tags concern only the video,
/// its size or its orientation. A GstVideoMeta never does, because it describes the memory of one
/// buffer.
bool applies_to_output(const GstMeta* meta, bool same_size);

/// Gives out the flags and times of in, and those metas.
void copy_metadata(GstBuffer* in, GstBuffer* out, bool same_size);

}  // namespace cudavision
