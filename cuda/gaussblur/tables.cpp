// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/tables.h"

#include <algorithm>

namespace cudavision::gaussblur {
namespace {

std::uint32_t coefficient(const GaussKernel& kernel, std::uint32_t identity, int distance) {
  if (distance < -kernel.radius() || distance > kernel.radius())
    return 0;
  return kernel.identity() ? identity : kernel.coefficient(distance);
}

std::uint32_t byte_of(std::uint32_t value, int number) {
  return number < 0 || number > 1 ? 0 : value >> (8 * number) & 0xff;
}

/// Factor, in sum `sum`, of the byte at this distance from the start of an output sample.
template <class Depth>
std::uint32_t row_factor(const GaussKernel& kernel, int step, int sum, int distance) {
  constexpr int bytes = Depth::sample_bytes;
  const int within = (distance % bytes + bytes) % bytes;  // number of the byte in its sample
  const int samples = distance - within;
  if (samples % step != 0)
    return 0;
  return byte_of(coefficient(kernel, identity_in_row<Depth>, samples / step), sum - within);
}

}  // namespace

int RowKernels::halo_bytes() const {
  int halo = 0;
  for (int phase = 0; phase < 4; ++phase)
    if (kernel[phase])
      halo = std::max(halo, kernel[phase]->radius() * step[phase]);
  return halo;
}

template <class Depth>
void make_row_table(const RowKernels& kernels, int slices, std::uint32_t* words) {
  using Table = ToeplitzTable<Depth>;
  for (int sum = 0; sum < Depth::row_sums; ++sum)
    for (int phase = 0; phase < Table::row_phases; ++phase) {
      const int begin = phase * Depth::sample_bytes;  // of the output sample
      const GaussKernel* kernel = kernels.kernel[begin];
      for (int w = 0; w < Table::row_length(slices); ++w, ++words) {
        *words = 0;
        const int first = 4 * (w - Table::row_padding) - window_halo(slices) - begin;
        for (int b = 0; kernel && b < 4; ++b)
          *words |= row_factor<Depth>(*kernel, kernels.step[begin], sum, first + b) << (8 * b);
      }
    }
}

template <class Depth>
void make_column_table(const GaussKernel& kernel, int slices, std::uint32_t* words) {
  using Table = ToeplitzTable<Depth>;
  for (int byte = 0; byte < Depth::coefficient_bytes; ++byte)
    for (int phase = 0; phase < 4; ++phase)
      for (int w = 0; w < Table::column_length(slices); ++w, ++words) {
        *words = 0;
        const int first = 4 * (w - Table::column_padding) - column_halo(slices) - phase;
        for (int b = 0; b < 4; ++b)
          *words |= byte_of(coefficient(kernel, identity_in_column<Depth>, first + b), byte)
                    << (8 * b);
      }
}

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

void make_pixel_factors(const GaussKernel& x, int row_slices, const GaussKernel& y,
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
            word |= coefficient(kernel, identity_of_pixels, first + b) << (8 * b);
          words[number / 4 * 128 + lane * 4 + number % 4] = word;
        }
    };
    put(x, row_slices, true);
    put(y, column_slices, false);
  }
}

template void make_row_table<SampleDepth<1, 1>>(const RowKernels&, int, std::uint32_t*);
template void make_row_table<SampleDepth<1, 2>>(const RowKernels&, int, std::uint32_t*);
template void make_row_table<SampleDepth<2, 2>>(const RowKernels&, int, std::uint32_t*);
template void make_column_table<SampleDepth<1, 1>>(const GaussKernel&, int, std::uint32_t*);
template void make_column_table<SampleDepth<1, 2>>(const GaussKernel&, int, std::uint32_t*);
template void make_column_table<SampleDepth<2, 2>>(const GaussKernel&, int, std::uint32_t*);
template void make_factors<SampleDepth<1, 1>>(const std::uint32_t*, int, const std::uint32_t*, int,
                                              std::uint32_t*);
template void make_factors<SampleDepth<1, 2>>(const std::uint32_t*, int, const std::uint32_t*, int,
                                              std::uint32_t*);
template void make_factors<SampleDepth<2, 2>>(const std::uint32_t*, int, const std::uint32_t*, int,
                                              std::uint32_t*);

}  // namespace cudavision::gaussblur
