// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Matrix products of unsigned bytes on the tensor cores.
//
// Lanes are numbered as for mma.m16n8k32 in the PTX manual: g = lane / 4 and t = lane % 4. A lane
// holds rows g and g + 8 of the left factor, column g of the right factor, and rows g and g + 8 of
// columns 2t and 2t + 1 of the product. A slice is 16 elements of the inner dimension: 4 words of
// 4 bytes. A lane holds word t of each slice; in a pair of slices, these are words t and t + 4.

#include <cuda_runtime.h>

#include <cstdint>

namespace cudavision {

/// A lane's four elements of a product: two of row g, then two of row g + 8.
struct Sums {
  int v[4];
};

/// Returns left · right + addend over two slices. left holds the lane's word t of rows g and g + 8,
/// then word t + 4 of both rows.
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
  // Turing's instruction computes a quarter of this product. Lanes hold the same elements.
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

/// Returns left · right + addend over one slice.
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

}  // namespace cudavision
