// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Bits by which a sum of squared differences is shifted right to index the table.
int distance_shift(const Parameters& parameters, int bits) noexcept;

/// Maximum for all parameters and depths.
constexpr int max_patch_weights(int channels) {
  return channels << 16;
}

/// Writes the table for `strength` (not parameters.strength) and returns its length. It ends at the
/// largest possible index, or with the first 0, which then holds for all larger indices.
int make_patch_weights(const Parameters& parameters, double strength, int bits, int channels,
                       std::uint32_t* weights) noexcept;

}  // namespace cudavision::nlmeans
