// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Products on the tensor cores (fragments.h), the split of sums into bytes, and the rounding.

#include <cuda_runtime.h>

#include "cuda/core/matrix_product.cuh"
#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/fragments.h"

namespace cudavision::gaussblur {

/// Makes the compiler keep a value in a register instead of recomputing it at each use.
template <class T>
__device__ inline void keep_in_register(T& value) {
  static_assert(sizeof(T) == 4, "a register");
  asm volatile("" : "+r"(value));
}

/// Returns left · right + sums. left(slice, half) and right(slice) return the lane's words.
template <int kSlices, class Left, class Right>
__device__ inline Sums multiply(const Left& left, const Right& right, Sums sums) {
#pragma unroll
  for (int k = 0; k + 1 < kSlices; k += 2)
    sums = multiply_pair({left(k, 0), left(k, 1), left(k + 1, 0), left(k + 1, 1)}, right(k),
                         right(k + 1), sums);
  if constexpr (kSlices % 2 == 1)
    sums = multiply_slice(left(kSlices - 1, 0), left(kSlices - 1, 1), right(kSlices - 1), sums);
  return sums;
}

/// Transposes a 4×4 matrix: columns[b] receives byte b of each row.
__device__ inline void transpose_bytes(const std::uint32_t (&rows)[4],
                                       std::uint32_t (&columns)[4]) {
  const std::uint32_t first = __byte_perm(rows[0], rows[1], 0x5140);
  const std::uint32_t second = __byte_perm(rows[2], rows[3], 0x5140);
  const std::uint32_t first_high = __byte_perm(rows[0], rows[1], 0x7362);
  const std::uint32_t second_high = __byte_perm(rows[2], rows[3], 0x7362);
  columns[0] = __byte_perm(first, second, 0x5410);
  columns[1] = __byte_perm(first, second, 0x7632);
  columns[2] = __byte_perm(first_high, second_high, 0x5410);
  columns[3] = __byte_perm(first_high, second_high, 0x7632);
}

/// How a lane reads the samples of a plane and converts its sums to results.
template <class Depth>
struct SampleRules {
  // Clamps and masks the two 16-bit samples of a word: min(sample, limit) & mask.
  std::uint32_t limit;
  std::uint32_t mask;
  // Without a blur along x, identity_in_row makes the sum along x too small by a factor of 2^8
  // or 2. With 8-bit coefficients, the selectors that split the sum into bytes correct this for
  // each half of the tile. With 16-bit coefficients, row_shift corrects this.
  std::uint32_t low_bytes[2];
  std::uint32_t high_bytes[2];
  int row_shift[2];
  // Without a blur along y, the sum along y is too small by a factor of 2. With 8-bit coefficients,
  // result_factor corrects this. With 16-bit coefficients, the final shift is one bit shorter.
  std::uint32_t result_factor;
  int result_shift;
  std::uint32_t rounding;  // half a unit of the last bit kept

  __device__ std::uint32_t read(std::uint32_t word) const {
    return Depth::sample_bytes == 1 ? word : __vminu2(word, limit) & mask;
  }
};

template <class Depth>
__device__ SampleRules<Depth> sample_rules(const Arguments& a, const Plane& plane, int g) {
  SampleRules<Depth> rules{};
  if constexpr (Depth::sample_bytes == 2) {
    const std::uint32_t largest = (1u << (a.bits + a.shift)) - 1;
    const std::uint32_t unused = (1u << a.shift) - 1;
    rules.limit = largest << 16 | largest;
    rules.mask = ~(unused << 16 | unused);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool identity = plane.row_identity >> (byte_of_row<Depth>(0, g + 8 * half) % 4) & 1;
    rules.low_bytes[half] = identity ? 0x7531 : 0x6420;
    rules.high_bytes[half] = identity ? 0x6420 : 0x7531;
    rules.row_shift[half] = identity;
    if constexpr (Depth::coefficient_bytes == 1) {
      keep_in_register(rules.low_bytes[half]);
      keep_in_register(rules.high_bytes[half]);
    }
  }
  if constexpr (Depth::coefficient_bytes == 1) {
    rules.result_factor = plane.column_identity ? 2 : 1;
    rules.rounding = 0x00800080;
    keep_in_register(rules.result_factor);
  } else {
    rules.result_shift = 8 - plane.column_identity;
    rules.rounding = 1u << (rules.result_shift - 1 + a.shift);
  }
  return rules;
}

/// A lane's sums along x of 16 samples: even rows (first product) and odd rows (second product).
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

  /// Splits the sums into bytes: words[half][b] receives byte b of four rows.
  __device__ void cut(const SampleRules<Depth>& rules,
                      std::uint32_t (&words)[2][Depth::result_bytes]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t v0 = value(rules, 0, 2 * half), v1 = value(rules, 1, 2 * half);
      const std::uint32_t v2 = value(rules, 0, 2 * half + 1), v3 = value(rules, 1, 2 * half + 1);
      if constexpr (Depth::result_bytes == 2) {
        // Multiplies instead of permuting, because the pipe for permutations is the bottleneck.
        const std::uint32_t first = v1 * 0x10000 + v0;
        const std::uint32_t second = v3 * 0x10000 + v2;
        words[half][0] = __byte_perm(first, second, rules.low_bytes[half]);
        words[half][1] = __byte_perm(first, second, rules.high_bytes[half]);
      } else {
        std::uint32_t bytes[4];
        transpose_bytes({v0, v1, v2, v3}, bytes);
#pragma unroll
        for (int b = 0; b < Depth::result_bytes; ++b)
          words[half][b] = bytes[b];
      }
    }
  }
};

/// A lane's part of the sums along y for 16 rows of 8 samples.
template <class Depth>
struct ColumnSums {
  Sums sum[Depth::column_sums] = {};

  /// Returns two adjacent samples of row g + 8·below; 8-bit samples as upper bytes of the halves.
  __device__ std::uint32_t samples(const SampleRules<Depth>& rules, int below) const {
    const int i = 2 * below;
    if constexpr (Depth::coefficient_bytes == 1) {
      // Two sums per word, without their lowest bytes.
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
    // Exact, because nested floor divisions equal a single floor division.
    std::uint32_t value = (static_cast<std::uint32_t>(sum[0].v[i]) >> 8) + sum[1].v[i];
    value = (value >> 8) + sum[2].v[i];
    value = (value >> 8) + sum[3].v[i] + rules.rounding;
    if constexpr (Depth::column_sums == 5)
      value += static_cast<std::uint32_t>(sum[4].v[i]) << 8;
    return value >> rules.result_shift;
  }
};

/// Returns a lane's 8 bytes of row g + 8·below of the tile.
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
