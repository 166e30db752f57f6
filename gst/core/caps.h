// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <string>
#include <vector>

#include "gst/core/scoped.h"

namespace cudavision {

inline constexpr char cuda_memory_feature[] = "memory:CUDAMemory";

using Formats = std::vector<GstVideoFormat>;

/// Calls take() for each string. value is a string, a list or nullptr; NULL strings become "".
void for_each_string(const GValue* value, const std::function<void(const char*)>& take);

void set_strings(GstStructure* structure, const char* field,
                 const std::vector<std::string>& strings);

Formats formats_of(const GstStructure* structure);
void set_formats(GstStructure* structure, const Formats& formats);

int depth_of(GstVideoFormat format);

/// Returns true if memory:CUDAMemory is the only feature of the structure at `index`.
bool has_cuda_feature(const GstCaps* caps, guint index);
bool has_system_feature(const GstCaps* caps, guint index);

/// Appends the structure with CUDA memory, if `cuda` and the build allow, and with system memory.
void append_with_memories(GstCaps* caps, Structure structure, bool cuda);
void append_with_memories(GstCaps* caps, const GstStructure* frame, const Formats& formats,
                          bool cuda);

std::string caps_text(const GstCaps* caps);
/// Returns the error for an element on the CPU whose peer accepts only CUDA memory. `peer` begins
/// the sentence, e.g. "Downstream".
std::string needs_cuda_memory_text(const std::string& peer);

/// Intersects caps with filter, in the order of filter. A nullptr filter accepts all caps.
Caps filtered(Caps caps, GstCaps* filter);

/// Queries the caps of the pad's peer, in the peer's order, and intersects them with filter, which
/// the peer may have ignored. A nullptr filter accepts all caps.
Caps peer_caps(GstPad* pad, GstCaps* filter);

/// Returns the caps of the other pad of an element that keeps the format, intersected with filter:
/// in CUDA memory, if cuda is true and the build has CUDA, and in system memory.
Caps caps_of_other_side(GstCaps* caps, GstCaps* filter, bool cuda);

/// Reduces caps of one media type to one structure. Prefers CUDA memory if the caps of src's peer
/// list CUDA memory for this media type, otherwise system memory.
Caps choose_memory(Caps caps, GstPad* src);

}  // namespace cudavision
