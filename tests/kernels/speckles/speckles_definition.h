// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/speckles/speckles.h"

namespace cudavision::test {

void defined_despeckled(const FrameLayout& layout, const speckles::Parameters& parameters,
                        const ConstFrame& from, const Frame& to);

}  // namespace cudavision::test
