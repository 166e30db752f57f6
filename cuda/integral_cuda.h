// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the CUDA implementations of integral images share. For .cu files.

#include "integral_implementation.h"

namespace cudavision {

/// Sums and squared sums, in one launch.
std::unique_ptr<Integral::Implementation> make_upright_cuda(Device& device, const PictureSize& size,
                                                            const IntegralParameters& parameters);

/// Tilted sums.
std::unique_ptr<Integral::Implementation> make_tilted_cuda(Device& device, const PictureSize& size,
                                                           const IntegralParameters& parameters);

}  // namespace cudavision
