// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Refine, RefineFilled and KeepConfident on CUDA. A block loads its tile of the map and, except for
// KeepConfident, of the luminance into shared memory, with a halo. A thread processes two pixels at
// once, one in each half of a word.
//
// Refine uses pairs of 16-bit floats, which represent all weights and their sums exactly. It finds
// medians by bisection of the range of the samples, which is usually small. Map values are below
// 2^14, so they keep their order if their bits are read as floats. Unknown values are NaN.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/maps/pair_tile.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

struct RefineArguments {
  int width, height;
  int tiles;  // tiles across the picture

  // For Refine and RefineFilled.
  PairSource source;
  NumbersOut out;

  // For KeepConfident.
  const std::uint16_t* from;
  const std::uint8_t* confidence;
  std::uint8_t* confidence_out;  // may be null
  std::int64_t confidence_pitch;
  int threshold;
  std::uint16_t* to;  // may be null
  bool supported;     // true if confidence includes the support of neighbours

  // For RefineFilled.
  const std::uint16_t* map;  // the map before it was filled
};

// Small blocks keep the multiprocessors busy until the end of the launch.
constexpr int threads = 128, warps = threads / 32;
using Tile = PairTile<32, 16, refine_radius, 4>;
/// A warp processes cells of 16×4 pixels. The smaller the cell, the fewer bisection steps it needs.
constexpr int cell_width = 16, cell_height = 4;
constexpr int row_cells = Tile::width / cell_width;
constexpr int cells = row_cells * (Tile::height / cell_height) / warps;  ///< cells per warp
static_assert(warps % row_cells == 0);
constexpr int next_cell = warps / row_cells * cell_height;

constexpr std::uint32_t ones = 0x00010001;  ///< 1 in both halves of a word

/// Returns the weights of two samples, 64 >> (difference >> 3), divided by 2^14, as 16-bit floats.
__device__ __half2 weights_of(std::uint32_t pixels, std::uint32_t samples) {
  const __half2 differences = __hsub2_rn(floats_of(pixels), floats_of(samples));
  return floats_of((nearness_of(differences) << 10) - (bits_of_128 << 10));  // as exponent
}

struct SampleRange {
  std::uint32_t smallest = 0xffffffff, largest = 0xffffffff;

  __device__ void add(std::uint32_t one, std::uint32_t other) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // As a signed integer, unknown is −1, which is less than all map values.
    smallest = __vimin3_u16x2(smallest, one, other);
    largest = __vimax3_s16x2(largest, one, other);
#else
    // If one operand is NaN (unknown), min and max return the other.
    smallest = bits_of(__hmin2(floats_of(smallest), __hmin2(floats_of(one), floats_of(other))));
    largest = bits_of(__hmax2(floats_of(largest), __hmax2(floats_of(one), floats_of(other))));
#endif
  }
};

/// Returns the bit length of the largest 16-bit half among the words of all lanes.
__device__ int bits_in_warp(std::uint32_t word) {
  word |= word >> 16;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  word = __reduce_or_sync(whole_warp, word);
#else
  for (int distance = 16; distance > 0; distance /= 2)
    word |= __shfl_xor_sync(whole_warp, word, distance);
#endif
  return 32 - __clz(static_cast<int>(word & 0xffff));
}

class PairSamples {
 public:
  __device__ explicit PairSamples(const Pair* pixels) : known_(~halves_with_sign(pixels->numbers)) {
    const std::uint32_t own_luminances = pixels->luminances;
    const __half2 max_weights = twice(0x1c00);
#pragma unroll
    for (int i = 0; i < refine_samples; ++i) {
      const Pair pair = pixels[Tile::index_of(i % refine_side * refine_step - refine_radius,
                                              i / refine_side * refine_step - refine_radius)];
      numbers_[i] = pair.numbers;
      weights_[i] =
          i == refine_samples / 2 ? max_weights : weights_of(own_luminances, pair.luminances);
      half_total_ = __hfma2(weights_[i], twice(0x3800), half_total_);
    }
  }

  /// Returns the weighted medians, or unknown for unknown pixels. The whole warp must call it.
  __device__ std::uint32_t medians() const {
    SampleRange range;
    range.add(numbers_[0], numbers_[0]);
#pragma unroll
    for (int i = 1; i < refine_samples; i += 2)
      range.add(numbers_[i], numbers_[i + 1]);
    const std::uint32_t smallest = range.smallest & known_;
    const int bits = bits_in_warp((range.largest & known_) - smallest);
    // Bounds must stay below infinity, because they are compared as floats.
    return search(__vminu2(smallest, (infinity - (1 << bits)) * ones), bits) | ~known_;
  }

 private:
  /// Returns the medians, which are in [first, first + 2^bits).
  __device__ std::uint32_t search(std::uint32_t first, int bits) const {
    std::uint32_t medians = first;
#pragma unroll 1
    for (std::uint32_t step = ones << bits >> 1; step >= ones; step >>= 1) {
      const __half2 bounds = floats_of(medians + step);
      constexpr int chains = 3;  // independent partial sums hide latency
      __half2 below[chains] = {};
#pragma unroll
      for (int i = 0; i < refine_samples; ++i)
        below[i % chains] =
            __hfma2(__hlt2(floats_of(numbers_[i]), bounds), weights_[i], below[i % chains]);
      const __half2 all_below = __hadd2_rn(__hadd2_rn(below[0], below[1]), below[2]);
      medians += __hlt2_mask(all_below, half_total_) & step;
    }
    return medians;
  }

  std::uint32_t known_;  ///< 0xffff for each known pixel
  std::uint32_t numbers_[refine_samples];
  __half2 weights_[refine_samples], half_total_ = floats_of(0);
};

__device__ std::uint32_t pair_at(const RefineArguments& a, const std::uint16_t* map, int x, int y) {
  const std::uint16_t* const row = map + static_cast<std::int64_t>(y) * a.width;
  if (y >= a.height || x >= a.width)
    return 0;
  return row[x] | (x + 1 < a.width ? std::uint32_t{row[x + 1]} << 16 : 0);
}

/// With kFilled, refines only filled pixels, and copies tiles without filled pixels.
template <int kBytes, bool kFilled>
__global__ void __launch_bounds__(threads, 6)
    refine_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ __align__(16) Pair samples[Tile::size];
  launch_dependents();
  grid_dependency_wait();
  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * Tile::width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * Tile::height;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x = first_x + warp % row_cells * cell_width + 2 * (lane % (cell_width / 2));
  const int own_y = first_y + warp / row_cells * cell_height + lane / (cell_width / 2);
  unsigned holes = 0;  // two bits per pair of pixels; 1 marks a filled pixel
  if constexpr (kFilled) {
    std::uint32_t before[cells];
#pragma unroll
    for (int i = 0; i < cells; ++i) {
      before[i] = pair_at(a, a.map, x, own_y + i * next_cell);
      holes |= (before[i] >> 15 & 1 | before[i] >> 30 & 2) << 2 * i;
    }
    if (!__syncthreads_or(holes != 0)) {
#pragma unroll
      for (int i = 0; i < cells; ++i)
        if (x < a.width && own_y + i * next_cell < a.height)
          a.out.write_pair(x, own_y + i * next_cell, a.width, before[i]);
      return;
    }
  }
  Tile::load<threads, kBytes, unknown>(a.source, first_x, first_y, Tile::height, samples);

#pragma unroll 1
  for (int i = 0; i < cells; ++i) {
    const int y = own_y + i * next_cell;
    const Pair* const pixels =
        samples + Tile::index_of(x - first_x + Tile::halo, y - first_y + Tile::halo);
    std::uint32_t numbers = pixels->numbers;
    const std::uint32_t refined = kFilled ? ((holes & 1) | (holes & 2) << 15) * 0xffff : 0xffffffff;
    holes >>= 2;
    if (__any_sync(whole_warp, (refined & ~halves_with_sign(numbers)) != 0))
      numbers = (PairSamples(pixels).medians() & refined) | (numbers & ~refined);
    if (x < a.width && y < a.height)
      a.out.write_pair(x, y, a.width, numbers);
  }
}

constexpr int confidence_threads = 256;
constexpr int tile_width = 32, tile_height = 32;
constexpr int tile_pitch = tile_width + 2 * refine_radius;
constexpr int pair_rows = tile_height / 2;  // rows between the pixels of a pair
constexpr int tile_pair_rows = pair_rows + 2 * refine_radius;
constexpr int loaded_rows = confidence_threads / tile_pitch;  // rows that a block loads at once
static_assert(tile_pair_rows % loaded_rows == 0);

__device__ constexpr int offset_of_sample(int number) {
  return (number / refine_side * refine_step - refine_radius) * tile_pitch +
         number % refine_side * refine_step - refine_radius;
}

/// Returns the number of supporting samples in each half. Unknown pixels must be far_away.
__device__ std::uint32_t supports_of(const std::uint32_t* pixels) {
  std::uint32_t count = 0;
#pragma unroll
  for (int i = 0; i < refine_samples; ++i)
    count += supports(pixels[offset_of_sample(i)], *pixels);
  return count;
}

__global__ void __launch_bounds__(confidence_threads)
    confidence_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ std::uint32_t pairs[tile_pair_rows * tile_pitch];
  launch_dependents();
  grid_dependency_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height;
  const auto number_at = [&](int x, int y) {
    const bool inside = x >= 0 && x < a.width && y >= 0 && y < a.height;
    const std::uint16_t number =
        inside ? a.from[static_cast<std::uint32_t>(y) * a.width + x] : unknown;
    return number == unknown ? far_away : number;
  };
  if (const int row = thread / tile_pitch; row < loaded_rows)
#pragma unroll
    for (int i = 0; i < tile_pair_rows; i += loaded_rows) {
      const int x = first_x - refine_radius + thread % tile_pitch;
      const int y = first_y - refine_radius + row + i;
      pairs[thread + i * tile_pitch] = number_at(x, y) | number_at(x, y + pair_rows) << 16;
    }
  __syncthreads();

  const int x = first_x + thread % tile_width;
  if (x >= a.width)
    return;
#pragma unroll
  for (int i = thread / tile_width; i < pair_rows; i += confidence_threads / tile_width) {
    const std::uint32_t* const pixels =
        pairs + (i + refine_radius) * tile_pitch + thread % tile_width + refine_radius;
    const std::uint32_t support = a.supported ? supports_of(pixels) : 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int y = first_y + i + half * pair_rows;
      if (y >= a.height)
        break;
      const std::int64_t pixel = static_cast<std::int64_t>(y) * a.width + x;
      int confidence = a.confidence[pixel];
      if (a.supported)
        confidence =
            supported_confidence(confidence, static_cast<int>(support >> 16 * half & 0xffff));
      const auto number = static_cast<std::uint16_t>(*pixels >> 16 * half);
      const bool kept = number != far_away && confidence >= a.threshold;
      if (a.confidence_out)
        a.confidence_out[a.confidence_pitch * y + x] =
            static_cast<std::uint8_t>(kept ? confidence : 0);
      if (a.to)
        a.to[pixel] = kept ? number : unknown;
    }
  }
}

void launch(const StageResources& resources, Kernel<RefineArguments> kernel, int width, int height,
            unsigned block_threads, RefineArguments& a) {
  a.width = resources.config.width;
  a.height = resources.config.height;
  a.tiles = divide_up(a.width, width);
  resources.queue.launch(kernel, static_cast<unsigned>(a.tiles) * divide_up(a.height, height),
                         block_threads, 0, a);
}

template <bool kFilled>
void launch_refinement(const StageResources& resources, const SamplePlane& picture,
                       const std::uint16_t* from, const std::uint16_t* map, const NumbersOut& out) {
  RefineArguments a{};
  a.source = {resources.config, picture, from};
  a.out = out;
  a.map = map;
  launch(resources, picture.bits == 8 ? refine_kernel<1, kFilled> : refine_kernel<2, kFilled>,
         Tile::width, Tile::height, threads, a);
}

}  // namespace

void refine(const StageResources& resources, const Refine& stage, const NumbersOut& out) {
  launch_refinement<false>(resources, stage.picture, stage.from, nullptr, out);
}

void run_stage(const StageResources& resources, const Refine& stage) {
  refine(resources, stage, {resources.config, stage.to});
}

void run_stage(const StageResources& resources, const RefineFilled& stage) {
  launch_refinement<true>(resources, stage.picture, stage.filled, stage.map,
                          {resources.config, stage.to});
}

void run_stage(const StageResources& resources, const KeepConfident& stage) {
  RefineArguments a{};
  a.from = stage.map;
  a.confidence = stage.confidence;
  a.confidence_out = stage.out.data;
  a.confidence_pitch = stage.out.pitch;
  a.threshold = stage.threshold;
  a.to = stage.to;
  a.supported = !resources.config.libsgm();
  launch(resources, confidence_kernel, tile_width, tile_height, confidence_threads, a);
}

}  // namespace cudavision::sgm
