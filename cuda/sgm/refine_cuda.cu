// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that look at the samples around each pixel, on CUDA: refine and write_confidence. A
// block loads the map and the luminance of its tile and of the pixels around it into shared memory.
//
// A thread refines two pixels, one in each half of a word, with the arithmetic for pairs of 16-bit
// floats. These represent all weights and their sums exactly. Numbers of a map are compared as if
// their bits were floats: floats that are not negative have the order of their bits.

#include <cuda_fp16.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct RefineArguments {
  int width, height;
  int tiles;  // per row of tiles
  const std::uint16_t* from;

  // Only refine uses these.
  std::uint16_t* to;
  Samples picture;
  int shift;  // from samples to levels of 8 bits

  // Only write_confidence uses these.
  const std::uint8_t* confidence;
  std::uint8_t* out;
  std::int64_t out_pitch;
  bool supported;  // without compatibility
};

namespace {

constexpr int tile_width = 32, tile_height = 8, threads = tile_width * tile_height;
constexpr int tile_pitch = tile_width + 2 * refine_radius;
constexpr int tile_size = (tile_height + 2 * refine_radius) * tile_pitch;

__device__ unsigned most_of_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int apart = 1; apart < 32; apart *= 2)
    value = max(value, __shfl_xor_sync(0xffffffffu, value, apart));
  return value;
#endif
}

/// The pixel of a thread, and its place in the tile.
struct TilePixel {
  int first_x, first_y, x, y, place;

  __device__ explicit TilePixel(const RefineArguments& a)
      : first_x(static_cast<int>(blockIdx.x % a.tiles) * tile_width),
        first_y(static_cast<int>(blockIdx.x / a.tiles) * tile_height),
        x(first_x + static_cast<int>(threadIdx.x) % tile_width),
        y(first_y + static_cast<int>(threadIdx.x) / tile_width),
        place((y - first_y + refine_radius) * tile_pitch + x - first_x + refine_radius) {}

  __device__ bool inside(const RefineArguments& a) const { return x < a.width && y < a.height; }
};

__device__ constexpr int place_of_sample(int number) {
  return (number / refine_side * refine_step - refine_radius) * tile_pitch +
         number % refine_side * refine_step - refine_radius;
}

/// Calls load(place in the tile, x, y) for the pixels of the tile and around it that are in the
/// picture, and sets numbers to those of the map, unknown outside the picture.
template <class Load>
__device__ void load_tile(const RefineArguments& a, const TilePixel& at, std::uint16_t* numbers,
                          const Load& load) {
  for (int i = threadIdx.x; i < tile_size; i += threads) {
    const int row = i / tile_pitch;
    const int x = at.first_x - refine_radius + i - row * tile_pitch;
    const int y = at.first_y - refine_radius + row;
    const bool inside = x >= 0 && x < a.width && y >= 0 && y < a.height;
    numbers[i] = inside ? a.from[static_cast<std::int64_t>(y) * a.width + x] : unknown;
    if (inside)
      load(i, x, y);
  }
  __syncthreads();
}

/* Refine */

constexpr int pair_rows = 2;  // the pixels of a thread are so far apart, as samples are
static_assert(pair_rows == refine_step);
constexpr int refine_height = 2 * tile_height;  // of a block's tile
constexpr int refine_rows = refine_height + 2 * refine_radius;
/// A word holds two pixels of a column, pair_rows apart. The last rows are only second pixels.
constexpr int pair_words = (refine_rows - pair_rows) * tile_pitch;

constexpr std::uint16_t far_luminance = 0x4000;  // of unknown pixels, so that their weight is 0

__device__ __half2 floats_of(std::uint32_t bits) {
  return *reinterpret_cast<__half2*>(&bits);
}

/// Returns the weights of two samples, 64 >> (difference >> 3), as floats.
__device__ std::uint32_t weights_of(std::uint32_t pixels, std::uint32_t samples) {
  const std::uint32_t difference = __vmaxu2(pixels, samples) - __vminu2(pixels, samples);
  // 64 >> k is a float with the exponent 6 − k, for k < 7.
  const std::uint32_t eight_k = __vminu2(difference, 0x00380038u) & 0x00380038u;
  const std::uint32_t weights = 0x54005400u - (eight_k << 7);
  return weights & __hge2_mask(floats_of(weights), floats_of(0x3c003c00u));
}

__global__ void __launch_bounds__(threads)
    refine_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ std::uint32_t numbers[pair_words], luminances[pair_words];
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * refine_height;
  const auto put = [](std::uint32_t* words, int row, int column, std::uint16_t half) {
    auto* const halves = reinterpret_cast<std::uint16_t*>(words + row * tile_pitch + column);
    if (row < refine_rows - pair_rows)
      halves[0] = half;
    if (row >= pair_rows)
      halves[1 - 2 * pair_rows * tile_pitch] = half;
  };
  for (int i = threadIdx.x; i < refine_rows * tile_pitch; i += threads) {
    const int row = i / tile_pitch, column = i - row * tile_pitch;
    const int x = first_x - refine_radius + column, y = first_y - refine_radius + row;
    std::uint16_t number = unknown, luminance = far_luminance;
    if (x >= 0 && x < a.width && y >= 0 && y < a.height) {
      number = a.from[static_cast<std::int64_t>(y) * a.width + x];
      if (number != unknown)
        luminance = static_cast<std::uint16_t>(a.picture.at(x, y) >> a.shift);
    }
    put(numbers, row, column, number);
    put(luminances, row, column, luminance);
  }
  __syncthreads();

  // Rows 0, 1, 4, 5, 8, 9… of the tile are first pixels.
  const int thread_row = static_cast<int>(threadIdx.x) / tile_width;
  const int column = static_cast<int>(threadIdx.x) % tile_width;
  const int row = 2 * thread_row - thread_row % 2;
  const int place = (row + refine_radius) * tile_pitch + column + refine_radius;
  const std::uint32_t own = numbers[place], own_luminance = luminances[place];
  // 0 stands for unknown pixels, which are not numbers and so do not equal themselves.
  const std::uint32_t known = own & __heq2_mask(floats_of(own), floats_of(own));
  std::uint32_t values[refine_samples], least = known, most = known;
  __half2 weights[refine_samples], total = floats_of(0);
#pragma unroll
  for (int i = 0; i < refine_samples; ++i) {
    const int at = place + place_of_sample(i);
    const std::uint32_t weight = weights_of(own_luminance, luminances[at]);
    weights[i] = floats_of(weight);
    total = __hadd2(total, weights[i]);
    // Samples without weight must not count for the range.
    const std::uint32_t counts = __hgt2_mask(weights[i], floats_of(0));
    values[i] = (numbers[at] & counts) | (known & ~counts);
    least = __vminu2(least, values[i]);
    most = __vmaxu2(most, values[i]);
  }
  // Bisection, between the least and the largest value of any sample with a weight.
  const std::uint32_t range = most - least;
  const unsigned widest = most_of_warp(max(range & 0xffff, range >> 16));
  const __half2 half_total = __hmul2(total, floats_of(0x38003800u));
  std::uint32_t result = least;
  for (int bit = 31 - __clz(static_cast<int>(widest)); bit >= 0; --bit) {
    const std::uint32_t step = 0x00010001u << bit;
    // Infinity is above all numbers.
    const __half2 next = floats_of(__vminu2(result + step, 0x7c007c00u));
    __half2 below = floats_of(0);
#pragma unroll
    for (int i = 0; i < refine_samples; ++i)
      below = __hfma2(__hlt2(floats_of(values[i]), next), weights[i], below);
    result += step & __hlt2_mask(below, half_total);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int x = first_x + column, y = first_y + row + i * pair_rows;
    const auto number = static_cast<std::uint16_t>(own >> 16 * i);
    if (x < a.width && y < a.height)
      a.to[static_cast<std::int64_t>(y) * a.width + x] =
          number == unknown ? unknown : static_cast<std::uint16_t>(result >> 16 * i);
  }
}

/* Confidence */

__global__ void __launch_bounds__(threads)
    confidence_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ std::uint16_t numbers[tile_size];
  launch_dependents();
  grid_dependency_wait();
  const TilePixel at(a);
  load_tile(a, at, numbers, [](int, int, int) {});
  if (!at.inside(a))
    return;
  const std::uint16_t number = numbers[at.place];
  int confidence = a.confidence[static_cast<std::int64_t>(at.y) * a.width + at.x];
  if (a.supported) {
    int support = 0;
#pragma unroll
    for (int i = 0; i < refine_samples; ++i)
      support += supports(numbers[at.place + place_of_sample(i)], number) ? 1 : 0;
    confidence = supported_confidence(confidence, support);
  }
  a.out[a.out_pitch * at.y + at.x] = static_cast<std::uint8_t>(number == unknown ? 0 : confidence);
}

}  // namespace

RefineCuda::RefineCuda(Device& device, const StageConfig& config)
    : config_(config), launch_(device.stream(), refine_kernel) {}

RefineArguments RefineCuda::arguments(const std::uint16_t* from) const {
  RefineArguments a{};
  a.width = config_.width;
  a.height = config_.height;
  a.tiles = (config_.width + tile_width - 1) / tile_width;
  a.from = from;
  return a;
}

void RefineCuda::launch(Launcher<RefineArguments>::Kernel kernel, int rows_per_block,
                        const RefineArguments& a) const {
  const int rows = (a.height + rows_per_block - 1) / rows_per_block;
  launch_(kernel, static_cast<unsigned>(a.tiles) * static_cast<unsigned>(rows), threads, 0, a);
}

void RefineCuda::run(const SamplePlane& picture, const std::uint16_t* from,
                     std::uint16_t* to) const {
  RefineArguments a = arguments(from);
  a.to = to;
  a.picture = Samples(picture);
  a.shift = picture.bits - 8;
  launch(refine_kernel, refine_height, a);
}

void RefineCuda::write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                                  View<std::uint8_t> out) const {
  RefineArguments a = arguments(map);
  a.confidence = confidence;
  a.out = out.data;
  a.out_pitch = out.pitch;
  a.supported = !config_.libsgm();
  launch(confidence_kernel, tile_height, a);
}

}  // namespace cudavision::sgm
