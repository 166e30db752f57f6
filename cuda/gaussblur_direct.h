// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gaussblur_cuda.h"
#include "gaussblur_tables.h"

namespace cudavision {

/// How the kernel for few taps blurs a plane of bytes that is described but for that;
/// direct.possible says whether it can.
DirectBlur describe_direct(const BlurPicture& picture, Border border, const RowKernels& along_x,
                           const GaussKernel& along_y);

}  // namespace cudavision
