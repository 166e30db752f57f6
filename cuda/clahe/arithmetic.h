// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic of CLAHE, shared by both backends.

#include <cmath>
#include <cstdint>

#include "cuda/clahe/clahe.h"
#include "cuda/core/view.h"
#include "cuda/histequalize/arithmetic.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::clahe {

// One axis of the grid of tiles. Pixels of the same cell interpolate between the same four tiles.
// Along an axis, cell c extends from the centre of tile c − 1 to the centre of tile c; the first
// and the last cell end at the edges of the picture. There is one more cell than tiles.

struct TiledAxis {
  int size = 1;  ///< pixels of the picture
  int tiles = 1;
  int tile_size = 1;     ///< in pixels; tiles · tile_size ≥ size
  float inverse = 1.0f;  ///< 1 / tile_size

  CUDAVISION_HOST_DEVICE int cells() const { return tiles + 1; }

  CUDAVISION_HOST_DEVICE float position(int pixel) const {
    return static_cast<float>(pixel) * inverse - 0.5f;
  }
  CUDAVISION_HOST_DEVICE int cell_of(int pixel) const {
    return static_cast<int>(floorf(position(pixel))) + 1;
  }
  /// Weight of the right (or lower) tile. The left (or upper) tile has 1 − weight(pixel).
  CUDAVISION_HOST_DEVICE float weight(int pixel) const {
    const float at = position(pixel);
    return at - floorf(at);
  }

  CUDAVISION_HOST_DEVICE int tile_before(int cell) const { return cell > 0 ? cell - 1 : 0; }
  CUDAVISION_HOST_DEVICE int tile_after(int cell) const { return cell < tiles ? cell : tiles - 1; }

  CUDAVISION_HOST_DEVICE float weight_in_cell(int pixel, int cell) const {
    return position(pixel) - static_cast<float>(cell - 1);
  }

  /// First pixel of a cell, or `size` if the picture ends before the cell.
  CUDAVISION_HOST_DEVICE int cell_begin(int cell) const {
    if (cell <= 0)
      return 0;
    if (cell > tiles)
      return size;
    // Rounding may shift the first pixel, so the search starts 2 pixels before the tile's centre.
    int pixel = cell * tile_size - tile_size / 2 - 2;
    if (pixel < 0)
      pixel = 0;
    while (pixel < size && cell_of(pixel) < cell)
      ++pixel;
    return pixel < size ? pixel : size;
  }
};

/// Kinds of patches into which the picture is divided. Half tiles vary less in size than cells.
enum class Patches { cells, half_tiles };

CUDAVISION_HOST_DEVICE inline int patches_along(const TiledAxis& axis, Patches kind) {
  return kind == Patches::cells ? axis.cells() : 2 * axis.tiles;
}
CUDAVISION_HOST_DEVICE inline int cell_of_patch(int patch, Patches kind) {
  return kind == Patches::cells ? patch : (patch + 1) / 2;
}
/// First pixel of each cell along one axis, then the end of the last cell.
struct CellBegins {
  std::uint16_t pixels[Tiles::range.max + 2] = {};

  CellBegins() = default;
  explicit CellBegins(const TiledAxis& axis) {
    for (int cell = 0; cell <= axis.cells(); ++cell)
      pixels[cell] = static_cast<std::uint16_t>(axis.cell_begin(cell));
  }
};

/// First pixel of a patch, or `size` if the patch is outside the picture.
CUDAVISION_HOST_DEVICE inline int patch_begin(const TiledAxis& axis, const CellBegins& cells,
                                              int patch, Patches kind) {
  if (kind == Patches::cells)
    return cells.pixels[patch];
  if (patch % 2 != 0)
    return cells.pixels[patch / 2 + 1];
  const int tile_begin = patch / 2 * axis.tile_size;
  return tile_begin < axis.size ? tile_begin : axis.size;
}

struct Tiling {
  TiledAxis x, y;

  CUDAVISION_HOST_DEVICE int tiles() const { return x.tiles * y.tiles; }
  /// Pixels per tile. Below 2^32, because a picture with one tile is not extended.
  CUDAVISION_HOST_DEVICE std::uint32_t area() const {
    return static_cast<std::uint32_t>(x.tile_size) * static_cast<std::uint32_t>(y.tile_size);
  }
};

inline Tiling make_tiling(int width, int height, const Tiles& tiles) {
  const bool extended = width % tiles.columns != 0 || height % tiles.rows != 0;
  const auto axis = [&](int size, int count) {
    const int tile_size = extended ? size / count + 1 : size / count;
    return TiledAxis{size, count, tile_size, 1.0f / static_cast<float>(tile_size)};
  };
  return {axis(width, tiles.columns), axis(height, tiles.rows)};
}

struct Run {
  int first;
  int count;
};

/// Returns the columns (or rows) of the picture for the positions from `position` on. The run ends
/// at `end` or at the next reflection. The reflection beyond `size` does not repeat the edge.
CUDAVISION_HOST_DEVICE inline Run reflected_run(int position, int end, int size) {
  if (size == 1)
    return {0, 1};
  const int period = 2 * size - 2;
  // Avoids the division for most positions.
  const int within = position < period ? position : position % period;
  const bool forward = within < size;
  const int until_edge = forward ? size - within : period - within;
  const int count = end - position < until_edge ? end - position : until_edge;
  return {forward ? within : period - within - count + 1, count};
}

/// Mask of the lowest `count` bytes of a word. count may be negative or above 4.
CUDAVISION_HOST_DEVICE inline std::uint32_t bytes_before(int count) {
  return count <= 0 ? 0 : count >= 4 ? ~0u : (1u << (8 * count)) - 1;
}

/// Clip limit of a bin, in pixels (see clahe.h).
CUDAVISION_HOST_DEVICE inline std::uint32_t clip_count(double clip_limit, std::uint32_t area,
                                                       int bins) {
  constexpr std::uint32_t unlimited = 0xffffffff;
  if (clip_limit <= 0)
    return unlimited;
  const double count = clip_limit * area / bins;
  if (count < 1)
    return 1;
  return count < unlimited ? static_cast<std::uint32_t>(count) : unlimited;
}

/// Scale from cumulative counts to levels. area must not be 0.
CUDAVISION_HOST_DEVICE inline float level_scale(int low, int high, std::uint32_t area) {
  return static_cast<float>(high - low) / static_cast<float>(area);
}

/// How the excess above the clip limit is distributed over at most 2^16 bins.
struct Redistribution {
  std::uint32_t batch;    ///< pixels added to each bin
  std::uint32_t residue;  ///< bins that get one more pixel
  std::uint32_t step;     ///< distance between the bins that get one more pixel, from bin 0 on
  std::uint32_t inverse;  ///< 2^32 / step, rounded up, if step is not 1

  CUDAVISION_HOST_DEVICE Redistribution(std::uint32_t excess, std::uint32_t bins)
      : batch(excess / bins),
        residue(excess % bins),
        step(residue ? bins / residue : bins),
        inverse(0xffffffffu / step + 1) {}

  /// Pixels added to all bins up to and including `bin`.
  CUDAVISION_HOST_DEVICE std::uint32_t up_to(std::uint32_t bin) const {
    // Exact, because bin · (inverse − 2^32 / step) < 2^16 ≤ 2^32 / step.
    const std::uint32_t quotient =
        step == 1 ? bin
                  : static_cast<std::uint32_t>(static_cast<std::uint64_t>(bin) * inverse >> 32);
    const std::uint32_t singles = quotient + 1;
    return (bin + 1) * batch + (singles < residue ? singles : residue);
  }
};

CUDAVISION_HOST_DEVICE inline float fused(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

/// Returns a word whose lowest 22 bits are the rounded value (halves to even), for 0 ≤ value <
/// 2^22. The sum's unit in the last place is 1, so the addition rounds. A conversion instruction
/// takes four times as long on a GPU, and CPU compilers do not vectorise it.
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded_in_low_bits(float value) {
  return bits_of_float(value + 12582912.0f);
}

/// Rounds to the nearest integer, halves to even, for 0 ≤ value < 2^22.
CUDAVISION_HOST_DEVICE inline std::uint32_t rounded(float value) {
  return rounded_in_low_bits(value) & 0x3fffff;
}

/// Table entry of a bin. counted is the cumulative count up to and including this bin.
CUDAVISION_HOST_DEVICE inline std::uint32_t table_level(std::uint32_t counted, float scale,
                                                        std::uint32_t low, std::uint32_t high) {
  const std::uint32_t level = low + rounded(static_cast<float>(counted) * scale);
  return level < high ? level : high;
}

/// Table entries of one value in the four tiles around a pixel.
struct Levels {
  float upper_left, upper_right, lower_left, lower_right;
};

/// right and lower are the weights of the right and of the lower tiles. The result needs no clamp:
/// the weights add up to 1, with a rounding error too small to reach the next integer.
CUDAVISION_HOST_DEVICE inline std::uint32_t interpolated(const Levels& levels, float right,
                                                         float lower) {
  const float left = 1.0f - right;
  const float upper = 1.0f - lower;
  return rounded((levels.upper_left * left + levels.upper_right * right) * upper +
                 (levels.lower_left * left + levels.lower_right * right) * lower);
}

// Levels become floats without a conversion instruction: writing a level to the low bits of the
// float 2^23 gives the float 2^23 + level.

constexpr std::uint32_t level_bias_bits = 0x4b000000;  // bit pattern of 2^23
constexpr float level_bias = 8388608.0f;

/// A weight, and the correction that removes the bias from its product with a biased level.
struct BiasedWeight {
  float weight, correction;

  CUDAVISION_HOST_DEVICE explicit BiasedWeight(float w = 0)
      : weight(w), correction(-level_bias * w) {}
};

/// Returns level·weight, rounded once. biased_level is the bit pattern of 2^23 + level. The
/// correction is the weight times a power of 2 and therefore exact.
CUDAVISION_HOST_DEVICE inline float product(std::uint32_t biased_level, const BiasedWeight& w) {
  return fused(float_of_bits(biased_level), w.weight, w.correction);
}

struct BiasedLevels {
  std::uint32_t upper_left, upper_right, lower_left, lower_right;
};

/// The interpolated level before rounding to an integer.
CUDAVISION_HOST_DEVICE inline float interpolated_sum(const BiasedLevels& levels,
                                                     const BiasedWeight& left,
                                                     const BiasedWeight& right, float upper,
                                                     float lower) {
  return (product(levels.upper_left, left) + product(levels.upper_right, right)) * upper +
         (product(levels.lower_left, left) + product(levels.lower_right, right)) * lower;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t level_between(const BiasedLevels& levels, float right,
                                                          float lower) {
  return rounded_in_low_bits(interpolated_sum(levels, BiasedWeight(1.0f - right),
                                              BiasedWeight(right), 1.0f - lower, lower)) &
         0xffff;
}

}  // namespace cudavision::clahe
