// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "cuda/guided/guided.h"

/// A second implementation of the guided filter, which works sample by sample and shares no code
/// with the one under test.
namespace cudavision::test {

/// Writes every byte of every row of out.
void defined_guided(const FrameLayout& layout, const guided::Parameters& parameters,
                    const ConstFrame& in, const Frame& out);

/// Evaluates the paper's filter in binary64 and calls visit(channel, x, y, result) for each sample
/// that is filtered. Results are in levels of the layout's depth.
void for_each_real_guided(const FrameLayout& layout, const guided::Parameters& parameters,
                          const ConstFrame& in,
                          const std::function<void(const Channel&, int, int, double)>& visit);

}  // namespace cudavision::test
