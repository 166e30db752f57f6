// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that look at the samples around each pixel, on CUDA: refine and write_confidence. A
// block loads the map and the luminance of its tile and of the pixels around it into shared memory;
// a thread makes one pixel.

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
  int bits;   // number_bits()

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

__global__ void __launch_bounds__(threads)
    refine_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ std::uint16_t numbers[tile_size];
  __shared__ std::uint8_t luminances[tile_size];
  launch_dependents();
  grid_dependency_wait();
  const TilePixel at(a);
  load_tile(a, at, numbers, [&](int place, int x, int y) {
    luminances[place] = static_cast<std::uint8_t>(a.picture.at(x, y) >> a.shift);
  });
  if (!at.inside(a))
    return;

  int values[refine_samples], weights[refine_samples], total = 0;
  const int own = luminances[at.place];
#pragma unroll
  for (int i = 0; i < refine_samples; ++i) {
    const int place = at.place + place_of_sample(i);
    values[i] = numbers[place];
    weights[i] = numbers[place] == unknown ? 0 : refine_weight(own, luminances[place]);
    total += weights[i];
  }
  const bool known = numbers[at.place] != unknown;
  a.to[static_cast<std::int64_t>(at.y) * a.width + at.x] =
      known ? static_cast<std::uint16_t>(weighted_median(values, weights, total, a.bits)) : unknown;
}

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

void RefineCuda::launch(Launcher<RefineArguments>::Kernel kernel, const RefineArguments& a) const {
  const int rows = (a.height + tile_height - 1) / tile_height;
  launch_(kernel, static_cast<unsigned>(a.tiles) * static_cast<unsigned>(rows), threads, 0, a);
}

void RefineCuda::run(const SamplePlane& picture, const std::uint16_t* from,
                     std::uint16_t* to) const {
  RefineArguments a = arguments(from);
  a.to = to;
  a.picture = Samples(picture);
  a.shift = picture.bits - 8;
  a.bits = number_bits(config_.disparities);
  launch(refine_kernel, a);
}

void RefineCuda::write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                                  View<std::uint8_t> out) const {
  RefineArguments a = arguments(map);
  a.confidence = confidence;
  a.out = out.data;
  a.out_pitch = out.pitch;
  a.supported = !config_.libsgm();
  launch(confidence_kernel, a);
}

}  // namespace cudavision::sgm
