// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudavision {

/// Whether a meta of an input frame is true of the output frame as well: it speaks of no video at
/// all or, where both are of the same size, of nothing but the picture, its size or orientation. A
/// GstVideoMeta speaks of one buffer's memory; the new buffer has its own.
bool is_true_of_output(const GstMeta* meta, bool same_size);

/// Gives out those metas of in.
void copy_metas(GstBuffer* in, GstBuffer* out, bool same_size);

}  // namespace cudavision
