// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Tables on the GPU for other CUDA code. Local statistics include this header and nothing else of
// this folder.

#include "cuda/integral/backend.h"

namespace cudavision::integral {

/// The reader of a table. One that the next launch reads should stay in the cache; others should
/// not take its place.
enum class TableReader { next_launch, others };

/// Makes tables of sums or squared sums, in one launch.
std::unique_ptr<Integral::Backend> make_upright_cuda(Device& device, const ImageSize& size,
                                                     const Parameters& parameters,
                                                     TableReader reader);

/// Makes tables of tilted sums, from upright ones.
std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const ImageSize& size,
                                                    const Parameters& parameters);

}  // namespace cudavision::integral
