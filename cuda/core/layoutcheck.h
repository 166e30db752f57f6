// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks of layouts and frames. They throw invalid_argument; errors begin with the operation's
// name.

#include <string>

#include "cuda/core/frame.h"

namespace cudavision {

[[noreturn]] void refuse(const char* operation, const std::string& what);

/// Checks the limits of frame.h, and that the samples of every channel are within their plane.
void check_layout(const char* operation, const FrameLayout& layout);

/// Like check_layout(). Also requires a luma channel as large as the picture, or red, green and
/// blue channels of 8 bits.
void check_luminance(const char* operation, const FrameLayout& layout);

/// Checks that frame has the planes of layout. name is "input" or "output".
void check_frame(const char* operation, const FrameLayout& layout, const ConstFrame& frame,
                 const char* name);

/// Returns the pitch as 32 bits, for CUDA kernels. Throws for pitches of 2 GiB and more.
int kernel_pitch(const char* operation, std::ptrdiff_t pitch);

}  // namespace cudavision
