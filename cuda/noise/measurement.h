// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The formulas of noise.h for blocks, classes and frames.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::noise {

constexpr int block_side = 8;  // pixels
constexpr int near_spacing = 1, far_spacing = 3;
constexpr int bins = 1024, bin_shift = 4;
constexpr int max_extreme_pixels = 4, quantile = 50;

CUDAVISION_HOST_DEVICE inline bool is_extreme(int level) {
  return level < 8 || level > 247;
}
CUDAVISION_HOST_DEVICE inline int bin_of(std::uint32_t sum) {
  const std::uint32_t bin = sum >> bin_shift;
  return static_cast<int>(bin < bins ? bin : bins - 1);
}
CUDAVISION_HOST_DEVICE constexpr std::uint32_t middle_of_bin(int bin) {
  return (static_cast<std::uint32_t>(bin) << bin_shift) + (1 << bin_shift) / 2;
}

/// Returns the variance v of a class (noise.h) before it is limited to 5·spread div 4.
CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_bins(int near_bin, int far_bin) {
  const std::uint32_t near = middle_of_bin(near_bin) * middle_of_bin(near_bin) / 185;
  const std::uint32_t far = middle_of_bin(far_bin) * middle_of_bin(far_bin) / 200;
  const std::uint32_t correlated = far > near ? 3 * (far - near) / 2 : 0;
  return near > correlated ? near : correlated;
}

constexpr int classes = 8, class_shift = 11;
constexpr std::uint32_t min_blocks = 32, min_class_blocks = 16;
/// Reciprocals of shares of the A blocks (noise.h): 6·M ≥ A, a quarter of A, and 16·M ≥ A.
constexpr std::uint32_t smooth_share = 6, quiet_share = 4, limiting_share = 16;

/// Returns the distance between measured rows of blocks.
inline int row_step(std::int64_t samples) {
  return static_cast<int>(1 + (samples >> 19));
}

CUDAVISION_HOST_DEVICE inline int class_of(std::uint32_t levels) {
  return static_cast<int>(levels >> class_shift);
}

constexpr int spread_bins = 256;

struct Quietest {
  std::uint32_t blocks;  ///< total number of blocks
  int bin;               ///< last bin of the quietest blocks
};

/// Returns 64² times the variance of the samples of a block; less than 2^26.
CUDAVISION_HOST_DEVICE inline std::uint32_t spread_of(std::uint32_t levels, std::uint32_t squares) {
  return block_side * block_side * squares - levels * levels;
}
CUDAVISION_HOST_DEVICE inline int bin_of_spread(std::uint32_t spread) {
  if (spread < 1 << 10)
    return 0;
#ifdef __CUDA_ARCH__
  const int exponent = 31 - __clz(static_cast<int>(spread));
#else
  const int exponent = 31 - __builtin_clz(spread);
#endif
  return 16 * (exponent - 10) + static_cast<int>(spread >> (exponent - 4) & 15);
}
/// Returns the variance of white noise whose quietest blocks have spreads in this bin.
CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_spread_bin(int bin) {
  const std::uint32_t middle = static_cast<std::uint32_t>(33 + 2 * (bin % 16)) << (5 + bin / 16);
  return 2 * middle / 21;
}

struct ClassNoise {
  std::uint32_t blocks = 0;
  std::uint32_t variance = 0;  ///< variance of the noise
  std::uint32_t spread = 0;    ///< variance of the samples; an upper limit of the noise

  /// Returns the number of blocks, or 0 if it is below min_class_blocks.
  CUDAVISION_HOST_DEVICE std::uint32_t used_blocks() const {
    return blocks < min_class_blocks ? 0 : blocks;
  }
  /// Returns true if the quietest blocks contain only noise.
  CUDAVISION_HOST_DEVICE bool has_smooth_blocks() const {
    return used_blocks() > 0 && 2 * spread <= 3 * variance + 512;
  }
  CUDAVISION_HOST_DEVICE std::uint32_t limit() const {
    return spread < variance ? spread : variance;
  }
};

/// by_differences is the result of variance_of_bins().
CUDAVISION_HOST_DEVICE inline ClassNoise noise_of_class(std::uint32_t blocks,
                                                        std::uint32_t by_differences,
                                                        int spread_bin) {
  const std::uint32_t spread = variance_of_spread_bin(spread_bin), limit = 5 * spread / 4;
  return {blocks, by_differences < limit ? by_differences : limit, spread};
}

CUDAVISION_HOST_DEVICE inline ClassNoise noise_of_extremes(std::uint32_t blocks, int spread_bin) {
  const std::uint32_t limit = 2 * variance_of_spread_bin(spread_bin);
  return {blocks, limit, limit};
}

/// The classes by brightness, then the class of extreme blocks.
using ClassNoises = ClassNoise[classes + 1];

struct Rank {
  bool smooth;
  bool has_quiet_share;  ///< a quarter of all blocks are in classes whose limit() is not larger
};

CUDAVISION_HOST_DEVICE inline Rank rank_of(const ClassNoises& noise, int number) {
  const ClassNoise& own = noise[number];
  const auto brightness = static_cast<std::uint32_t>(2 * number + 1);
  std::uint32_t all = 0, up_to = 0;
  for (const ClassNoise& other : noise) {
    all += other.used_blocks();
    up_to += other.limit() <= own.limit() ? other.used_blocks() : 0;
  }
  Rank rank{number < classes && own.has_smooth_blocks(),
            own.used_blocks() > 0 && quiet_share * up_to >= all};
  for (int i = 0; i < classes; ++i) {
    const ClassNoise& other = noise[i];
    const auto of_other = static_cast<std::uint32_t>(2 * i + 1),
               brighter = brightness < of_other ? of_other : brightness;
    if (other.has_smooth_blocks() && limiting_share * other.blocks >= all &&
        own.variance * of_other > 4 * (other.variance + 1024) * brighter)
      rank.smooth = false;
  }
  return rank;
}

struct Measurement {
  bool valid = false;      ///< there are enough blocks
  bool uncertain = false;  ///< too few blocks are smooth
  std::uint32_t variance = 0;
};

/// constant (64 equal samples) and flat are numbers of blocks that are not extreme.
CUDAVISION_HOST_DEVICE inline Measurement measurement_of(const ClassNoises& noise,
                                                         const Rank (&ranks)[classes + 1],
                                                         std::uint32_t constant,
                                                         std::uint32_t flat) {
  std::uint32_t all = 0, blocks = 0, smooth_blocks = 0, quietest = ~0u;
  std::uint64_t sum = 0;
  for (int i = 0; i <= classes; ++i) {
    const ClassNoise& own = noise[i];
    if (ranks[i].has_quiet_share && own.limit() < quietest)
      quietest = own.limit();
    if (i == classes)
      break;
    all += own.blocks;
    blocks += own.used_blocks();
    if (!ranks[i].smooth)
      continue;
    smooth_blocks += own.blocks;
    sum += static_cast<std::uint64_t>(own.blocks) * own.variance;
  }
  if (constant > all + noise[classes].blocks)
    return {constant >= min_blocks, false, 0};
  if (blocks < min_blocks)
    return {flat >= min_blocks, false, 0};
  const std::uint32_t with_extremes = blocks + noise[classes].used_blocks();
  const bool limits =
      smooth_blocks >= min_blocks && limiting_share * smooth_blocks >= with_extremes;
  const std::uint32_t limit =
      limits ? static_cast<std::uint32_t>(3 * sum / (2 * smooth_blocks)) : ~0u;
  if (!limits || smooth_share * smooth_blocks < with_extremes)
    return {true, true, quietest < limit ? quietest : limit};
  for (int i = 0; i < classes; ++i)
    if (!ranks[i].smooth)
      sum += static_cast<std::uint64_t>(noise[i].used_blocks()) *
             (noise[i].variance < limit ? noise[i].variance : limit);
  return {true, false, static_cast<std::uint32_t>(sum / blocks)};
}

}  // namespace cudavision::noise
