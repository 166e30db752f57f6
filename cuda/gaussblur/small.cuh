// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blur with small Gaussians: coefficients, and sums along x for later rows, are in registers.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/mma.cuh"
#include "cuda/gaussblur/small_stage.cuh"
#include "cuda/gaussblur/store.cuh"
#include "cuda/gaussblur/tables.h"
#include "cuda/gaussblur/work_item.cuh"

namespace cudavision::gaussblur {

template <class Depth, int kRowSlices, int kColumnSlices>
class SmallFactors {
 public:
  using Layout = LaneFactors<Depth>;

  __device__ explicit SmallFactors(const std::uint32_t* table) {
#pragma unroll
    for (int i = 0; i < quads; ++i) {
      const uint4 quad = __ldg(reinterpret_cast<const uint4*>(table) + i * 32 + threadIdx.x % 32);
      words_[4 * i] = quad.x;
      words_[4 * i + 1] = quad.y;
      words_[4 * i + 2] = quad.z;
      words_[4 * i + 3] = quad.w;
    }
  }

  __device__ std::uint32_t row(int group, int sum, int slice, int half) const {
    return words_[Layout::row_word(kRowSlices, group, sum, slice, half)];
  }
  __device__ std::uint32_t column(int byte, int slice, int half) const {
    return words_[Layout::column_word(kRowSlices, kColumnSlices, byte, slice, half)];
  }

 private:
  static constexpr int quads = Layout::quads(kRowSlices, kColumnSlices);
  std::uint32_t words_[4 * quads];
};

/// A lane's bytes of the sums along x, by slice, group of samples, half of the tile, and byte.
template <int kSlices, int kGroups, int kBytes>
struct SmallRing {
  std::uint32_t word[kSlices][kGroups][2][kBytes];

  __device__ void advance() {
#pragma unroll
    for (int k = 0; k + 1 < kSlices; ++k)
#pragma unroll
      for (int group = 0; group < kGroups; ++group)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int b = 0; b < kBytes; ++b)
            word[k][group][half][b] = word[k + 1][group][half][b];
  }
};

/// Sums 16 staged rows along x. pairs and last are the addresses of the lane's first word for pairs
/// of slices and for a last single slice.
template <class Depth, int kRowSlices, int kColumnSlices>
__device__ inline void sum_rows(const SmallFactors<Depth, kRowSlices, kColumnSlices>& factors,
                                const SampleRules<Depth>& rules, SharedAddress pairs,
                                SharedAddress last, int pitch,
                                std::uint32_t (&result)[Depth::groups][2][Depth::result_bytes]) {
  RowSums<Depth> sums[Depth::groups];
#pragma unroll
  for (int q = 0; q < 2; ++q) {
#pragma unroll
    for (int pair = 0; pair < kRowSlices / 2; ++pair) {
      const uint2 bytes = load_pair(pairs + q * pitch + 4 * window_word(pair, 0, 0));
      const std::uint32_t first = rules.read(bytes.x), second = rules.read(bytes.y);
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int s = 0; s < Depth::row_sums; ++s) {
          Sums& sum = sums[group].sum[q][s];
          sum = multiply_pair(
              {factors.row(group, s, 2 * pair, 0), factors.row(group, s, 2 * pair, 1),
               factors.row(group, s, 2 * pair + 1, 0), factors.row(group, s, 2 * pair + 1, 1)},
              first, second, sum);
        }
    }
    if constexpr (kRowSlices % 2 == 1) {
      constexpr int slice = kRowSlices - 1;
      const std::uint32_t bytes =
          rules.read(load_word(last + q * pitch + 4 * last_window_word(slice, 0)));
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int s = 0; s < Depth::row_sums; ++s) {
          Sums& sum = sums[group].sum[q][s];
          sum = multiply_slice(factors.row(group, s, slice, 0), factors.row(group, s, slice, 1),
                               bytes, sum);
        }
    }
  }
#pragma unroll
  for (int group = 0; group < Depth::groups; ++group)
    sums[group].cut(rules, result[group]);
}

template <class Depth, int kRowSlices, int kColumnSlices>
__device__ inline void sum_columns(
    const SmallFactors<Depth, kRowSlices, kColumnSlices>& factors,
    const SmallRing<kColumnSlices, Depth::groups, Depth::result_bytes>& ring,
    ColumnSums<Depth> (&sums)[Depth::groups][2]) {
#pragma unroll
  for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int b = 0; b < Depth::result_bytes; ++b)
#pragma unroll
        for (int byte = 0; byte < Depth::coefficient_bytes; ++byte) {
          Sums& sum = sums[group][half].sum[b + byte];
          sum = multiply<kColumnSlices>(
              [&](int slice, int half) { return factors.column(byte, slice, half); },
              [&](int slice) { return ring.word[slice][group][half][b]; }, sum);
        }
}

/// Returns kBlocks or, where this would spill registers, kBlocks − 1: for one kernel on compute
/// capability 12, and for its variant for active cells on 7.5.
template <class Depth, int kColumnSlices, int kBlocks, bool kEverywhere>
constexpr int blocks_without_spills() {
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 1200 || __CUDA_ARCH__ < 800)
  if (Depth::sample_bytes == 1 && Depth::coefficient_bytes == 2 && kColumnSlices == 3 &&
      (__CUDA_ARCH__ >= 1200 || !kEverywhere))
    return kBlocks - 1;
#endif
  return kBlocks;
}

/// A warp blurs kTiles tiles side by side at a time. kBlocks is the minimum number of blocks per
/// multiprocessor. Active cells have their own instances: when the code was shared, 15×15 on
/// 3840×2160 bytes took 8.8 µs on an H200 instead of 8.4.
template <class Depth, int kRowSlices, int kColumnSlices, int kTiles, int kBlocks, bool kEverywhere>
__global__ void __launch_bounds__(
    32 * small_warps, (blocks_without_spills<Depth, kColumnSlices, kBlocks, kEverywhere>()))
    blur_small(const __grid_constant__ Arguments a) {
  // Inlined slow paths would spill registers in these instances; otherwise, inlining is faster.
  constexpr bool full = kBlocks > 3 || (kRowSlices == 6 && kColumnSlices == 3);
  constexpr SlowPath slow_path = full ? SlowPath::called : SlowPath::inlined;
  constexpr int halo = window_halo(kRowSlices);
  constexpr int staged_halo = (halo + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  constexpr int chunks = chunks_for(kTiles * tile_bytes, halo);
  constexpr int pitch = stage_pitch(chunks);
  constexpr int stage_bytes = pitch * tile_rows;
  constexpr int last_stage = (small_stages - 1) * stage_bytes;
  extern __shared__ __align__(16) std::uint8_t shared[];

  // The work item is computed again below, which saves a register.
  if (!is_needed(a, blockIdx.x * small_warps + warp_number(), kTiles * tile_bytes, kEverywhere)) {
    take_over();
    return;
  }
  const int warp = warp_number(), g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const WorkItem item(a, blockIdx.x * small_warps + warp, kTiles * tile_bytes, kEverywhere);
  const Plane& plane = a.planes[item.plane];
  const SmallFactors<Depth, kRowSlices, kColumnSlices> factors(a.tables + plane.factors);
  const SharedAddress stages = shared_address(shared) + warp * (small_stages * stage_bytes);
  const int slices = (item.end - item.begin + tile_rows - 1) / tile_rows + kColumnSlices - 1;
  const int first_row = item.begin - column_halo(kColumnSlices);
  const StagedPart part{item.x - staged_halo, chunks, item.begin - plane.column_radius,
                        item.end + plane.column_radius};
  SmallLoader<chunks, pitch, chunks <= 8 ? 8 : 16, slow_path> loader(plane, a.border, part, stages,
                                                                     first_row);
  const EdgeMirror<1> mirror(plane, a.border, part, pitch);
  const SampleRules<Depth> rules = sample_rules<Depth>(a, plane, g);
  Storer<Depth, slow_path, kTiles> storer(a, plane, item.x + 8 * t, item.begin + g);
  SharedAddress window = stages + row_of_column(0, g) * pitch + staged_halo - halo + 8 * t;
  keep_in_register(window);
  int rows_left = item.end - item.begin - g;  // from this lane's next row on
  SmallRing<kColumnSlices, Depth::groups, Depth::result_bytes> ring[kTiles];

  begin_item(kEverywhere);
  int stage = 0, next_stage = load_first<stage_bytes>(loader, slices);
#pragma unroll 1
  for (int s = 0; s < slices; ++s) {
    wait_for_copies<small_stages - 2>();
    __syncwarp();
    pad_stage<slow_path>(mirror, plane, a.border, part, stages + stage, pitch,
                         first_row + s * tile_rows);
    if (s + small_stages - 1 < slices)
      loader.load(next_stage);
    commit_copies();

#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      ring[tile].advance();
      const SharedAddress from = window + stage + tile * tile_bytes;
      sum_rows(factors, rules, from, from - 4 * t, pitch, ring[tile].word[kColumnSlices - 1]);
    }
    if (s >= kColumnSlices - 1) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        ColumnSums<Depth> sums[Depth::groups][2];
        sum_columns(factors, ring[tile], sums);
        storer.store(rules, tile, result_row(rules, sums, 0), result_row(rules, sums, 1),
                     rows_left);
      }
      storer.advance();
      rows_left -= tile_rows;
    }
    next_stage = stage;
    stage = stage == last_stage ? 0 : stage + stage_bytes;
  }
  launch_dependents();
}

}  // namespace cudavision::gaussblur
