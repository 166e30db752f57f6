// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The CUDA kernels, by the depth of samples and coefficients and by their largest Gaussian.

#include <utility>
#include <vector>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/direct.cuh"
#include "cuda/gaussblur/large.cuh"
#include "cuda/gaussblur/pixels.cuh"
#include "cuda/gaussblur/small.cuh"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

using KernelFunction = Launcher<Arguments>::Kernel;

/// An instance of blur_small or blur_pixels.
struct SmallKernel {
  int row_slices, column_slices;
  int halo;         ///< maximum along x, in bytes
  int width;        ///< bytes of a row that a warp blurs at a time
  int stage_bytes;  ///< of one stage of a warp
  KernelFunction kernel;
  KernelFunction in_cells;  ///< for active cells only
};

template <class Depth, int kRowSlices, int kColumnSlices, int kTiles, int kBlocks>
inline SmallKernel small() {
  constexpr int halo = window_halo(kRowSlices), width = kTiles * tile_bytes;
  return {kRowSlices,
          kColumnSlices,
          halo,
          width,
          tile_rows * stage_pitch(chunks_for(width, halo)),
          blur_small<Depth, kRowSlices, kColumnSlices, kTiles, kBlocks, true>,
          blur_small<Depth, kRowSlices, kColumnSlices, kTiles, kBlocks, false>};
}

template <int kRowSlices, int kColumnSlices>
inline SmallKernel of_pixels() {
  return {kRowSlices,
          kColumnSlices,
          pixel_bytes * column_halo(kRowSlices),
          pixel_tile_bytes,
          tile_rows * pixel_pitch(kRowSlices),
          blur_pixels<kRowSlices, kColumnSlices>,
          blur_pixels<kRowSlices, kColumnSlices>};
}

/// All kernels for one depth of samples and coefficients, except the direct one, with the functions
/// for their tables and memory sizes.
struct KernelSet {
  std::vector<SmallKernel> small;      ///< cheapest first
  std::vector<SmallKernel> of_pixels;  ///< for pixels of four bytes, cheapest first; may be empty
  KernelFunction large;                ///< for Gaussians of any size
  KernelFunction large_with_scratch;   ///< the same if shared memory is too small

  int (*row_words)(int slices);
  int (*column_words)(int slices);
  void (*make_row_table)(const RowKernels& kernels, int slices, std::uint32_t* words);
  void (*make_column_table)(const GaussKernel& kernel, int slices, std::uint32_t* words);
  int (*factor_words)(int row_slices, int column_slices);
  void (*make_factors)(const std::uint32_t* row_table, int row_slices,
                       const std::uint32_t* column_table, int column_slices, std::uint32_t* words);
  int (*large_shared)(int row_slices, int column_slices, int chunk_pairs, int warps, bool all);
  int (*large_scratch)(int row_slices, int column_slices);
};

template <class Depth>
inline KernelSet kernel_set_of(std::vector<SmallKernel> small,
                               std::vector<SmallKernel> of_pixels = {}) {
  KernelSet kernels;
  kernels.small = std::move(small);
  kernels.of_pixels = std::move(of_pixels);
  kernels.large = blur_large<Depth, true>;
  kernels.large_with_scratch = blur_large<Depth, false>;
  kernels.row_words = [](int slices) { return ToeplitzTable<Depth>::row_words(slices); };
  kernels.column_words = [](int slices) { return ToeplitzTable<Depth>::column_words(slices); };
  kernels.make_row_table = make_row_table<Depth>;
  kernels.make_column_table = make_column_table<Depth>;
  kernels.factor_words = LaneFactors<Depth>::words;
  kernels.make_factors = make_factors<Depth>;
  kernels.large_shared = [](int row_slices, int column_slices, int chunk_pairs, int warps,
                            bool all) {
    return LargeMemory<Depth>(row_slices, column_slices, chunk_pairs, warps).shared(all);
  };
  kernels.large_scratch = [](int row_slices, int column_slices) {
    return LargeMemory<Depth>(row_slices, column_slices, 1, scratch_warps).scratch();
  };
  return kernels;
}

inline const KernelSet& kernel_set_for(int sample_bytes, bool fine) {
  using Bytes = SampleDepth<1, 1>;
  using FineBytes = SampleDepth<1, 2>;
  using Words = SampleDepth<2, 2>;
  static const KernelSet bytes = kernel_set_of<Bytes>(
      {small<Bytes, 3, 2, 2, 4>(), small<Bytes, 4, 2, 2, 3>(), small<Bytes, 4, 3, 2, 3>(),
       small<Bytes, 6, 2, 2, 3>(), small<Bytes, 6, 3, 2, 3>(), small<Bytes, 10, 3, 1, 3>()},
      {of_pixels<2, 2>(), of_pixels<3, 3>()});
  static const KernelSet fine_bytes =
      kernel_set_of<FineBytes>({small<FineBytes, 4, 2, 1, 3>(), small<FineBytes, 4, 3, 1, 3>()});
  static const KernelSet words = kernel_set_of<Words>(
      {small<Words, 4, 2, 1, 3>(), small<Words, 4, 3, 1, 3>(), small<Words, 6, 3, 1, 3>()});
  return sample_bytes == 2 ? words : fine ? fine_bytes : bytes;
}

}  // namespace cudavision::gaussblur
