// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blocks of pixels whose noise is measured, and what is done with their sums. noise.h and the
// stereo matching define what they are for.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::noise {

constexpr int block_side = 8;  // pixels in a row and rows
constexpr int bins = 1024, bin_shift = 4;
constexpr int max_extreme_pixels = 4, quantile = 50;

CUDAVISION_HOST_DEVICE inline bool is_extreme(int level) {
  return level < 8 || level > 247;
}
CUDAVISION_HOST_DEVICE inline int bin_of(std::uint32_t sum) {
  const std::uint32_t bin = sum >> bin_shift;
  return static_cast<int>(bin < bins ? bin : bins - 1);
}
/// Returns the sum in the middle of a bin.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t middle_of_bin(int bin) {
  return (static_cast<std::uint32_t>(bin) << bin_shift) + (1 << bin_shift) / 2;
}

/* What follows is only for noise.h. */

constexpr int classes = 8, class_shift = 11;
constexpr std::uint32_t min_blocks = 32, min_class_blocks = 16;

/// Every so many rows of blocks count.
inline int row_step(std::int64_t samples) {
  return static_cast<int>(1 + (samples >> 19));
}

CUDAVISION_HOST_DEVICE inline int class_of(std::uint32_t levels) {
  return static_cast<int>(levels >> class_shift);
}

/// The number of blocks of a class, and the variance of their noise.
struct ClassNoise {
  std::uint32_t blocks = 0, variance = 0;
};

CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_bin(int bin) {
  return middle_of_bin(bin) * middle_of_bin(bin) / 185;
}

/// The outcome for a frame.
struct Measurement {
  bool tells = false;  ///< else there are too few blocks
  std::uint32_t variance = 0;
};

/// constant: the number of blocks of equal samples.
CUDAVISION_HOST_DEVICE inline Measurement measurement_of(const ClassNoise (&by_class)[classes],
                                                         std::uint32_t constant) {
  std::uint64_t sum = 0;
  std::uint32_t blocks = 0, all = 0;
  for (const ClassNoise& noise : by_class) {
    all += noise.blocks;
    if (noise.blocks < min_class_blocks)
      continue;
    sum += static_cast<std::uint64_t>(noise.blocks) * noise.variance;
    blocks += noise.blocks;
  }
  if (constant > all)
    return {constant >= min_blocks, 0};
  if (blocks < min_blocks)
    return {};
  return {true, static_cast<std::uint32_t>(sum / blocks)};
}

}  // namespace cudavision::noise
