// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The steps of the blur that all its kernels share: products on the tensor cores, and what happens
// to their results. gaussblur_fragments.h says which lane holds what. For .cu files.

#include <cuda_runtime.h>

#include "cuda/gaussblur/fragments.h"

namespace cudavision::gaussblur {

/// Four sums of a lane.
struct Sums {
  int v[4];
};

/// left · right + addend over two slices, of bytes without sign. left: words t and t + 4 (a lane's)
/// of rows g and g + 8, in the order g, g + 8, g, g + 8.
__device__ inline Sums multiply_pair(const std::uint32_t (&left)[4], std::uint32_t right_0,
                                     std::uint32_t right_1, const Sums& addend) {
  Sums sums;
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(sums.v[0]), "=r"(sums.v[1]), "=r"(sums.v[2]), "=r"(sums.v[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_0), "r"(right_1),
        "r"(addend.v[0]), "r"(addend.v[1]), "r"(addend.v[2]), "r"(addend.v[3]));
#else
  // Turing's products are a quarter as large; the lanes hold their parts in the same way.
  sums = addend;
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int second = 0; second < 2; ++second)
      asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+r"(sums.v[2 * half]), "+r"(sums.v[2 * half + 1])
          : "r"(left[2 * second + half]), "r"(second ? right_1 : right_0));
#endif
  return sums;
}

/// The same over one slice.
__device__ inline Sums multiply_slice(std::uint32_t left_low, std::uint32_t left_high,
                                      std::uint32_t right, const Sums& addend) {
  Sums sums;
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=r"(sums.v[0]), "=r"(sums.v[1]), "=r"(sums.v[2]), "=r"(sums.v[3])
      : "r"(left_low), "r"(left_high), "r"(right), "r"(addend.v[0]), "r"(addend.v[1]),
        "r"(addend.v[2]), "r"(addend.v[3]));
#else
  sums = addend;
  asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(sums.v[0]), "+r"(sums.v[1])
      : "r"(left_low), "r"(right));
  asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(sums.v[2]), "+r"(sums.v[3])
      : "r"(left_high), "r"(right));
#endif
  return sums;
}

/// What is particular to a plane about its samples, as its lanes need it.
template <class Depth>
struct SampleRules {
  // Samples of 16 bits: a word is min(word, limit) & mask for each of its two samples.
  std::uint32_t limit;
  std::uint32_t mask;
  // Where x is not blurred at all, the sum along it is that of a coefficient that is too small by a
  // byte or by a bit. Hence the places of its bytes, as selectors for each half of the tile; or, of
  // coefficients of 16 bits, how far it is to be shifted.
  std::uint32_t low_bytes[2];
  std::uint32_t high_bytes[2];
  int row_shift[2];
  // Of bytes: the factor that makes up for the coefficient of a kernel along y that is the
  // identity, which is one bit too small. Of others: how many bits are cut off a sum along y.
  std::uint32_t result_factor;
  int result_shift;
  std::uint32_t rounding;  // what is added before that

  __device__ std::uint32_t read(std::uint32_t word) const {
    return Depth::sample_bytes == 1 ? word : __vminu2(word, limit) & mask;
  }
};

/// The sums of 16 rows along x, of one group of 16 samples: as they leave the products for the even
/// and the odd rows.
template <class Depth>
struct RowSums {
  Sums sum[2][Depth::row_sums] = {};

  __device__ std::uint32_t value(const SampleRules<Depth>& rules, int q, int element) const {
    std::uint32_t value = sum[q][0].v[element];
#pragma unroll
    for (int s = 1; s < Depth::row_sums; ++s)
      value += static_cast<std::uint32_t>(sum[q][s].v[element]) << (8 * s);
    return Depth::coefficient_bytes == 1 ? value : value << rules.row_shift[element / 2];
  }

  /// Cut into bytes: words[half][b] has byte b of four rows.
  __device__ void cut(const SampleRules<Depth>& rules,
                      std::uint32_t (&words)[2][Depth::result_bytes]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t v0 = value(rules, 0, 2 * half), v1 = value(rules, 1, 2 * half);
      const std::uint32_t v2 = value(rules, 0, 2 * half + 1), v3 = value(rules, 1, 2 * half + 1);
      if constexpr (Depth::result_bytes == 2) {
        // Multiplied rather than permuted: the pipe that permutes has enough to do.
        const std::uint32_t first = v1 * 0x10000 + v0;
        const std::uint32_t second = v3 * 0x10000 + v2;
        words[half][0] = __byte_perm(first, second, rules.low_bytes[half]);
        words[half][1] = __byte_perm(first, second, rules.high_bytes[half]);
      } else {
        const std::uint32_t first = __byte_perm(v0, v1, 0x5140);
        const std::uint32_t second = __byte_perm(v2, v3, 0x5140);
        const std::uint32_t first_high = __byte_perm(v0, v1, 0x7362);
        const std::uint32_t second_high = __byte_perm(v2, v3, 0x7362);
        words[half][0] = __byte_perm(first, second, 0x5410);
        words[half][1] = __byte_perm(first, second, 0x7632);
        words[half][2] = __byte_perm(first_high, second_high, 0x5410);
        if constexpr (Depth::result_bytes == 4)
          words[half][3] = __byte_perm(first_high, second_high, 0x7632);
      }
    }
  }
};

/// The sums of 16 rows along y, for 8 samples, and what becomes of them.
template <class Depth>
struct ColumnSums {
  Sums sum[Depth::column_sums] = {};

  /// Two neighbouring samples, `below` of row g + 8, else of row g. Of bytes: in the upper bytes of
  /// the word's halves.
  __device__ std::uint32_t samples(const SampleRules<Depth>& rules, int below) const {
    const int i = 2 * below;
    if constexpr (Depth::coefficient_bytes == 1) {
      // Two sums side by side, without their last byte.
      const std::uint32_t low = __byte_perm(sum[0].v[i], sum[0].v[i + 1], 0x7531);
      const std::uint32_t high = __byte_perm(sum[1].v[i], sum[1].v[i + 1], 0x5410);
      return high * rules.result_factor + (low * rules.result_factor + rules.rounding);
    }
    const std::uint32_t first = value(rules, i), second = value(rules, i + 1);
    return Depth::sample_bytes == 1 ? (first << 8 | second << 24)
                                    : __byte_perm(first, second, 0x5410) & rules.mask;
  }

 private:
  __device__ std::uint32_t value(const SampleRules<Depth>& rules, int i) const {
    // What is shifted out of one sum into the next: quotients of quotients are exact.
    std::uint32_t value = (static_cast<std::uint32_t>(sum[0].v[i]) >> 8) + sum[1].v[i];
    value = (value >> 8) + sum[2].v[i];
    value = (value >> 8) + sum[3].v[i] + rules.rounding;
    if constexpr (Depth::column_sums == 5)
      value += static_cast<std::uint32_t>(sum[4].v[i]) << 8;
    return value >> rules.result_shift;
  }
};

/// A lane's 8 bytes of a row of the tile; below: of row g + 8.
template <class Depth>
__device__ inline uint2 result_row(const SampleRules<Depth>& rules,
                                   const ColumnSums<Depth> (&sums)[Depth::groups][2], int below) {
  std::uint32_t words[2];
#pragma unroll
  for (int group = 0; group < Depth::groups; ++group) {
    const std::uint32_t first = sums[group][0].samples(rules, below);
    const std::uint32_t second = sums[group][1].samples(rules, below);
    if constexpr (Depth::sample_bytes == 1) {
      words[group] = __byte_perm(first, second, 0x7531);
    } else {
      words[0] = first;
      words[1] = second;
    }
  }
  return make_uint2(words[0], words[1]);
}

}  // namespace cudavision::gaussblur
