// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks of layouts and frames, which throw invalid_argument. Messages begin with `operation`.

#include "cuda/core/error.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"

namespace cudavision {

/// Throws an Error whose message consists of operation and parts, formatted by text_of().
template <class... Parts>
[[noreturn]] void refuse(const char* operation, const Parts&... parts) {
  throw Error(Error::Kind::invalid_argument,
              ((std::string(operation) + ": ") + ... + text_of(parts)));
}

/// Checks the limits of frame.h, and that every plane is large enough for its channels.
void check_layout(const char* operation, const FrameLayout& layout);

/// Like check_layout(). Also requires full-size luma, or full-size red, green and blue of 8 bits.
void check_luminance(const char* operation, const FrameLayout& layout);

/// Checks that the planes of `frame` fit `layout`. `name` names the frame: "input" or "output".
void check_frame(const char* operation, const FrameLayout& layout, const ConstFrame& frame,
                 const char* name);

/// Returns the pitch as an int, for CUDA kernels. The magnitude must be less than 2 GiB.
int kernel_pitch(const char* operation, std::ptrdiff_t pitch);

}  // namespace cudavision
