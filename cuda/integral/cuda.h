// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the CUDA implementations of integral images share. For .cu files.

#include "cuda/integral/backend.h"

namespace cudavision {

/// Who reads a table: a launch that comes soon, so that it had better stay in the cache, or others.
enum class TableReader { next_launch, others };

/// Sums and squared sums, in one launch.
std::unique_ptr<Integral::Implementation> make_upright_cuda(Device& device, const PictureSize& size,
                                                            const IntegralParameters& parameters,
                                                            TableReader reader);

/// Tilted sums.
std::unique_ptr<Integral::Implementation> make_tilted_cuda(Device& device, const PictureSize& size,
                                                           const IntegralParameters& parameters);

}  // namespace cudavision
