// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"

namespace cudavision::test {

/// Writes the chroma of `in` to `out`, scaled with the luma as cuda/chroma/chroma.h specifies.
void defined_chroma(const FrameLayout& layout, bool limited_range, const ConstFrame& in,
                    const Frame& out);

}  // namespace cudavision::test
