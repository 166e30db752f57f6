// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/core/videoformat.h"

/// NNStreamer's caps other/tensors: numbers that are no video format. Each buffer holds one tensor
/// without padding, in system memory or in CUDA memory. Its dimensions stand in the caps innermost
/// first.
namespace cudavision {

bool is_tensor(const GstStructure* structure);

/// Describes tensors of any size and framerate with elements of one of these types, by NNStreamer's
/// names ("uint32", "float32"…). The strings must be static. The caller owns the structure.
GstStructure* tensor_structure(const std::vector<const char*>& types);

/// Returns the format of tensors that are rows of so many bytes, in the memory that their fixed
/// caps name. name and remedy complete the error for a tensor that is too large for a buffer pool:
/// "A NAME has … bytes, …: REMEDY." Throws ElementError.
FrameFormat tensor_format(const GstCaps* caps, gsize row_bytes, int rows, const std::string& name,
                          const char* remedy);

}  // namespace cudavision
