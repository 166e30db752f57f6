// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Tables of the left factors of fragments.h: coefficients in the layout of the tensor cores.

#include <algorithm>
#include <array>
#include <cstdint>

#include "cuda/gaussblur/fragments.h"
#include "cuda/gaussblur/gausskernel.h"

namespace cudavision::gaussblur {

/// Gaussian kernels along x of one plane, and bytes between samples of a channel. Indexed by the
/// sample's byte position modulo 4. If kernels or steps differ, the steps are 1, 2 or 4.
struct RowKernels {
  std::array<const GaussKernel*, 4> kernel{};
  std::array<int, 4> step{};

  /// Bytes on either side of a sample that contribute to its sum.
  int halo_bytes() const {
    int halo = 0;
    for (int phase = 0; phase < 4; ++phase)
      halo = std::max(halo, kernel[phase]->radius() * step[phase]);
    return halo;
  }
};

// The identity's coefficient 2^fraction_bits does not fit into the coefficient's bytes. It is
// replaced by a smaller power of two; mma.cuh and pixels.cuh correct the sums.
template <class Depth>
constexpr std::uint32_t identity_in_row = Depth::coefficient_bytes == 1 ? 1 : 1u << 15;
template <class Depth>
constexpr std::uint32_t identity_in_column = 1u << (8 * Depth::coefficient_bytes - 1);
constexpr std::uint32_t identity_of_pixels = 1;

inline std::uint32_t coefficient_at(const GaussKernel& kernel, std::uint32_t identity,
                                    int distance) {
  if (distance < -kernel.radius() || distance > kernel.radius())
    return 0;
  return kernel.identity() ? identity : kernel.coefficient(distance);
}

inline std::uint32_t byte_number(std::uint32_t value, int number) {
  return number < 0 || number > 1 ? 0 : value >> (8 * number) & 0xff;
}

/// A byte's factor in product number `sum`, `distance` bytes from the output sample's first byte.
template <class Depth>
std::uint32_t row_factor(const GaussKernel& kernel, int step, int sum, int distance) {
  constexpr int bytes = Depth::sample_bytes;
  const int within = (distance % bytes + bytes) % bytes;  // index of the byte in its sample
  const int samples = distance - within;
  if (samples % step != 0)
    return 0;
  return byte_number(coefficient_at(kernel, identity_in_row<Depth>, samples / step), sum - within);
}

/// A table of words with four adjacent coefficients each, from the rows of T. Rows of T that are
/// four bytes apart (along y, four rows of the plane) contain the same words, shifted by one. Each
/// product has a list of words for each phase, with padding before the window.
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

  /// Index of the first word of row i of T. Add a word's position in the window to get its index.
  CUDAVISION_HOST_DEVICE static constexpr int row_start(int slices, int sum, int group, int i) {
    const int byte = byte_of_row<Depth>(group, i);
    const int phase = byte % 4 / Depth::sample_bytes;
    return (sum * row_phases + phase) * row_length(slices) + row_padding - byte / 4;
  }
  /// Like row_start(), but along y. Add 4 · slice + t for word t of a slice.
  CUDAVISION_HOST_DEVICE static constexpr int column_start(int slices, int coefficient_byte,
                                                           int i) {
    return (coefficient_byte * 4 + i % 4) * column_length(slices) + column_padding - i / 4;
  }
};

/// Writes row_words(slices) words. window_halo(slices) must be at least halo_bytes().
template <class Depth>
void make_row_table(const RowKernels& kernels, int slices, std::uint32_t* words) {
  using Table = ToeplitzTable<Depth>;
  for (int sum = 0; sum < Depth::row_sums; ++sum)
    for (int phase = 0; phase < Table::row_phases; ++phase) {
      const int begin = phase * Depth::sample_bytes;  // first byte of the output sample
      const GaussKernel& kernel = *kernels.kernel[begin];
      for (int w = 0; w < Table::row_length(slices); ++w, ++words) {
        *words = 0;
        const int first = 4 * (w - Table::row_padding) - window_halo(slices) - begin;
        for (int b = 0; b < 4; ++b)
          *words |= row_factor<Depth>(kernel, kernels.step[begin], sum, first + b) << (8 * b);
      }
    }
}

/// Writes column_words(slices) words. column_halo(slices) must be at least kernel.radius().
template <class Depth>
void make_column_table(const GaussKernel& kernel, int slices, std::uint32_t* words) {
  using Table = ToeplitzTable<Depth>;
  for (int byte = 0; byte < Depth::coefficient_bytes; ++byte)
    for (int phase = 0; phase < 4; ++phase)
      for (int w = 0; w < Table::column_length(slices); ++w, ++words) {
        *words = 0;
        const int first = 4 * (w - Table::column_padding) - column_halo(slices) - phase;
        for (int b = 0; b < 4; ++b)
          *words |= byte_number(coefficient_at(kernel, identity_in_column<Depth>, first + b), byte)
                    << (8 * b);
      }
}

/// A lane's left factors in small.cuh and pixels.cuh. All lanes' quads of equal index are adjacent.
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
  CUDAVISION_HOST_DEVICE static constexpr int words(int row_slices, int column_slices) {
    return quads(row_slices, column_slices) * 4 * 32;
  }
};

template <class Depth>
void make_factors(const std::uint32_t* row_table, int row_slices, const std::uint32_t* column_table,
                  int column_slices, std::uint32_t* words) {
  using Table = ToeplitzTable<Depth>;
  using Factors = LaneFactors<Depth>;
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    const auto put = [&](int number, std::uint32_t word) {
      words[number / 4 * 128 + lane * 4 + number % 4] = word;
    };
    for (int half = 0; half < 2; ++half) {
      const int i = g + 8 * half;
      for (int group = 0; group < Depth::groups; ++group)
        for (int sum = 0; sum < Depth::row_sums; ++sum)
          for (int k = 0; k < row_slices; ++k) {
            const bool alone = k + 1 == row_slices && k % 2 == 0;
            put(Factors::row_word(row_slices, group, sum, k, half),
                row_table[Table::row_start(row_slices, sum, group, i) +
                          (alone ? last_window_word(k, t) : window_word(k / 2, t, k % 2))]);
          }
      for (int byte = 0; byte < Depth::coefficient_bytes; ++byte)
        for (int k = 0; k < column_slices; ++k)
          put(Factors::column_word(row_slices, column_slices, byte, k, half),
              column_table[Table::column_start(column_slices, byte, i) + 4 * k + t]);
    }
  }
}

/// Depth for LaneFactors in pixels.cuh: one product of 8-bit samples and coefficients.
struct PixelDepth {
  static constexpr int groups = 1;
  static constexpr int row_sums = 1;
  static constexpr int coefficient_bytes = 1;
};

inline void make_pixel_factors(const GaussKernel& x, int row_slices, const GaussKernel& y,
                               int column_slices, std::uint32_t* words) {
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    int number = 0;
    const auto put = [&](const GaussKernel& kernel, int slices, bool along_x) {
      for (int k = 0; k < slices; ++k)
        for (int half = 0; half < 2; ++half, ++number) {
          const int i = g + 8 * half;
          const int first =
              slice_length * k + 4 * t - column_halo(slices) - (along_x ? pixel_of_row(i) : i);
          std::uint32_t word = 0;
          for (int b = 0; b < 4; ++b)
            word |= coefficient_at(kernel, identity_of_pixels, first + b) << (8 * b);
          words[number / 4 * 128 + lane * 4 + number % 4] = word;
        }
    };
    put(x, row_slices, true);
    put(y, column_slices, false);
  }
}

}  // namespace cudavision::gaussblur
