// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/frame.h"

namespace check {

/// Returns a colour's sample in a channel, by BT.601.
std::uint16_t color_sample(std::uint32_t argb, bool limited, const cudavision::FrameLayout& layout,
                           int channel);

}  // namespace check
