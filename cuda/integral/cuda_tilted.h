// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/integral/backend.h"

namespace cudavision::integral {

/// Makes tables of tilted sums. Needs four bytes of device memory per pixel.
std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters);

}  // namespace cudavision::integral
