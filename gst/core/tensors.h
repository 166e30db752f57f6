// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/core/videoformat.h"

/// NNStreamer's caps other/tensors: numbers without a video format. A buffer holds one tensor
/// without padding, and caps have its dimensions, innermost first.
namespace cudavision {

bool is_tensor(const GstStructure* structure);

/// Describes tensors of any size and framerate, with one of these element types
/// ("uint32", "float32"…). The strings must be static. The caller owns the structure.
GstStructure* tensor_structure(const std::vector<const char*>& types);

/// Returns the format of tensors with rows of row_bytes, in the memory of the fixed caps. Throws
/// ElementError if a buffer pool cannot hold them: "A NAME has … bytes, …: REMEDY."
FrameFormat tensor_format(const GstCaps* caps, gsize row_bytes, int rows, const std::string& name,
                          const char* remedy);

}  // namespace cudavision
