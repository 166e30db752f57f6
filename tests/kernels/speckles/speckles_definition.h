// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/speckles/speckles.h"

/// A second implementation of the removal of speckles, which shares no code with the one under
/// test.
namespace cudavision::test {

/// Writes every byte of every row of `to`.
void defined_despeckled(const FrameLayout& layout, const speckles::Parameters& parameters,
                        const ConstFrame& from, const Frame& to);

}  // namespace cudavision::test
