// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/nlmeans/nlmeans.h"

/// Non-local means written down a second time, one patch after the other and with nothing in common
/// with the code under test.
namespace cudavision::test {

/// The weight of every index that a sum of squared differences can become.
std::vector<std::int64_t> defined_weights(const nlmeans::Parameters& parameters, int bits,
                                          int channels);

/// Writes every byte of every row of out.
void defined_denoising(const FrameLayout& layout, const nlmeans::Parameters& parameters,
                       const ConstFrame& in, const Frame& out);

}  // namespace cudavision::test
