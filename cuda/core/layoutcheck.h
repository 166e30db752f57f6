// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What every operation asks of the frames it is given, whatever it does with them. The checks throw
// invalid_argument in the operation's name.

#include <string>

#include "cuda/core/frame.h"

namespace cudavision {

[[noreturn]] void refuse(const char* operation, const std::string& what);

/// Sizes, depth and counts are what frame.h allows, and the samples of every channel lie within the
/// channel's plane.
void check_layout(const char* operation, const FrameLayout& layout);

/// check_layout(), and the layout has a luminance: a luma channel as large as the picture, or red,
/// green and blue ones of 8 bits.
void check_luminance(const char* operation, const FrameLayout& layout);

/// frame has the planes of layout. name: "input" or "output".
void check_frame(const char* operation, const FrameLayout& layout, const ConstFrame& frame,
                 const char* name);

}  // namespace cudavision
