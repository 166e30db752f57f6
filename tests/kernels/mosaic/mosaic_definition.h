// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"
#include "cuda/mosaic/mosaic.h"

namespace cudavision::test {

void defined_mosaic(const FrameLayout& layout, const mosaic::Parameters& parameters,
                    const ConstFrame& in, const Frame& out);

}  // namespace cudavision::test
