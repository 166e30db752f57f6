// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How the noise of a frame follows from the quietest blocks of its classes, as noise.h defines it.

#include <cstdint>

#include "cuda/noise/blocks.h"

namespace cudavision::noise {

constexpr int classes = 8, class_shift = 11;
constexpr std::uint32_t min_blocks = 32, min_class_blocks = 16;
/// Inverse shares of the blocks: smooth blocks of a certain estimate, the quantile of quiet blocks,
/// and smooth blocks that limit the noise of others.
constexpr std::uint32_t smooth_share = 6, quiet_share = 4, limiting_share = 16;

/// Every row_step-th row of blocks counts.
inline int row_step(std::int64_t samples) {
  return static_cast<int>(1 + (samples >> 19));
}

CUDAVISION_HOST_DEVICE inline int class_of(std::uint32_t levels) {
  return static_cast<int>(levels >> class_shift);
}

/* The spread of a block is 64² times the variance of its samples, less than 2^26. From 2^10 on,
   each power of two has 16 bins. */

constexpr int spread_bins = 256;

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
/// Variance of white noise whose quietest blocks, at 0.67 of the mean, have spreads in this bin.
CUDAVISION_HOST_DEVICE inline std::uint32_t variance_of_spread_bin(int bin) {
  const std::uint32_t middle = static_cast<std::uint32_t>(33 + 2 * (bin % 16)) << (5 + bin / 16);
  return 2 * middle / 21;
}

struct ClassNoise {
  std::uint32_t blocks = 0;
  std::uint32_t variance = 0;  ///< of the noise
  std::uint32_t spread = 0;    ///< variance of the samples: an upper limit

  /// The number of blocks if it is sufficient, else 0.
  CUDAVISION_HOST_DEVICE std::uint32_t counted() const {
    return blocks < min_class_blocks ? 0 : blocks;
  }
  /// True if the quietest blocks contain only noise: no lines and no texture.
  CUDAVISION_HOST_DEVICE bool has_smooth_blocks() const {
    return counted() > 0 && 2 * spread <= 3 * variance + 512;
  }
  CUDAVISION_HOST_DEVICE std::uint32_t limit() const {
    return spread < variance ? spread : variance;
  }
};

/// by_differences: variance from the second differences.
CUDAVISION_HOST_DEVICE inline ClassNoise noise_of_class(std::uint32_t blocks,
                                                        std::uint32_t by_differences,
                                                        int spread_bin) {
  const std::uint32_t spread = variance_of_spread_bin(spread_bin), limit = 5 * spread / 4;
  return {blocks, by_differences < limit ? by_differences : limit, spread};
}

/// The class of blocks with extreme samples, where up to two thirds of the variance are cut off.
CUDAVISION_HOST_DEVICE inline ClassNoise noise_of_extremes(std::uint32_t blocks, int spread_bin) {
  const std::uint32_t limit = 2 * variance_of_spread_bin(spread_bin);
  return {blocks, limit, limit};
}

/// The classes by brightness, then the class of blocks with extreme samples.
using ClassNoises = ClassNoise[classes + 1];

struct Rank {
  /// It has smooth blocks, and is not much noisier than another class that has them: a camera's
  /// variance grows at most with the brightness, and four times as much is allowed.
  bool smooth;
  /// The classes up to its limit have the quiet share of the blocks.
  bool has_quiet_share;
};

CUDAVISION_HOST_DEVICE inline Rank rank_of(const ClassNoises& noise, int number) {
  const ClassNoise& own = noise[number];
  const auto brightness = static_cast<std::uint32_t>(2 * number + 1);
  std::uint32_t all = 0, up_to = 0;
  for (const ClassNoise& other : noise) {
    all += other.counted();
    up_to += other.limit() <= own.limit() ? other.counted() : 0;
  }
  Rank rank{number < classes && own.has_smooth_blocks(),
            own.counted() > 0 && quiet_share * up_to >= all};
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
  bool tells = false;      ///< false if there are too few blocks
  bool uncertain = false;  ///< too few blocks are smooth
  std::uint32_t variance = 0;
};

/// constant, flat: numbers of blocks of equal samples, and of flat blocks.
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
    blocks += own.counted();
    if (!ranks[i].smooth)
      continue;
    smooth_blocks += own.blocks;
    sum += static_cast<std::uint64_t>(own.blocks) * own.variance;
  }
  if (constant > all + noise[classes].blocks)
    return {constant >= min_blocks, false, 0};
  if (blocks < min_blocks)
    return {flat >= min_blocks, false, 0};
  const std::uint32_t with_extremes = blocks + noise[classes].counted();
  const bool limits =
      smooth_blocks >= min_blocks && limiting_share * smooth_blocks >= with_extremes;
  const std::uint32_t limit =
      limits ? static_cast<std::uint32_t>(3 * sum / (2 * smooth_blocks)) : ~0u;
  if (!limits || smooth_share * smooth_blocks < with_extremes)
    return {true, true, quietest < limit ? quietest : limit};
  for (int i = 0; i < classes; ++i)
    if (!ranks[i].smooth)
      sum += static_cast<std::uint64_t>(noise[i].counted()) *
             (noise[i].variance < limit ? noise[i].variance : limit);
  return {true, false, static_cast<std::uint32_t>(sum / blocks)};
}

}  // namespace cudavision::noise
