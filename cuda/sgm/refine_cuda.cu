// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that look at the samples around each pixel, on CUDA: refine, refine_filled,
// write_confidence and keep_confident. A block loads the map and the luminance of its tile and of
// the pixels around it into shared memory.
//
// refine works on two pixels at once, one in each half of a word, with the arithmetic for pairs of
// 16-bit floats. These represent all weights and their sums exactly. Numbers of a map are compared
// as if their bits were floats: floats that are not negative have the order of their bits.
//
// The medians are found by bisection, of which a step costs two instructions for each sample. A
// tile has many fewer numbers than lie between its smallest and its largest one, above all at the
// edges of objects. So a block first makes a sorted list of them, and the bisection is in this
// list.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/halfpairs.cuh"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct RefineArguments {
  int width, height;
  int tiles;  // per row of tiles
  const std::uint16_t* from;

  // Only refine uses these.
  NumbersOut out;
  Samples picture;
  int shift;  // from samples to levels of 8 bits

  // Only write_confidence and keep_confident use these.
  const std::uint8_t* confidence;
  std::uint8_t* confidence_out;  // or null
  std::int64_t confidence_pitch;
  int threshold;
  std::uint16_t* to;  // or null
  bool supported;     // without compatibility

  // Only refine_filled uses it.
  const std::uint16_t* map;  // before it was filled
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

/* Refine */

constexpr unsigned whole_warp = 0xffffffffu;
constexpr int refine_height = 32;             // of a block's tile
constexpr int pair_rows = refine_height / 2;  // The pixels of a pair are so far apart.
constexpr int tile_pair_rows = pair_rows + 2 * refine_radius;
constexpr int loaded_rows = threads / tile_pitch;  // at once
constexpr int loads = tile_pair_rows / loaded_rows;
static_assert(tile_pair_rows % loaded_rows == 0);

constexpr int number_words = 16 * 1024 / 32;  // bits for all numbers of 1024 disparities
constexpr int list_size = 2048;               // a power of two
static_assert(list_size >= 2 * loads * threads);

/// Loads the calling thread's share of the tile and of the pixels around it: two pixels of a column
/// at once, the upper one in the lower halves. Pixels outside the picture are loaded from its edge
/// and become unknown, so that no load waits for another.
template <int kBytes>
__device__ void load_pairs(const RefineArguments& a, int x, int first_y, Pair (&loaded)[loads]) {
  Samples picture = a.picture;
  picture.bytes = kBytes;
  const int inside_x = min(max(x, 0), a.width - 1);
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    loaded[i] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int y = first_y + i * loaded_rows + half * pair_rows;
      const int inside_y = min(max(y, 0), a.height - 1);
      const std::uint32_t level = picture.at(inside_x, inside_y) >> (kBytes == 1 ? 0 : a.shift);
      std::uint32_t number = a.from[static_cast<std::uint32_t>(inside_y) * a.width + inside_x];
      std::uint32_t luminance = number == unknown ? unknown_luminance : luminance_0 + level;
      if (x != inside_x || y != inside_y) {
        number = unknown;
        luminance = outside_luminance;
      }
      loaded[i].numbers |= number << 16 * half;
      loaded[i].luminances |= luminance << 16 * half;
    }
  }
}

/// Sets the bits of two numbers. All lanes must call this.
__device__ void note_numbers(std::uint32_t numbers, std::uint32_t* bits) {
  // Neighbours often have the same number, and one of them is enough.
  const std::uint32_t beside = __shfl_up_sync(whole_warp, numbers, 1);
  const std::uint32_t different = threadIdx.x % 32 == 0 ? ~0u : numbers ^ beside;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t number = numbers >> 16 * half & 0xffff;
    if (number != unknown && (different >> 16 * half & 0xffff) != 0)
      atomicOr(bits + number / 32, 1u << number % 32);
  }
}

/// Lists the numbers whose bits are set in ascending order, up to the next power of two followed by
/// infinity. Returns the logarithm of this power. One warp calls it.
__device__ int list_numbers(const std::uint32_t* bits, std::uint16_t* list) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int count = 0;
#pragma unroll 1
  for (int first = 0; first < number_words; first += 32) {
    const std::uint32_t own = bits[first + lane];
#pragma unroll 1
    for (unsigned left = __ballot_sync(whole_warp, own != 0); left != 0; left &= left - 1) {
      // A lane for each number of a word.
      const int word = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t set = __shfl_sync(whole_warp, own, word);
      if (set >> lane & 1)
        list[count + __popc(set & ~(~0u << lane))] =
            static_cast<std::uint16_t>(32 * (first + word) + lane);
      count += __popc(set);
    }
  }
  const int steps = count > 1 ? 32 - __clz(count - 1) : 0;
#pragma unroll 1
  for (int i = count + lane; i < 1 << steps; i += 32)
    list[i] = infinity;
  return steps;
}

/// Returns the weights of two samples, 64 >> (difference >> 3), divided by 2^14, as floats.
__device__ __half2 weights_of(std::uint32_t pixels, std::uint32_t samples) {
  const __half2 differences = __habs2(__hsub2_rn(floats_of(pixels), floats_of(samples)));
  return floats_of((nearness_of(differences) << 10) - (bits_of_128 << 10));  // as exponents
}

/// Returns the weighted medians of two pixels by `steps` steps of a bisection in the list.
__device__ std::uint32_t medians_of(const Pair* pixels, const std::uint16_t* list, int steps) {
  const std::uint32_t own_luminances = pixels->luminances;
  std::uint32_t numbers[refine_samples];
  const __half2 max_weights = twice(0x1c00);  // of the pixels themselves
  __half2 weights[refine_samples], half_total = floats_of(0);
#pragma unroll
  for (int i = 0; i < refine_samples; ++i) {
    const Pair pair = pixels[place_of_sample(i)];
    numbers[i] = pair.numbers;
    weights[i] =
        i == refine_samples / 2 ? max_weights : weights_of(own_luminances, pair.luminances);
    half_total = __hfma2(weights[i], twice(0x3800), half_total);
  }
  int upper = 0, lower = 0;  // places in the list
#pragma unroll 1
  for (int step = 1 << steps >> 1; step > 0; step >>= 1) {
    const __half2 bounds =
        floats_of(static_cast<std::uint32_t>(list[lower + step]) << 16 | list[upper + step]);
    __half2 below = floats_of(0);
#pragma unroll
    for (int i = 0; i < refine_samples; ++i)
      below = __hfma2(__hlt2(floats_of(numbers[i]), bounds), weights[i], below);
    if (__hlt(__low2half(below), __low2half(half_total)))
      upper += step;
    if (__hlt(__high2half(below), __high2half(half_total)))
      lower += step;
  }
  return static_cast<std::uint32_t>(list[lower]) << 16 | list[upper];
}

/// The pixels that a thread of refine_filled makes, as they were before they were filled.
struct OwnPixels {
  static constexpr int count = refine_height / tile_height;

  int x, y;
  std::uint16_t numbers[count];
  unsigned holes = 0;  ///< bit i is that of row y + i·tile_height

  __device__ OwnPixels(const RefineArguments& a, int x, int y) : x(x), y(y) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      numbers[i] = inside(a, i) ? a.map[static_cast<std::uint32_t>(row(i)) * a.width + x] : 0;
      holes |= (numbers[i] == unknown ? 1u : 0u) << i;
    }
  }

  __device__ void copy(const RefineArguments& a) const {
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (inside(a, i))
        a.out.write(x, row(i), numbers[i]);
  }

 private:
  __device__ int row(int i) const {
    return y + i * tile_height;
  }
  __device__ bool inside(const RefineArguments& a, int i) const {
    return x < a.width && row(i) < a.height;
  }
};
/// The holes in the first pair of rows.
constexpr unsigned holes_of_pair = 1u | 1u << pair_rows / tile_height;

/// The blocks that share the registers of a multiprocessor. With those for four, code for GPUs
/// before compute capability 9.0 spills 12 bytes, and the kernel for filled pixels spills the
/// holes' bits (nvcc 13.0).
constexpr int blocks_of(bool filled) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  return 3;
#else
  return filled ? 3 : 4;
#endif
}

/// kBytes are those of a sample of the picture. With kFilled, the kernel only refines the pixels
/// that have been filled. Most tiles have none, and are copied.
template <int kBytes, bool kFilled>
__global__ void __launch_bounds__(threads, blocks_of(kFilled))
    refine_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ Pair samples[tile_pair_rows * tile_pitch];
  __shared__ std::uint32_t bits[number_words];
  __shared__ std::uint16_t list[list_size];
  __shared__ int steps;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < number_words; i += threads)
    bits[i + thread] = 0;
  __syncthreads();
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * refine_height;
  unsigned holes = 0;
  if constexpr (kFilled) {
    const OwnPixels own(a, first_x + thread % tile_width, first_y + thread / tile_width);
    if (!__syncthreads_or(own.holes != 0)) {
      own.copy(a);
      return;
    }
    holes = own.holes;
  }
  const int loaded_row = thread / tile_pitch;
  Pair loaded[loads];
  load_pairs<kBytes>(a, first_x - refine_radius + thread % tile_pitch,
                     first_y - refine_radius + loaded_row, loaded);
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    // The last threads load rows below those of the tile. More numbers in the list do no harm.
    if (loaded_row < loaded_rows)
      samples[thread + i * loaded_rows * tile_pitch] = loaded[i];
    note_numbers(loaded[i].numbers, bits);
  }
  __syncthreads();
  if (thread < 32) {
    const int count = list_numbers(bits, list);
    if (thread == 0)
      steps = count;
  }
  __syncthreads();

  const int row = thread / tile_width, column = thread % tile_width;
#pragma unroll 1
  for (int i = 0; i < pair_rows; i += tile_height) {
    const Pair* const pixels =
        samples + (i + row + refine_radius) * tile_pitch + column + refine_radius;
    std::uint32_t medians = 0;
    if (!kFilled || __any_sync(whole_warp, (holes & holes_of_pair) != 0))
      medians = medians_of(pixels, list, steps);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto half_of = [=](std::uint32_t word) {
        return static_cast<std::uint16_t>(word >> 16 * half);
      };
      const bool refines = !kFilled || (holes >> half * pair_rows / tile_height & 1) != 0;
      if (half_of(pixels->luminances) != outside_luminance)
        a.out.write(first_x + column, first_y + i + row + half * pair_rows,
                    refines ? half_of(pixels->numbers) == unknown ? unknown : half_of(medians)
                            : half_of(pixels->numbers));
    }
    holes >>= 1;
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
  const std::int64_t pixel = static_cast<std::int64_t>(at.y) * a.width + at.x;
  int confidence = a.confidence[pixel];
  if (a.supported) {
    int support = 0;
#pragma unroll
    for (int i = 0; i < refine_samples; ++i)
      support += supports(numbers[at.place + place_of_sample(i)], number) ? 1 : 0;
    confidence = supported_confidence(confidence, support);
  }
  const bool kept = number != unknown && confidence >= a.threshold;
  if (a.confidence_out)
    a.confidence_out[a.confidence_pitch * at.y + at.x] =
        static_cast<std::uint8_t>(kept ? confidence : 0);
  if (a.to)
    a.to[pixel] = kept ? number : unknown;
}

}  // namespace

RefineCuda::RefineCuda(LaunchQueue& queue, const StageConfig& config)
    : config_(config), queue_(queue) {}

RefineArguments RefineCuda::arguments(const std::uint16_t* from) const {
  RefineArguments a{};
  a.width = config_.width;
  a.height = config_.height;
  a.tiles = (config_.width + tile_width - 1) / tile_width;
  a.from = from;
  return a;
}

void RefineCuda::launch(Kernel<RefineArguments> kernel, int rows_per_block,
                        const RefineArguments& a) const {
  const int rows = (a.height + rows_per_block - 1) / rows_per_block;
  queue_.launch(kernel, static_cast<unsigned>(a.tiles) * static_cast<unsigned>(rows), threads, 0,
                a);
}

RefineArguments RefineCuda::refine_arguments(const SamplePlane& picture, const std::uint16_t* from,
                                             const NumbersOut& out) const {
  RefineArguments a = arguments(from);
  a.out = out;
  a.picture = Samples(picture);
  a.shift = picture.bits - 8;
  return a;
}

void RefineCuda::run(const SamplePlane& picture, const std::uint16_t* from,
                     const NumbersOut& out) const {
  launch(picture.bits == 8 ? refine_kernel<1, false> : refine_kernel<2, false>, refine_height,
         refine_arguments(picture, from, out));
}

void RefineCuda::run_filled(const SamplePlane& picture, const std::uint16_t* map,
                            const std::uint16_t* filled, std::uint16_t* to) const {
  RefineArguments a = refine_arguments(picture, filled, {config_, to});
  a.map = map;
  launch(picture.bits == 8 ? refine_kernel<1, true> : refine_kernel<2, true>, refine_height, a);
}

void RefineCuda::write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                                  View<std::uint8_t> out) const {
  keep_confident(map, confidence, 0, out, nullptr);
}

void RefineCuda::keep_confident(const std::uint16_t* map, const std::uint8_t* confidence,
                                int threshold, View<std::uint8_t> out, std::uint16_t* to) const {
  RefineArguments a = arguments(map);
  a.confidence = confidence;
  a.confidence_out = out.data;
  a.confidence_pitch = out.pitch;
  a.threshold = threshold;
  a.to = to;
  a.supported = !config_.libsgm();
  launch(confidence_kernel, tile_height, a);
}

}  // namespace cudavision::sgm
