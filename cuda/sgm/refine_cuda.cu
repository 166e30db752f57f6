// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that look at the samples around each pixel, on CUDA: refine, refine_filled,
// write_confidence and keep_confident. A block loads the map and the luminance of its tile and of
// the pixels around it into shared memory.
//
// refine works on two pixels at once, one in each half of a word, with the arithmetic for pairs of
// 16-bit floats. These represent all weights and their sums exactly.
//
// The medians are found by bisection, of which a step costs two instructions for each sample. A
// tile has many fewer numbers than lie between its smallest and its largest one, above all at the
// edges of objects. So a block first makes a sorted list of them, and replaces each number by its
// rank, which is its place in the list. Then the bisection takes fewer steps. Ranks are integers,
// which makes a difference that saturates a comparison: it is 1 if the first is larger, else 0.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/halfpairs.cuh"
#include "cuda/sgm/numberlist.cuh"
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

__device__ constexpr int place_of_sample(int number) {
  return (number / refine_side * refine_step - refine_radius) * tile_pitch +
         number % refine_side * refine_step - refine_radius;
}

/* Refine */

constexpr unsigned whole_warp = 0xffffffffu;
constexpr int refine_height = 32;             // of a block's tile
constexpr int pair_rows = refine_height / 2;  // The pixels of a pair are so far apart.
constexpr int tile_pair_rows = pair_rows + 2 * refine_radius;
constexpr int loaded_rows = threads / tile_pitch;  // at once
constexpr int loads = tile_pair_rows / loaded_rows;
static_assert(tile_pair_rows % loaded_rows == 0);

/// Two samples as the medians read them: their ranks as floats, and their luminances.
struct alignas(8) RankedPair {
  std::uint32_t ranks, luminances;
};

static_assert(NumberList<threads>::max_numbers >= 2 * loads * threads);

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

/// Returns the weights of two samples, 64 >> (difference >> 3), divided by 2^14, as floats.
__device__ __half2 weights_of(std::uint32_t pixels, std::uint32_t samples) {
  const __half2 differences = __habs2(__hsub2_rn(floats_of(pixels), floats_of(samples)));
  return floats_of((nearness_of(differences) << 10) - (bits_of_128 << 10));  // as exponents
}

/// Returns the ranks of the weighted medians of two pixels, by a bisection. The ranks are below
/// twice the first step, a power of two.
__device__ __half2 median_ranks_of(const RankedPair* pixels, __half2 first_step) {
  const std::uint32_t own_luminances = pixels->luminances;
  __half2 ranks[refine_samples], weights[refine_samples];
  const __half2 max_weights = twice(0x1c00);  // of the pixels themselves
  __half2 half_total = floats_of(0);
#pragma unroll
  for (int i = 0; i < refine_samples; ++i) {
    const RankedPair pair = pixels[place_of_sample(i)];
    ranks[i] = floats_of(pair.ranks);
    weights[i] =
        i == refine_samples / 2 ? max_weights : weights_of(own_luminances, pair.luminances);
    half_total = __hfma2(weights[i], twice(0x3800), half_total);
  }
  __half2 medians = floats_of(0);
  constexpr int chains = 3;
#pragma unroll 1
  for (__half2 step = first_step; bits_of(step) >= one * 0x00010001;
       step = __hmul2_rn(step, twice(0x3800))) {
    const __half2 bounds = __hadd2_rn(medians, step);
    // Several sums, so that not every addition waits for the one before it.
    __half2 below[chains] = {};
#pragma unroll
    for (int i = 0; i < refine_samples; ++i)
      below[i % chains] = __hfma2(__hsub2_sat(bounds, ranks[i]), weights[i], below[i % chains]);
    const __half2 all_below = __hadd2_rn(__hadd2_rn(below[0], below[1]), below[2]);
    medians = __hfma2(__hlt2(all_below, half_total), step, medians);
  }
  return medians;
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

/// kBytes are those of a sample of the picture. With kFilled, the kernel only refines the pixels
/// that have been filled. Most tiles have none, and are copied.
template <int kBytes, bool kFilled>
__global__ void __launch_bounds__(threads, 3)
    refine_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ RankedPair samples[tile_pair_rows * tile_pitch];
  __shared__ NumberList<threads> list;
  const int thread = static_cast<int>(threadIdx.x);
  list.clear();
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
  // The last threads load rows below those of the tile. More numbers in the list do no harm.
#pragma unroll
  for (int i = 0; i < loads; ++i)
    list.note(loaded[i].numbers);
  const __half2 first_step = list.find_ranks();
#pragma unroll
  for (int i = 0; i < loads; ++i)
    if (loaded_row < loaded_rows) {
      const __half2 ranks = __halves2half2(__int2half_rn(list.rank_of(loaded[i].numbers & 0xffff)),
                                           __int2half_rn(list.rank_of(loaded[i].numbers >> 16)));
      samples[thread + i * loaded_rows * tile_pitch] = {bits_of(ranks), loaded[i].luminances};
    }
  list.list();
  __syncthreads();

  const int row = thread / tile_width, column = thread % tile_width;
#pragma unroll 1
  for (int i = 0; i < pair_rows; i += tile_height) {
    const RankedPair* const pixels =
        samples + (i + row + refine_radius) * tile_pitch + column + refine_radius;
    __half2 medians = floats_of(pixels->ranks);
    if (!kFilled || __any_sync(whole_warp, (holes & holes_of_pair) != 0))
      medians = median_ranks_of(pixels, first_step);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t luminance = pixels->luminances >> 16 * half & 0xffff;
      const bool refines = !kFilled || (holes >> half * pair_rows / tile_height & 1) != 0;
      const __half2 ranks = refines ? medians : floats_of(pixels->ranks);
      const int rank = __half2int_rz(half == 0 ? __low2half(ranks) : __high2half(ranks));
      if (luminance != outside_luminance)
        a.out.write(first_x + column, first_y + i + row + half * pair_rows,
                    luminance == unknown_luminance ? unknown : list.numbers[rank]);
    }
    holes >>= 1;
  }
}

/* Confidence */

/// Returns how many of the samples around two pixels support these, in the halves of a word.
/// Unknown numbers are far_away.
__device__ std::uint32_t supports_of(const std::uint32_t* pixels) {
  std::uint32_t count = 0;
#pragma unroll
  for (int i = 0; i < refine_samples; ++i)
    count += supports(pixels[place_of_sample(i)], *pixels);
  return count;
}

__global__ void __launch_bounds__(threads)
    confidence_kernel(const __grid_constant__ RefineArguments a) {
  __shared__ std::uint32_t pairs[tile_pair_rows * tile_pitch];
  launch_dependents();
  grid_dependency_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * refine_height;
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
  for (int i = thread / tile_width; i < pair_rows; i += tile_height) {
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
  launch(confidence_kernel, refine_height, a);
}

}  // namespace cudavision::sgm
