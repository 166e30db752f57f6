// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>

#include "cuda/guided/guided.h"

namespace cudavision::test {

using WideNumber = unsigned __int128;

struct DefinedGuidedWindow {
  WideNumber v() const;
  WideNumber w() const;
  std::uint64_t slope() const;
  std::uint64_t offset() const;

  std::uint64_t area, sum, squares;
  double epsilon;
  int bits;
};

std::uint32_t defined_guided_level(std::uint64_t area, int bits, std::uint64_t sample,
                                   std::uint64_t slopes, std::uint64_t offsets);

void defined_guided(const FrameLayout& layout, const guided::Parameters& parameters,
                    const ConstFrame& in, const Frame& out);

/// Evaluates the paper's formula in binary64. Calls visit(channel, x, y, level) for each sample.
void for_each_real_guided(const FrameLayout& layout, const guided::Parameters& parameters,
                          const ConstFrame& in,
                          const std::function<void(const Channel&, int, int, double)>& visit);

}  // namespace cudavision::test
