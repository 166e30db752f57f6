// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

/// How the kernel for few taps blurs a plane of bytes that is described but for that, by
/// coefficients of 8 bits; nothing where it cannot.
std::optional<DirectBlur> describe_direct(const BlurPicture& picture, Border border,
                                          const RowKernels& along_x, const GaussKernel& along_y);

}  // namespace cudavision::gaussblur
