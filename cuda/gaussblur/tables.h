// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "cuda/gaussblur/fragments.h"
#include "cuda/gaussblur/gausskernel.h"

namespace cudavision::gaussblur {

/// The kernels along x of the samples of one plane, by the byte at which a sample begins, modulo
/// four, and the distance in bytes from one sample of a channel to the next. Where the kernels or
/// the steps differ, the steps are 1, 2 or 4 bytes.
struct RowKernels {
  std::array<const GaussKernel*, 4> kernel{};  ///< nullptr: these bytes need no result
  std::array<int, 4> step{};

  /// The farthest byte that a sum needs.
  int reach() const;
};

/// What stands for 2^fraction_bits, which has one bit too many, where a kernel is the identity.
template <class Depth>
constexpr std::uint32_t identity_in_row = Depth::coefficient_bytes == 1 ? 1 : 1u << 15;
template <class Depth>
constexpr std::uint32_t identity_in_column = 1u << (8 * Depth::coefficient_bytes - 1);

/// What stands for it along both axes where pixels are blurred.
constexpr std::uint32_t identity_of_pixels = 1;

/// What a lane of the kernel for few slices keeps in registers: its words of both left factors, in
/// quads of which each follows those of the other lanes.
template <class Depth>
struct BlurFactors {
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
  /// Of all lanes.
  CUDAVISION_HOST_DEVICE static constexpr int words(int row_slices, int column_slices) {
    return quads(row_slices, column_slices) * 4 * 32;
  }
};

/// Writes BlurFactors<Depth>::words(…) words, taken from tables for as many slices.
template <class Depth>
void make_factors(const std::uint32_t* row_table, int row_slices, const std::uint32_t* column_table,
                  int column_slices, std::uint32_t* words);

/// The same for pixels of four bytes: pixel_factor_quads(…) quads for each lane.
void make_pixel_factors(const GaussKernel& x, int row_slices, const GaussKernel& y,
                        int column_slices, std::uint32_t* words);

/// Writes BlurTable<Depth>::row_words(slices) words. window_lead(slices) ≥ reach().
template <class Depth>
void make_row_table(const RowKernels& kernels, int slices, std::uint32_t* words);

/// Writes BlurTable<Depth>::column_words(slices) words. column_lead(slices) ≥ kernel.radius().
template <class Depth>
void make_column_table(const GaussKernel& kernel, int slices, std::uint32_t* words);

}  // namespace cudavision::gaussblur
