// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <string>
#include <vector>

#include "gst/core/scoped.h"

/// Caps: their formats, their memory, and which memory an element chooses.
namespace cudavision {

inline constexpr char cuda_memory_feature[] = "memory:CUDAMemory";

using Formats = std::vector<GstVideoFormat>;

/// Calls take for each string in value, which may be a string, a list of strings, or nullptr. A
/// string that is NULL counts as empty.
void for_each_string(const GValue* value, const std::function<void(const char*)>& take);

/// Sets a field to one string or to a list of strings.
void set_strings(GstStructure* structure, const char* field,
                 const std::vector<std::string>& strings);

/// These read and write the field "format" of a structure.
Formats formats_of(const GstStructure* structure);
void set_formats(GstStructure* structure, const Formats& formats);
bool contains(const Formats& formats, GstVideoFormat format);

/// Returns the number of bits per sample.
int depth_of(GstVideoFormat format);

/// True if the features of structure number index are memory:CUDAMemory alone.
bool has_cuda_feature(const GstCaps* caps, guint index);
/// True if the features of structure number index are those of plain system memory.
bool has_system_feature(const GstCaps* caps, guint index);
/// True if caps name memory:CUDAMemory for a media type such as "video/x-raw". ANY caps and ANY
/// features name nothing.
bool names_cuda_memory(const GstCaps* caps, const char* media_type);

/// Appends the structure in CUDA memory, if cuda is true and this build has it, and in system
/// memory.
void append_with_memories(GstCaps* caps, Structure structure, bool cuda);
/// Does so for a frame in each of the formats.
void append_with_memories(GstCaps* caps, const GstStructure* frame, const Formats& formats,
                          bool cuda);

/// Return caps, or their features, as text, for messages.
std::string caps_text(const GstCaps* caps);
std::string features_text(const GstCapsFeatures* features);
/// Returns the message that an element on the CPU gives if what is behind it needs CUDA memory.
/// follower: "this one" or "the pad src", for example.
std::string needs_cuda_memory_text(const std::string& follower);

/// Returns the part of caps that filter admits, in the order of filter, or all of caps if filter is
/// nullptr.
Caps filtered(Caps caps, GstCaps* filter);

/// Returns the part of filter that the peer of a pad accepts or can send, or all of that if filter
/// is nullptr. The peer may ignore the filter when it answers the CAPS query.
Caps peer_caps(GstPad* pad, GstCaps* filter);

/// For an element whose output has the format of its input, returns the caps that one pad accepts
/// when the other has caps. These describe the same frames in either kind of memory, or only in
/// system memory if cuda is false.
Caps caps_of_other_side(GstCaps* caps, GstCaps* filter, bool cuda);

/// Reduces the caps of one media type that an element can put out on src to one structure: in CUDA
/// memory if the peer names it for that media type, else in system memory.
Caps choose_memory(Caps caps, GstPad* src);

}  // namespace cudavision
