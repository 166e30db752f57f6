// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The table of weights of nlmeans.h.

#include <cstdint>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// How far right a sum of squared differences is shifted to be an index into the table.
int distance_shift(const Parameters& parameters, int bits) noexcept;

/// Entries that a table may need, whatever the parameters and the depth.
constexpr int most_patch_weights(int channels) {
  return channels << 16;
}

/// Writes the table, and returns the number of its entries: those up to the largest index that
/// there can be, or up to the first 0, which then stands for all that would follow.
int make_patch_weights(const Parameters& parameters, int bits, int channels,
                       std::uint32_t* weights) noexcept;

}  // namespace cudavision::nlmeans
