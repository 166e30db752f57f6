// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Which kernel a blur takes, and what it needs. For gaussblur_cuda.cu, which all kernels are
// compiled into.

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "cuda/gaussblur/direct.cuh"
#include "cuda/gaussblur/large.cuh"
#include "cuda/gaussblur/pixels.cuh"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

using BlurKernel = Launcher<BlurArguments>::Kernel;

/// A kernel for row and column slices up to these.
struct SmallBlur {
  int row_slices, column_slices;
  int reach;        ///< in bytes, that these row slices are enough for
  int width;        ///< in bytes, of what a warp makes at a time
  int stage_bytes;  ///< of a warp's stage
  BlurKernel kernel;
};

template <class Depth, int kRowSlices, int kColumnSlices, int kTiles, int kBlocks>
inline SmallBlur small() {
  constexpr int lead = window_lead(kRowSlices), width = kTiles * tile_bytes;
  return {kRowSlices,
          kColumnSlices,
          lead,
          width,
          tile_rows * stage_pitch(chunks_for(width, lead)),
          blur_small<Depth, kRowSlices, kColumnSlices, kTiles, kBlocks>};
}

template <int kRowSlices, int kColumnSlices>
inline SmallBlur of_pixels() {
  return {kRowSlices,
          kColumnSlices,
          pixel_bytes * column_lead(kRowSlices),
          pixel_tile_bytes,
          tile_rows * pixel_pitch(kRowSlices),
          blur_pixels<kRowSlices, kColumnSlices>};
}

/// What is there for one depth of samples and coefficients.
struct BlurCode {
  std::vector<SmallBlur> small;      ///< the cheapest first
  std::vector<SmallBlur> of_pixels;  ///< the same, for pixels of four bytes, if any
  BlurKernel any;                    ///< for kernels of any size
  BlurKernel any_with_scratch;

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
inline BlurCode blur_code_of(std::vector<SmallBlur> small, std::vector<SmallBlur> of_pixels = {}) {
  BlurCode kernels;
  kernels.small = std::move(small);
  kernels.of_pixels = std::move(of_pixels);
  kernels.any = blur_any<Depth, true>;
  kernels.any_with_scratch = blur_any<Depth, false>;
  kernels.row_words = [](int slices) { return BlurTable<Depth>::row_words(slices); };
  kernels.column_words = [](int slices) { return BlurTable<Depth>::column_words(slices); };
  kernels.make_row_table = make_row_table<Depth>;
  kernels.make_column_table = make_column_table<Depth>;
  kernels.factor_words = BlurFactors<Depth>::words;
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

inline const BlurCode& blur_code_for(int sample_bytes, bool fine) {
  using Bytes = BlurDepth<1, 1>;
  using FineBytes = BlurDepth<1, 2>;
  using Words = BlurDepth<2, 2>;
  static const BlurCode bytes = blur_code_of<Bytes>(
      {small<Bytes, 3, 2, 2, 4>(), small<Bytes, 4, 2, 2, 3>(), small<Bytes, 4, 3, 2, 3>(),
       small<Bytes, 6, 2, 2, 3>(), small<Bytes, 6, 3, 2, 3>(), small<Bytes, 10, 3, 1, 3>()},
      {of_pixels<2, 2>(), of_pixels<3, 3>()});
  static const BlurCode fine_bytes =
      blur_code_of<FineBytes>({small<FineBytes, 4, 2, 1, 3>(), small<FineBytes, 4, 3, 1, 3>()});
  static const BlurCode words = blur_code_of<Words>(
      {small<Words, 4, 2, 1, 3>(), small<Words, 4, 3, 1, 3>(), small<Words, 6, 3, 1, 3>()});
  return sample_bytes == 2 ? words : fine ? fine_bytes : bytes;
}

/// Even, and enough for windows that reach so many bytes beyond a tile.
inline int row_slices_for(int reach) {
  return 2 + 2 * ((reach + slice_length - 1) / slice_length);
}

/// Windows are staged as a whole, if possible, but only if that leaves room for some warps; then
/// what lies beyond the edges has its mirror image in the same stage.
constexpr int largest_chunk_pairs = 32;
constexpr int usual_chunk_pairs = 16;
constexpr int fewest_warps_beside = 2;

struct BlurCard {
  int multiprocessors = multiprocessor_count();
  int shared_bytes =  ///< that a block may have
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");

  BlurCard() {
#ifdef CUDAVISION_TEST_SHARED_BYTES
    shared_bytes = std::min(shared_bytes, CUDAVISION_TEST_SHARED_BYTES);
#endif
  }
};

/// Blocks of the kernel that has no room for all in shared memory; each has its part of the
/// scratch.
inline unsigned scratch_blocks(const BlurCard& card) {
  return card.multiprocessors * scratch_blocks_per_multiprocessor;
}

/// A launch but for its arguments.
struct BlurLaunch {
  BlurKernel kernel = nullptr;
  int row_slices = 0;
  int column_slices = 0;
  int chunk_pairs = 0;
  bool of_pixels = false;
  int width = 0;          ///< of an item, in bytes; 0: a tile for each warp of its block
  int stage_bytes = 0;    ///< in shared memory, of each warp that works for itself
  int step_rows = 0;      ///< what a block makes at a time
  int missing_rows = 0;   ///< by which the first of these is smaller
  int leading_steps = 0;  ///< what it has to do before the first of them
  int warps = 0;          ///< 0: any number
  int shared_bytes = 0;
  bool uses_scratch = false;

  bool is_small() const { return stage_bytes > 0; }
  int item_width(int warps) const { return width > 0 ? width : warps * tile_bytes; }
  int items_of_block(int warps) const { return is_small() ? warps : 1; }
};

inline int shared_bytes(const BlurCode& kernels, const BlurLaunch& launch, int warps) {
  if (launch.width > 0)
    return warps * small_stages * launch.stage_bytes;
  return kernels.large_shared(launch.row_slices, launch.column_slices, launch.chunk_pairs, warps,
                              !launch.uses_scratch);
}

/// Of the kernel for few taps, for pictures that it can blur.
inline BlurLaunch direct_launch() {
  BlurLaunch launch;
  launch.kernel = blur_direct;
  launch.width = 32 * direct_bytes;
  launch.step_rows = 2 * direct_warps;
  launch.leading_steps = DirectBlur::max_radius;
  launch.warps = direct_warps;
  return launch;
}

/// All but the number of warps, unless the kernel has a fixed one, and what follows from it.
inline BlurLaunch choose_launch(const BlurCode& kernels, const BlurCard& card, int reach,
                                int radius, bool of_pixels) {
  BlurLaunch launch;
  launch.of_pixels = of_pixels && !kernels.of_pixels.empty();
  for (const SmallBlur& small : launch.of_pixels ? kernels.of_pixels : kernels.small) {
    if (small.reach < reach || column_lead(small.column_slices) < radius)
      continue;
    launch.kernel = small.kernel;
    launch.row_slices = small.row_slices;
    launch.column_slices = small.column_slices;
    launch.width = small.width;
    launch.stage_bytes = small.stage_bytes;
    launch.step_rows = tile_rows;
    launch.leading_steps = small.column_slices - 1;
    launch.warps = small_warps;
    return launch;
  }

  launch.of_pixels = false;
  launch.kernel = kernels.any;
  launch.row_slices = row_slices_for(reach);
  launch.column_slices = large_column_slices(radius);
  launch.chunk_pairs = std::min(launch.row_slices / 2, largest_chunk_pairs);
  if (shared_bytes(kernels, launch, fewest_warps_beside) > card.shared_bytes)
    launch.chunk_pairs = std::min(launch.row_slices / 2, usual_chunk_pairs);
  launch.step_rows = large_rows;
  launch.missing_rows = lower_tile_first(launch.column_slices) ? tile_rows : 0;
  launch.leading_steps = large_leading_steps(launch.column_slices);
  const auto shrink_to = [&](int warps) {
    while (launch.chunk_pairs > 1 && shared_bytes(kernels, launch, warps) > card.shared_bytes)
      launch.chunk_pairs /= 2;
  };
  shrink_to(1);
  launch.uses_scratch = shared_bytes(kernels, launch, 1) > card.shared_bytes;
  if (!launch.uses_scratch)
    return launch;
  launch.kernel = kernels.any_with_scratch;
  launch.warps = scratch_warps;
  shrink_to(scratch_warps);
  return launch;
}

}  // namespace cudavision::gaussblur
