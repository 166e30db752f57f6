// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Census features on CUDA, of one or two pictures in a launch. A block loads the samples of its
// tile and the halo around it into shared memory; a thread makes the features of four neighbouring
// pixels from rows of samples, for census_gradient in two rows. The samples of the left picture
// also give P2 of the steps to these pixels.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct CensusArguments {
  Samples pictures[2];  // left and right, or just one
  FeaturePlane features[2];
  bool whole[2];      // features can be stored four at a time: rows and addresses allow it
  int shift;          // from samples to levels of 8 bits; only for census_gradient
  int tiles;          // per row of tiles
  int blocks;         // per picture
  bool clear_border;  // as libSGM does
  StepPenalties penalties;
};

namespace {

using Census = Config::Census;

constexpr int radius_x = 4, radius_y = 3;
constexpr int pixels = 4;  // per thread
constexpr int tile_width = 32 * pixels, tile_height = 8;
constexpr int threads = 32 * tile_height;
constexpr int window = pixels + 2 * radius_x;
constexpr int tile_pitch = tile_width + 2 * radius_x;

/// A feature under construction. kBits is the number of bits of the whole feature.
template <int kBits>
struct FeatureBits {
  std::uint32_t high = 0, low = 0;

  /// Appends bit `number`, counted from the first, which is 1 if a is larger than b.
  __device__ void add(int number, std::uint32_t a, std::uint32_t b) {
    std::uint32_t& word = number < kBits - 32 ? high : low;
    word = __funnelshift_l(b - a, word, 1);  // shifts in the sign of b − a
  }
};

__device__ void load_window(const std::uint32_t* from, std::uint32_t (&to)[window]) {
#pragma unroll
  for (int i = 0; i < window; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(from + i);
    to[i] = four.x;
    to[i + 1] = four.y;
    to[i + 2] = four.z;
    to[i + 3] = four.w;
  }
}

/// Compares pixels opposite each other. tile points to the thread's window in its own row.
template <class Bits>
__device__ void symmetric(const std::uint32_t* tile, Bits (&bits)[pixels]) {
  std::uint32_t above[window], below[window];
  int number = 0;
#pragma unroll
  for (int dy = -radius_y; dy < 0; ++dy) {
    load_window(tile + dy * tile_pitch, above);
    load_window(tile - dy * tile_pitch, below);
#pragma unroll
    for (int dx = -radius_x; dx <= radius_x; ++dx, ++number)
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        bits[i].add(number, above[radius_x + i + dx], below[radius_x + i - dx]);
  }
  load_window(tile, above);
#pragma unroll
  for (int dx = -radius_x; dx < 0; ++dx, ++number)
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      bits[i].add(number, above[radius_x + i + dx], above[radius_x + i - dx]);
}

/// Compares the centre with each neighbour.
template <int kRadiusX, int kRadiusY, class Bits>
__device__ void neighbours(const std::uint32_t* tile, Bits (&bits)[pixels]) {
  std::uint32_t row[window], centre[pixels];
  load_window(tile, row);
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    centre[i] = row[radius_x + i];
  int number = 0;
#pragma unroll
  for (int dy = -kRadiusY; dy <= kRadiusY; ++dy) {
    load_window(tile + dy * tile_pitch, row);
#pragma unroll
    for (int dx = -kRadiusX; dx <= kRadiusX; ++dx) {
      if (dx == 0 && dy == 0)
        continue;
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        bits[i].add(number, centre[i], row[radius_x + i + dx]);
      ++number;
    }
  }
}

__device__ bool at_border(const Samples& picture, int x, int y) {
  return x < radius_x || x >= picture.width - radius_x || y < radius_y ||
         y >= picture.height - radius_y;
}

/// The picture and the tile of a block.
struct CensusBlock {
  int picture;
  int x, y;  ///< the first pixel

  __device__ CensusBlock(const CensusArguments& a, int width, int height)
      : picture(static_cast<int>(blockIdx.x) / a.blocks) {
    const int number = static_cast<int>(blockIdx.x) - picture * a.blocks;
    y = number / a.tiles;
    x = (number - y * a.tiles) * width;
    y *= height;
  }
};

/// Writes P2 of the steps to a thread's pixels. own points to the luminance of the first one in a
/// tile, at a multiple of 16 bytes. width is that of the picture.
template <class Luminance>
__device__ void write_penalties(const StepPenalties& penalties, const std::uint8_t* table,
                                const Luminance* own, int tile_pitch, int x, int y, int width) {
  const auto four_from = [](const Luminance* from) { return *reinterpret_cast<const int4*>(from); };
  const auto penalty = [&](int here, int before) {
    const int step = here < before ? before - here : here - before;
    return table[step >> penalties.step_shift] * 0x10001u;
  };
  const int4 here = four_from(own), above = four_from(own - tile_pitch);
  const int before = static_cast<int>(own[-1]);
  uint4 vertical = {penalty(here.x, above.x), penalty(here.y, above.y), penalty(here.z, above.z),
                    penalty(here.w, above.w)};
  uint4 horizontal = {penalty(here.x, before), penalty(here.y, here.x), penalty(here.z, here.y),
                      penalty(here.w, here.z)};
  // Steps from outside: above the picture, on its left and on its right.
  const std::uint32_t from_above = y > 0 ? 0xffffffffu : 0;
  const std::uint32_t from_left = x > 0 ? 0xffffffffu : 0;
  const auto in_row = [&](uint4& words, int end) {
    words.x = x < end ? words.x : 0;
    words.y = x + 1 < end ? words.y : 0;
    words.z = x + 2 < end ? words.z : 0;
    words.w = x + 3 < end ? words.w : 0;
  };
  const std::int64_t pixel = static_cast<std::int64_t>(y) * penalties.pitch + x;
  const auto store = [&](std::uint32_t* plane, uint4 words, std::uint32_t first,
                         std::uint32_t others, int end) {
    words.x &= first;
    words.y &= others, words.z &= others, words.w &= others;
    if (x + pixels > end)
      in_row(words, end);
    *reinterpret_cast<uint4*>(plane + pixel) = words;
  };
  store(penalties.vertical, vertical, from_above, from_above, width);
  store(penalties.horizontal, horizontal, from_left, 0xffffffffu, width);
  if (!penalties.diagonal[0])
    return;
  const int left = static_cast<int>(own[-1 - tile_pitch]);
  const int right = static_cast<int>(own[pixels - tile_pitch]);
  store(penalties.diagonal[0],
        {penalty(here.x, left), penalty(here.y, above.x), penalty(here.z, above.y),
         penalty(here.w, above.z)},
        from_above & from_left, from_above, width);
  store(penalties.diagonal[1],
        {penalty(here.x, above.y), penalty(here.y, above.z), penalty(here.z, above.w),
         penalty(here.w, right)},
        from_above, from_above, width - 1);
}

/// Stores a thread's features to `to`, and those at the ends of the row to first and last.
__device__ void store_features(const CensusArguments& a, int picture, int x,
                               const std::uint32_t (&features)[pixels], std::uint32_t* to,
                               std::uint32_t& first, std::uint32_t& last) {
  const int width = a.pictures[picture].width;
  if (a.whole[picture]) {
    *reinterpret_cast<uint4*>(to) = {features[0], features[1], features[2], features[3]};
  } else {
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (x + i < width && a.features[picture].has(x + i))
        to[i] = features[i];
  }
  if (x == 0)
    first = features[0];
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    if (x + i == width - 1)
      last = features[i];
}

/// Fills the columns of a plane beyond the picture beside the block's tile. edges[0] and edges[1]
/// hold the first and the last features of the tile's rows.
template <int kRows>
__device__ void fill_outside(const CensusArguments& a, const CensusBlock& at, int tile_width,
                             const std::uint32_t (&edges)[2][kRows]) {
  const FeaturePlane& plane = a.features[at.picture];
  const Samples& samples = a.pictures[at.picture];
  const int rows = min(kRows, samples.height - at.y);
  const auto fill = [&](int begin, int end, const std::uint32_t(&features)[kRows]) {
    const int count = max(0, end - begin);
    for (int i = threadIdx.x; i < rows * count; i += threads) {
      const int row = i / count;
      static_cast<std::uint32_t*>(
          plane.data)[(at.y + row) * plane.pitch + begin + i - row * count] =
          plane.replicates ? features[row] : 0;
    }
  };
  if (at.x == 0)
    fill(plane.begin, min(plane.shift, plane.end), edges[0]);
  if (at.x + tile_width >= samples.width)
    fill(max(plane.begin, samples.width + plane.shift), plane.end, edges[1]);
}

template <Census kCensus>
__global__ void __launch_bounds__(threads)
    census_kernel(const __grid_constant__ CensusArguments a) {
  constexpr int bits = census_bits(kCensus);
  __shared__ __align__(16) std::uint32_t tile[(tile_height + 2 * radius_y) * tile_pitch];
  __shared__ std::uint32_t edges[2][tile_height];
  __shared__ std::uint8_t table[256];
  launch_dependents();
  grid_dependency_wait();

  const CensusBlock at(a, tile_width, tile_height);
  const Samples& samples = a.pictures[at.picture];
  table[threadIdx.x] = a.penalties.table[threadIdx.x];
  for (int i = threadIdx.x; i < (tile_height + 2 * radius_y) * tile_pitch; i += threads) {
    const int row = i / tile_pitch;
    tile[i] = samples.at_or_edge(at.x - radius_x + i - row * tile_pitch, at.y - radius_y + row);
  }
  __syncthreads();

  const int column = threadIdx.x % 32 * pixels, row = threadIdx.x / 32;
  const int x = at.x + column, y = at.y + row;
  const bool inside = x < samples.width && y < samples.height;
  const std::uint32_t* const own = tile + (row + radius_y) * tile_pitch + column;
  FeatureBits<bits> made[pixels];
  if (inside) {
    if constexpr (kCensus == Census::symmetric_9x7)
      symmetric(own, made);
    else if constexpr (kCensus == Census::neighbours_9x7)
      neighbours<radius_x, radius_y>(own, made);
    else
      neighbours<2, 2>(own, made);
    if (a.clear_border)
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        if (at_border(samples, x + i, y))
          made[i] = {};
  }

  const FeaturePlane& plane = a.features[at.picture];
  if constexpr (bits > 32) {
    // A feature is two words, the lower one first.
    auto* const to = static_cast<uint2*>(plane.data) + y * plane.pitch + x;
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      if (inside && x + i < samples.width)
        to[i] = {made[i].low, made[i].high};
  } else {
    std::uint32_t features[pixels];
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      features[i] = made[i].low;
    if (inside) {
      auto* const to = static_cast<std::uint32_t*>(plane.data) + y * plane.pitch + x + plane.shift;
      store_features(a, at.picture, x, features, to, edges[0][row], edges[1][row]);
      if (a.penalties.vertical && at.picture == 0)
        write_penalties(a.penalties, table, own + radius_x, tile_pitch, x, y, samples.width);
    }
    if (!plane.has_margins())
      return;
    __syncthreads();
    fill_outside(a, at, tile_width, edges);
  }
}

/* census_gradient */

constexpr int gradient_height = 2 * tile_height;  // a thread makes pixels in two rows
/// The halo is larger than necessary, so that windows are aligned.
constexpr int gradient_halo = 8, gradient_window = pixels + 2 * gradient_halo;
constexpr int gradient_pitch = tile_width + 2 * gradient_halo;
static_assert(gradient_radius_x <= gradient_halo);

/// The samples of a row around a thread's pixels.
struct GradientRow {
  int samples[gradient_window];

  /// own points to the thread's first pixel. Loads the samples from −kBefore to before pixels +
  /// kAfter, which are multiples of 4.
  template <int kBefore, int kAfter>
  __device__ void load(const int* own) {
#pragma unroll
    for (int i = -kBefore; i < pixels + kAfter; i += 4) {
      const int4 four = *reinterpret_cast<const int4*>(own + i);
      at(i) = four.x, at(i + 1) = four.y, at(i + 2) = four.z, at(i + 3) = four.w;
    }
  }
  __device__ int& at(int x) {
    return samples[gradient_halo + x];
  }
};

/// Makes the features of a thread's pixels. own points to the first one in the tile.
__device__ void make_gradient(const int* own, std::uint32_t (&features)[pixels]) {
  GradientRow above, here, below;
  above.load<8, 8>(own - gradient_pitch);
  here.load<4, 4>(own);
  below.load<8, 8>(own + gradient_pitch);
  constexpr int reach = 2;  // of Dxx
  int columns[pixels + 2 * reach], means[pixels];
#pragma unroll
  for (int i = 0; i < pixels + 2 * reach; ++i) {
    const int x = i - reach;
    columns[i] = above.at(x) + 2 * here.at(x) + below.at(x);
  }
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const int* const column = columns + reach + i;
    means[i] = (column[-1] + 2 * column[0] + column[1] + 8) >> 4;
    features[i] = 0;
  }
  // Shifts in the sign of b − a: 1 if a is larger than b.
  const auto add = [](std::uint32_t& feature, int a, int b) {
    feature = __funnelshift_l(static_cast<std::uint32_t>(b - a), feature, 1);
  };
#pragma unroll
  for (int n = 0; n < gradient_neighbours; ++n) {
    const Neighbour neighbour = gradient_neighbour(n);
    GradientRow other;
    if (neighbour.dy < -1 || neighbour.dy > 1)
      other.load<4, 4>(own + neighbour.dy * gradient_pitch);
    GradientRow& row = neighbour.dy == -1  ? above
                       : neighbour.dy == 0 ? here
                       : neighbour.dy == 1 ? below
                                           : other;
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      add(features[i], means[i], row.at(i + neighbour.dx));
  }
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const int* const column = columns + reach + i;
    const int sx = column[1] - column[-1];
    const int sy = below.at(i - 1) + 2 * below.at(i) + below.at(i + 1) - above.at(i - 1) -
                   2 * above.at(i) - above.at(i + 1);
    const int dxx = 2 * column[0] - column[-2] - column[2];
#pragma unroll
    for (int n = 0; n < 16; ++n)
      add(features[i], n < 8 ? sx : n < 12 ? sy : dxx, gradient_threshold(n));
  }
}

__global__ void __launch_bounds__(threads)
    gradient_kernel(const __grid_constant__ CensusArguments a) {
  __shared__ __align__(16) int tile[(gradient_height + 2 * gradient_radius_y) * gradient_pitch];
  __shared__ std::uint32_t edges[2][gradient_height];
  __shared__ std::uint8_t table[256];
  launch_dependents();
  grid_dependency_wait();

  const CensusBlock at(a, tile_width, gradient_height);
  const Samples& samples = a.pictures[at.picture];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  table[threadIdx.x] = a.penalties.table[threadIdx.x];
  for (int row = warp; row < gradient_height + 2 * gradient_radius_y; row += threads / 32)
    for (int i = lane; i < gradient_pitch; i += 32)
      tile[row * gradient_pitch + i] = static_cast<int>(
          samples.at_or_edge(at.x - gradient_halo + i, at.y - gradient_radius_y + row) >> a.shift);
  __syncthreads();

  const FeaturePlane& plane = a.features[at.picture];
  const int x = at.x + pixels * lane;
#pragma unroll 1
  for (int row = warp; row < gradient_height; row += threads / 32) {
    const int y = at.y + row;
    if (x >= samples.width || y >= samples.height)
      break;
    const int* const own =
        tile + (row + gradient_radius_y) * gradient_pitch + pixels * lane + gradient_halo;
    std::uint32_t features[pixels];
    make_gradient(own, features);
    auto* const to = static_cast<std::uint32_t*>(plane.data) + y * plane.pitch + x + plane.shift;
    store_features(a, at.picture, x, features, to, edges[0][row], edges[1][row]);
    if (a.penalties.vertical && at.picture == 0)
      write_penalties(a.penalties, table, own, gradient_pitch, x, y, samples.width);
  }
  if (!plane.has_margins())
    return;
  __syncthreads();
  fill_outside(a, at, tile_width, edges);
}

Kernel<CensusArguments> kernel_for(Census census) {
  switch (census) {
    case Census::symmetric_9x7:
      return census_kernel<Census::symmetric_9x7>;
    case Census::neighbours_9x7:
      return census_kernel<Census::neighbours_9x7>;
    case Census::census_gradient:
      return gradient_kernel;
    default:
      return census_kernel<Census::neighbours_5x5>;
  }
}

}  // namespace

CensusCuda::CensusCuda(LaunchQueue& queue, const StageConfig& config)
    : config_(config), queue_(queue), kernel_(kernel_for(config.census)) {}

void CensusCuda::run(const SamplePlane& picture, void* features) const {
  CensusArguments a{};
  a.pictures[0] = Samples(picture);
  a.features[0] = dense(features);
  launch(a, 1);
}

void CensusCuda::run(const SamplePlane& left, const SamplePlane& right,
                     const FeaturePlane& left_features, const FeaturePlane& right_features,
                     const StepPenalties& penalties) const {
  CensusArguments a{};
  a.pictures[0] = Samples(left);
  a.pictures[1] = Samples(right);
  a.features[0] = left_features;
  a.features[1] = right_features;
  a.penalties = penalties;
  launch(a, 2);
}

FeaturePlane CensusCuda::dense(void* features) const {
  FeaturePlane plane;
  plane.data = features;
  plane.pitch = config_.width;
  plane.end = config_.width;
  return plane;
}

void CensusCuda::launch(CensusArguments& a, int pictures_count) const {
  const bool gradient = config_.census == Census::census_gradient;
  const int height = gradient ? gradient_height : tile_height;
  a.shift = config_.bits - 8;
  a.tiles = (config_.width + tile_width - 1) / tile_width;
  a.blocks = a.tiles * ((config_.height + height - 1) / height);
  a.clear_border = config_.libsgm();
  for (int i = 0; i < pictures_count; ++i) {
    const FeaturePlane& plane = a.features[i];
    a.whole[i] = config_.width % pixels == 0 && plane.pitch % pixels == 0 && plane.shift == 0 &&
                 plane.end >= config_.width &&
                 reinterpret_cast<std::uintptr_t>(plane.data) % 16 == 0;
  }
  queue_.launch(kernel_, static_cast<unsigned>(pictures_count) * static_cast<unsigned>(a.blocks),
                threads, 0, a);
}

}  // namespace cudavision::sgm
