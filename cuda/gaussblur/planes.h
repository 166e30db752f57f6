// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Describes a frame's channels as the planes of bytes that the CUDA kernels blur.

#include <optional>

#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/channels.h"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

/// Fills in grids, borders and copied bytes. kernels receives the kernels along x. count ≥ 1.
void describe_plane(const FrameLayout& layout, int number, const ChannelBlur* channels, int count,
                    Plane& plane, RowKernels& kernels);

/// True if all bytes of a row belong to the same grid, and share a kernel or are copied.
bool is_uniform(const Plane& plane, const RowKernels& along_x);

/// True if the rows consist of pixels of four 8-bit samples with equal kernels.
bool are_pixels(const Plane& plane, const RowKernels& along_x);

/// Returns nothing if the direct kernel cannot blur the plane with 8-bit coefficients. The rest of
/// the plane must be described already.
std::optional<DirectPlane> describe_direct(const Plane& plane, Border border,
                                           const RowKernels& along_x, const GaussKernel& along_y);

}  // namespace cudavision::gaussblur
