// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The table of weights that nlmeans.h defines.

#include <cstdint>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Returns the number of bits by which a sum of squared differences is shifted right to get an
/// index into the table.
int distance_shift(const Parameters& parameters, int bits) noexcept;

/// Returns the maximum number of entries of a table, for all parameters and depths.
constexpr int max_patch_weights(int channels) {
  return channels << 16;
}

/// Writes the table for a strength and returns the number of its entries. It ends at the largest
/// possible index, or with the first 0, which then holds for all larger indices. The strengths of
/// the parameters have no effect.
int make_patch_weights(const Parameters& parameters, double strength, int bits, int channels,
                       std::uint32_t* weights) noexcept;

}  // namespace cudavision::nlmeans
