// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks of layouts and frames that all operations share. They throw invalid_argument with a text
// that begins with the operation's name.

#include <string>

#include "cuda/core/frame.h"

namespace cudavision {

[[noreturn]] void refuse(const char* operation, const std::string& what);

/// Checks that sizes, depth and counts are within the limits of frame.h, and that every channel's
/// samples lie within its plane.
void check_layout(const char* operation, const FrameLayout& layout);

/// Does what check_layout() does, and checks that the layout has a luminance: a luma channel as
/// large as the picture, or red, green and blue channels of 8 bits.
void check_luminance(const char* operation, const FrameLayout& layout);

/// Checks that frame has the planes of layout. name is "input" or "output".
void check_frame(const char* operation, const FrameLayout& layout, const ConstFrame& frame,
                 const char* name);

/// The pitch as CUDA kernels take it, in 32 bits. Refuses pitches of 2 GiB and more.
int kernel_pitch(const char* operation, std::ptrdiff_t pitch);

}  // namespace cudavision
