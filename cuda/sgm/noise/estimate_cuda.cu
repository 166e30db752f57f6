// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Noise estimate on CUDA. A thread block measures the 8×8 blocks in a tile (census/tile.cuh). A
// thread processes four neighbouring pixels and the four pixels eight rows below, in the next row
// of blocks. The last thread block evaluates the histograms and clears them for the next frame.

#include "cuda/core/warp.cuh"
#include "cuda/sgm/census/tile.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct NoiseCounts {
  std::uint32_t bins[noise_spacings][noise::bins];
  std::uint32_t flat;
  std::uint32_t finished;  ///< number of thread blocks of the launch that have finished
};

namespace {

struct NoiseArguments {
  CensusArguments census;  // without features and penalties
  NoiseCounts* counts;
  NoiseState* state;
  bool first_frame;
  int row_step;  // only every row_step-th row of tiles is measured
};

using gradient::pair_rows;
using gradient::pixels;
using gradient::Row;
using gradient::threads;
using gradient::tile_height;
using gradient::tile_pitch;
using gradient::tile_width;

static_assert(pair_rows == noise::block_side && noise::block_side == 2 * pixels);
constexpr int tile_blocks = tile_width / noise::block_side;  // blocks in a row of the tile

/// Sums over each block of a tile, with the indices [upper or lower row of blocks][block].
struct BlockSums {
  std::uint32_t sums[noise_spacings][2][tile_blocks];
  std::uint32_t extremes[2][tile_blocks];
};

/// Returns Σ |N| over each of the thread's two rows. own points to the thread's pixels in the tile.
template <int kSpacing>
__device__ uint2 second_differences(const std::uint32_t* own) {
  Row above, here, below;
  above.load<4, 4>(own - kSpacing * tile_pitch);
  here.load<4, 4>(own);
  below.load<4, 4>(own + kSpacing * tile_pitch);
  // Words wrap modulo 2^32. Each half is the column's second difference + 512.
  const auto column = [&](int x) {
    return above.word(x) + below.word(x) - 2 * here.word(x) + 512 * gradient::ones;
  };
  uint2 sums{};
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const std::uint32_t raised =
        column(i - kSpacing) + column(i + kSpacing) - 2 * column(i) + 2048 * gradient::ones;
    sums.x += static_cast<std::uint32_t>(abs(static_cast<int>(raised & 0xffff) - 2048));
    sums.y += static_cast<std::uint32_t>(abs(static_cast<int>(raised >> 16) - 2048));
  }
  return sums;
}

/// Adds a thread's two sums to its two blocks. Two neighbouring lanes share these blocks.
__device__ void add_to_blocks(uint2 numbers, std::uint32_t (&blocks)[2][tile_blocks]) {
  numbers.x += __shfl_xor_sync(~0u, numbers.x, 1);
  numbers.y += __shfl_xor_sync(~0u, numbers.y, 1);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  atomicAdd(&blocks[lane % 2][lane / 2], lane % 2 == 0 ? numbers.x : numbers.y);
}

__device__ bool is_flat_line(const std::uint32_t* at, int step, std::uint32_t half) {
  std::uint32_t differences = 0;
#pragma unroll
  for (int i = 1; i < noise::block_side; ++i)
    differences |= at[i * step] ^ at[0];
  return (differences & half) == 0;
}

/// Returns true if a line next to the block at `first` is flat. half masks its half of each word.
__device__ bool is_at_bar(const std::uint32_t* first, std::uint32_t half) {
  constexpr int before = -noise_spacing(1), after = noise::block_side - 1 + noise_spacing(1);
  return is_flat_line(first + before * tile_pitch, 1, half) ||
         is_flat_line(first + after * tile_pitch, 1, half) ||
         is_flat_line(first + before, tile_pitch, half) ||
         is_flat_line(first + after, tile_pitch, half);
}

/// One lane adds for all lanes with the same bin. Otherwise, noise-free pictures, which fill only a
/// single bin, would serialise the lanes.
__device__ void add_to_bin(std::uint32_t* bins, int bin) {
  const unsigned active = __activemask(), same = __match_any_sync(active, bin);
  if (__ffs(same) - 1 == static_cast<int>(threadIdx.x) % 32)
    atomicAdd(bins + bin, static_cast<std::uint32_t>(__popc(same)));
}

struct Quantile {
  std::uint32_t blocks;
  int bin;  ///< −1 if there are too few blocks
};

/// Returns the quantile and clears the histogram. All threads of the block must call it.
__device__ Quantile take_quantile(std::uint32_t* bins) {
  constexpr int own_bins = noise::bins / threads;
  __shared__ std::uint32_t warps[threads / 32];
  __shared__ int found;
  const int thread = static_cast<int>(threadIdx.x);
  auto* const own = reinterpret_cast<uint4*>(bins) + thread;
  static_assert(own_bins == 4);
  const uint4 counts = __ldcg(own);
  *own = {};
  if (thread == 0)
    found = -1;
  const std::uint32_t sum = counts.x + counts.y + counts.z + counts.w;
  const std::uint32_t scanned = inclusive_scan(sum);
  if (thread % 32 == 31)
    warps[thread / 32] = scanned;
  __syncthreads();
  std::uint32_t before = scanned - sum, all = 0;
  for (int i = 0; i < threads / 32; ++i) {
    before += i < thread / 32 ? warps[i] : 0;
    all += warps[i];
  }
  const std::uint32_t needed = all / noise::quantile;
  if (all >= min_noise_blocks && before <= needed && before + sum > needed) {
    const std::uint32_t up_to[] = {before + counts.x, before + counts.x + counts.y,
                                   before + counts.x + counts.y + counts.z};
    found = own_bins * thread + (up_to[0] <= needed) + (up_to[1] <= needed) + (up_to[2] <= needed);
  }
  __syncthreads();
  const int bin = found;
  __syncthreads();
  return {all, bin};
}

__global__ void __launch_bounds__(threads) noise_kernel(const __grid_constant__ NoiseArguments a) {
  __shared__ __align__(16) std::uint32_t tile[gradient::tile_rows * tile_pitch];
  __shared__ BlockSums blocks;
  __shared__ bool is_last;
  launch_dependents();
  grid_dependency_wait();
  const CensusBlock at(a.census, tile_width, a.row_step * tile_height);
  const Samples& picture = a.census.pictures[0];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int i = thread; i < static_cast<int>(sizeof blocks / sizeof(std::uint32_t)); i += threads)
    reinterpret_cast<std::uint32_t*>(&blocks)[i] = 0;
  gradient::load_tile(a.census, at, tile);

  const std::uint32_t* const own =
      tile + (thread / 32 + gradient_radius_y) * tile_pitch + pixels * lane + gradient::halo;
  uint2 extremes{};
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    extremes.x += noise::is_extreme(static_cast<int>(own[i] & 0xff));
    extremes.y += noise::is_extreme(static_cast<int>(own[i] >> 16 & 0xff));
  }
  add_to_blocks(second_differences<noise_spacing(0)>(own), blocks.sums[0]);
  add_to_blocks(second_differences<noise_spacing(1)>(own), blocks.sums[1]);
  add_to_blocks(extremes, blocks.extremes);
  __syncthreads();

  if (thread < 2 * tile_blocks) {
    const int lower = thread / tile_blocks, block = thread % tile_blocks;
    if (at.x + (block + 1) * noise::block_side <= picture.width &&
        at.y + (lower + 1) * noise::block_side <= picture.height &&
        blocks.extremes[lower][block] <= noise::max_extreme_pixels) {
      const std::uint32_t* const first =
          tile + gradient_radius_y * tile_pitch + block * noise::block_side + gradient::halo;
      if (blocks.sums[0][lower][block] == 0 || is_at_bar(first, lower ? 0xffff0000 : 0xffff))
        add_to_bin(&a.counts->flat, 0);
      else
        for (int i = 0; i < noise_spacings; ++i)
          add_to_bin(a.counts->bins[i], noise::bin_of(blocks.sums[i][lower][block]));
    }
    __threadfence();
  }
  __syncthreads();
  if (thread == 0)
    is_last = atomicAdd(&a.counts->finished, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  const Quantile first = take_quantile(a.counts->bins[0]);
  const Quantile second = take_quantile(a.counts->bins[1]);
  if (thread != 0)
    return;
  const std::uint32_t flat = __ldcg(&a.counts->flat);
  a.counts->flat = a.counts->finished = 0;
  NoiseState state;
  if (!a.first_frame)
    state = *a.state;
  if (is_flat_picture(flat, first.blocks))
    state.take(0);
  else if (first.bin >= 0)
    state.take(max(noise_variance_of(0, first.bin), noise_variance_of(1, second.bin)));
  *a.state = state;
}

}  // namespace

Buffer make_noise_counts(Device& device) {
  Buffer counts = device.allocate(sizeof(NoiseCounts));
  device.fill(contiguous_rows(counts.as<std::uint8_t>(), sizeof(NoiseCounts), 1), 0);
  return counts;
}

void estimate_noise_cuda(const StageResources& resources, NoiseCounts* counts,
                         const SamplePlane& picture, bool first_frame, NoiseState* state) {
  const StageConfig& config = resources.config;
  NoiseArguments a{};
  a.census = census_arguments(config, {{picture, {}}}, {}, tile_height);
  a.counts = counts;
  a.state = state;
  a.first_frame = first_frame;
  a.row_step = noise_row_step(config.pixels());
  const int counted = divide_up(a.census.blocks / a.census.tiles, a.row_step);
  resources.queue.launch(noise_kernel, static_cast<unsigned>(a.census.tiles * counted), threads, 0,
                         a);
}

}  // namespace cudavision::sgm
