// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// From a frame's channels to the planes of bytes that the CUDA kernels blur.

#include <optional>

#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/channels.h"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

/// Fills in what the `count` ≥ 1 channels of plane `number` determine: grids, borders and which
/// bytes are copied. kernels: receives those along x.
void describe_plane(const FrameLayout& layout, int number, const ChannelBlur* channels, int count,
                    Plane& plane, RowKernels& kernels);

/// Whether every byte of a row belongs to the same grid and is blurred with the same kernel, or
/// copied.
bool is_uniform(const Plane& plane, const RowKernels& along_x);

/// Whether the rows consist of pixels of four 8-bit samples that are blurred alike.
bool are_pixels(const Plane& plane, const RowKernels& along_x);

/// How the direct kernel blurs a plane that is otherwise described, with coefficients of 8 bits;
/// nothing if it cannot.
std::optional<DirectPlane> describe_direct(const Plane& plane, Border border,
                                           const RowKernels& along_x, const GaussKernel& along_y);

}  // namespace cudavision::gaussblur
