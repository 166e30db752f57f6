// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <string>
#include <vector>

#include "gst/core/scoped.h"

/// Formats and memory in caps, and the choice of the memory.
namespace cudavision {

inline constexpr char cuda_memory_feature[] = "memory:CUDAMemory";

using Formats = std::vector<GstVideoFormat>;

/// value may be a string, a list of strings, or nullptr. NULL strings count as empty.
void for_each_string(const GValue* value, const std::function<void(const char*)>& take);

void set_strings(GstStructure* structure, const char* field,
                 const std::vector<std::string>& strings);

/// The field "format" of a structure.
Formats formats_of(const GstStructure* structure);
void set_formats(GstStructure* structure, const Formats& formats);

/// In bits per sample.
int depth_of(GstVideoFormat format);

/// True if structure number index has memory:CUDAMemory as its only feature.
bool has_cuda_feature(const GstCaps* caps, guint index);
/// True if structure number index is in plain system memory.
bool has_system_feature(const GstCaps* caps, guint index);

/// Appends the structure in system memory and, if cuda is true and built in, in CUDA memory.
void append_with_memories(GstCaps* caps, Structure structure, bool cuda);
/// The same for a frame in each of the formats.
void append_with_memories(GstCaps* caps, const GstStructure* frame, const Formats& formats,
                          bool cuda);

std::string caps_text(const GstCaps* caps);
/// For an element on the CPU. The element behind follower, e.g. "the pad src", needs CUDA memory.
std::string needs_cuda_memory_text(const std::string& follower);

/// Returns the part of caps that filter accepts, in the order of filter. nullptr accepts all.
Caps filtered(Caps caps, GstCaps* filter);

/// Returns the part of filter that the peer of a pad supports; nullptr accepts all. The peer's own
/// answer to the CAPS query may ignore the filter.
Caps peer_caps(GstPad* pad, GstCaps* filter);

/// For elements that keep the format: returns what one pad accepts when the other pad has caps, in
/// both memories, or only in system memory if cuda is false.
Caps caps_of_other_side(GstCaps* caps, GstCaps* filter, bool cuda);

/// Reduces caps of one media type to one structure: CUDA memory if the peer names it, or system.
Caps choose_memory(Caps caps, GstPad* src);

}  // namespace cudavision
