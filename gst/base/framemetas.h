// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudavision {

/// True if a meta of an input frame holds for the output frame as well. That is so if its tags have
/// nothing to do with video, or, where both frames have the same size, if they are about nothing
/// but the video, its size or its orientation. A GstVideoMeta never does: it describes the memory
/// of one buffer.
bool applies_to_output(const GstMeta* meta, bool same_size);

/// Copies those metas of in to out.
void copy_metas(GstBuffer* in, GstBuffer* out, bool same_size);

}  // namespace cudavision
