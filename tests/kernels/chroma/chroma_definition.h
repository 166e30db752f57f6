// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"

namespace cudavision::test {

/// Replaces the chroma of `out` by that of `in`, scaled with the luma as cuda/chroma/chroma.h says.
void defined_chroma(const FrameLayout& layout, bool limited_range, const ConstFrame& in,
                    const Frame& out);

}  // namespace cudavision::test
