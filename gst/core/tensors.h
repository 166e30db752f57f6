// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "gst/core/videoformat.h"

/// NNStreamer's caps other/tensors describe arrays of numbers. Here, a buffer holds one tensor,
/// without padding. The caps contain its dimensions, innermost first.
namespace cudavision {

bool is_tensor(const GstStructure* structure);

/// Describes tensors of any size and framerate, with one of these types ("uint32", "float32"…).
Structure tensor_structure(const std::vector<const char*>& types);

/// The size of a tensor with the dimensions depth:columns:rows:1.
struct TensorSize {
  int columns = 0;
  int rows = 0;
};

void set_dimensions(GstStructure* tensor, int depth, const TensorSize& size);
/// Parses depth:columns:rows:1. Returns nullopt for dimensions of another form or depth.
std::optional<TensorSize> tensor_size(const char* dimensions, int depth);

/// Does nothing if src has no framerate.
void copy_framerate(const GstStructure* src, GstStructure* dst);

/// Returns the format of tensors with rows of row_bytes bytes, in the memory of the fixed caps.
/// Throws ElementError if a tensor is too large for a buffer pool: "A NAME has … bytes, …: REMEDY."
FrameFormat tensor_format(const GstCaps* caps, gsize row_bytes, int rows, const std::string& name,
                          const char* remedy);

}  // namespace cudavision
