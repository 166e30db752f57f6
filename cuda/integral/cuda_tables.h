// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Tables on the GPU, and the tilted ones that are made from them.

#include "cuda/integral/backend.h"

namespace cudavision::integral {

/// The readers for which a table can be made. A table that the next launch reads should stay in the
/// cache; a table for others should not displace anything there.
enum class TableReader { next_launch, others };

/// Makes tables of sums or squared sums, in one launch.
std::unique_ptr<Integral::Backend> make_upright_cuda(Device& device, const PlaneSize& size,
                                                     const Parameters& parameters,
                                                     TableReader reader);

/// Makes tables of tilted sums, from upright ones.
std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters);

}  // namespace cudavision::integral
