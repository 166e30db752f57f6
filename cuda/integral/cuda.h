// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the CUDA implementations of integral images share. For .cu files.

#include "cuda/integral/backend.h"

namespace cudavision::integral {

/// Who reads a table: a launch that comes soon, so that it had better stay in the cache, or others.
enum class TableReader { next_launch, others };

/// Sums and squared sums, in one launch.
std::unique_ptr<Integral::Backend> make_upright_cuda(Device& device, const ImageSize& size,
                                                     const Parameters& parameters,
                                                     TableReader reader);

/// Tilted sums.
std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const ImageSize& size,
                                                    const Parameters& parameters);

}  // namespace cudavision::integral
