// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::test {

/// The noise variance of each channel, in the unit of noise::Level.
using ChannelVariances = std::array<std::uint32_t, FrameLayout::max_channels>;

void defined_denoising(const FrameLayout& layout, const nlmeans::Parameters& parameters,
                       const ChannelVariances& noise, const ConstFrame& in,
                       const std::vector<ConstFrame>& neighbours, const Frame& out);

}  // namespace cudavision::test
