// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The left factors of fragments.h: coefficients in the layout of the tensor cores.

#include <array>
#include <cstdint>

#include "cuda/gaussblur/fragments.h"
#include "cuda/gaussblur/gausskernel.h"

namespace cudavision::gaussblur {

/// Gaussian kernels along x for one plane, by a sample's byte position modulo four, and the bytes
/// from one sample of a channel to the next. If kernels or steps differ, the steps are 1, 2 or 4.
struct RowKernels {
  std::array<const GaussKernel*, 4> kernel{};  ///< nullptr: these bytes need no result
  std::array<int, 4> step{};

  /// Bytes to either side of a sample that contribute to its sum.
  int halo_bytes() const;
};

// The identity's coefficient, 2^fraction_bits, has one bit too many for its bytes. A smaller power
// of two replaces it, which mma.cuh corrects.
template <class Depth>
constexpr std::uint32_t identity_in_row = Depth::coefficient_bytes == 1 ? 1 : 1u << 15;
template <class Depth>
constexpr std::uint32_t identity_in_column = 1u << (8 * Depth::coefficient_bytes - 1);
constexpr std::uint32_t identity_of_pixels = 1;

/* Tables for any number of slices */

/// A table of words, each with four adjacent coefficients of one row of T. Rows of T that are four
/// bytes apart (along y, four rows of the plane) hold the same words, shifted by one. The table
/// holds one list of words for each of the four phases, from `padding` words before the window on.
template <class Depth>
struct ToeplitzTable {
  static constexpr int row_padding = 7;
  static constexpr int column_padding = 3;
  static constexpr int row_phases = 4 / Depth::sample_bytes;

  CUDAVISION_HOST_DEVICE static constexpr int row_length(int slices) {
    return 4 * slices + row_padding;
  }
  CUDAVISION_HOST_DEVICE static constexpr int row_words(int slices) {
    return Depth::row_sums * row_phases * row_length(slices);
  }
  CUDAVISION_HOST_DEVICE static constexpr int column_length(int slices) {
    return 4 * slices + column_padding;
  }
  CUDAVISION_HOST_DEVICE static constexpr int column_words(int slices) {
    return Depth::coefficient_bytes * 4 * column_length(slices);
  }

  /// Start of row i of T. Add the number of the window's word.
  CUDAVISION_HOST_DEVICE static constexpr int row_start(int slices, int sum, int group, int i) {
    const int byte = byte_of_row<Depth>(group, i);
    const int phase = byte % 4 / Depth::sample_bytes;
    return (sum * row_phases + phase) * row_length(slices) + row_padding - byte / 4;
  }
  /// The same along y. Add 4 · slice + t.
  CUDAVISION_HOST_DEVICE static constexpr int column_start(int slices, int coefficient_byte,
                                                           int i) {
    return (coefficient_byte * 4 + i % 4) * column_length(slices) + column_padding - i / 4;
  }
};

/// Writes row_words(slices) words. Requires window_halo(slices) ≥ halo_bytes().
template <class Depth>
void make_row_table(const RowKernels& kernels, int slices, std::uint32_t* words);

/// Writes column_words(slices) words. Requires column_halo(slices) ≥ kernel.radius().
template <class Depth>
void make_column_table(const GaussKernel& kernel, int slices, std::uint32_t* words);

/* Factors for few slices */

/// The words of both left factors that a lane of small.cuh keeps in registers. In memory, each quad
/// of a lane follows the same quad of the previous lane.
template <class Depth>
struct LaneFactors {
  CUDAVISION_HOST_DEVICE static constexpr int row_word(int row_slices, int group, int sum,
                                                       int slice, int half) {
    return ((group * Depth::row_sums + sum) * row_slices + slice) * 2 + half;
  }
  CUDAVISION_HOST_DEVICE static constexpr int column_word(int row_slices, int column_slices,
                                                          int byte, int slice, int half) {
    return row_word(row_slices, Depth::groups, 0, 0, 0) + (byte * column_slices + slice) * 2 + half;
  }
  CUDAVISION_HOST_DEVICE static constexpr int quads(int row_slices, int column_slices) {
    return (column_word(row_slices, column_slices, Depth::coefficient_bytes, 0, 0) + 3) / 4;
  }
  /// Words of all lanes.
  CUDAVISION_HOST_DEVICE static constexpr int words(int row_slices, int column_slices) {
    return quads(row_slices, column_slices) * 4 * 32;
  }
};

template <class Depth>
void make_factors(const std::uint32_t* row_table, int row_slices, const std::uint32_t* column_table,
                  int column_slices, std::uint32_t* words);

CUDAVISION_HOST_DEVICE constexpr int pixel_factor_quads(int row_slices, int column_slices) {
  return (2 * (row_slices + column_slices) + 3) / 4;
}

/// Writes the factors of pixels for all 32 lanes, in the order of LaneFactors.
void make_pixel_factors(const GaussKernel& x, int row_slices, const GaussKernel& y,
                        int column_slices, std::uint32_t* words);

}  // namespace cudavision::gaussblur
