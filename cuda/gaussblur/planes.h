// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/gaussblur/backend.h"
#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

/// What the `count` ≥ 1 channels of one plane say of its picture: grids, borders, and which bytes
/// are not blurred. kernels: those along x, by phase.
void describe_plane(const FrameLayout& layout, int plane, const BlurChannel* channels, int count,
                    BlurPicture& picture, RowKernels& kernels);

/// Whether all bytes of a plane's rows are of samples on one grid that are blurred alike, or
/// copied.
bool is_uniform(const BlurPicture& picture, const RowKernels& along_x);

/// Whether these samples are those of pixels of four bytes.
bool are_pixels(const BlurPicture& picture, const RowKernels& along_x);

}  // namespace cudavision::gaussblur
