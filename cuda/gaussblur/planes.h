// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Describes a frame's channels as the planes of bytes that the CUDA kernels blur.

#include <optional>

#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/channels.h"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

/// Fills in what the `count` ≥ 1 channels of plane `number` determine: grids, borders and which
/// bytes are copied. kernels receives the kernels along x.
void describe_plane(const FrameLayout& layout, int number, const ChannelBlur* channels, int count,
                    Plane& plane, RowKernels& kernels);

/// Returns true if every byte of a row belongs to the same grid and is blurred with the same
/// kernel, or copied.
bool is_uniform(const Plane& plane, const RowKernels& along_x);

/// Returns true if the rows consist of pixels of four 8-bit samples that are blurred alike.
bool are_pixels(const Plane& plane, const RowKernels& along_x);

/// Returns how the direct kernel blurs a plane with coefficients of 8 bits, or nothing if it
/// cannot. The rest of the plane must be described already.
std::optional<DirectPlane> describe_direct(const Plane& plane, Border border,
                                           const RowKernels& along_x, const GaussKernel& along_y);

}  // namespace cudavision::gaussblur
