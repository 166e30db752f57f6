// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that visit each pixel of a map once, on CUDA: the median, the left-right check and the
// output of disparities.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct MapArguments {
  int width, height;
  int blocks_per_row;
  const std::uint16_t* from;  // the map; for the check the right one
  std::uint16_t* to;
  bool libsgm;

  // Only the check uses these.
  Samples picture;
  int shift, max_diff, minimum;

  // Only the medians use these.
  const std::uint16_t* left;  // not without the check
  int disparities;            // likewise
  bool even;                  // rows begin at addresses of whole words

  NumbersOut out;  // of the medians, and of write
};

namespace {

constexpr int threads = 256;

/// The pixel of a thread; x may lie beyond the end of the row.
struct MapPixel {
  int x, y;
  std::int64_t row;

  __device__ explicit MapPixel(const MapArguments& a)
      : x(static_cast<int>(blockIdx.x % a.blocks_per_row) * threads + threadIdx.x),
        y(static_cast<int>(blockIdx.x / a.blocks_per_row)),
        row(static_cast<std::int64_t>(y) * a.width) {}
};

__global__ void __launch_bounds__(threads) check_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const MapPixel at(a);
  if (at.x >= a.width)
    return;
  const std::uint16_t value = a.to[at.row + at.x];
  const std::uint16_t* const right = a.from + at.row;
  const bool confirmed = a.libsgm
                             ? is_confirmed_by_libsgm(value, a.picture.at(at.x, at.y), at.x,
                                                      a.width, right, a.shift, a.max_diff)
                             : is_confirmed(value, at.x, a.width, a.minimum, right, a.max_diff);
  if (!confirmed)
    a.to[at.row + at.x] = unknown;
}

/* Medians */

/// Returns the medians at the columns x and x + 1 of a row, in the halves of a word. x is even; the
/// second column may lie outside the picture.
__device__ std::uint32_t median_pair(const MapArguments& a, const std::uint16_t* map, int x,
                                     int y) {
  const std::uint32_t border = a.libsgm ? 0 : 0x00010001u * unknown;
  if (y == 0 || y == a.height - 1)
    return border;
  // Sorts the rows of the columns x − 2 to x + 3.
  std::uint32_t low[3], middle[3], high[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int column = x - 2 + 2 * i;
    std::uint32_t rows[3];
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      const std::uint16_t* const at = map + static_cast<std::int64_t>(y - 1 + j) * a.width + column;
      if (column < 0 || column >= a.width)
        rows[j] = 0;
      else if (a.even)
        rows[j] = *reinterpret_cast<const std::uint32_t*>(at);
      else
        rows[j] = at[0] | (column + 1 < a.width ? static_cast<std::uint32_t>(at[1]) << 16 : 0);
    }
    const std::uint32_t less = __vminu2(rows[0], rows[1]), more = __vmaxu2(rows[0], rows[1]);
    low[i] = __vminu2(less, rows[2]);
    high[i] = __vmaxu2(more, rows[2]);
    middle[i] = __vmaxu2(less, __vminu2(more, rows[2]));
  }
  // The median of nine is that of the largest low, the median middle and the smallest high.
  const auto before = [](const std::uint32_t(&words)[3]) {
    return __byte_perm(words[0], words[1], 0x5432);
  };
  const auto after = [](const std::uint32_t(&words)[3]) {
    return __byte_perm(words[1], words[2], 0x5432);
  };
  const auto median_of_3 = [](std::uint32_t p, std::uint32_t q, std::uint32_t r) {
    return __vmaxu2(__vminu2(p, q), __vminu2(__vmaxu2(p, q), r));
  };
  const std::uint32_t medians = median_of_3(__vmaxu2(__vmaxu2(before(low), low[1]), after(low)),
                                            median_of_3(before(middle), middle[1], after(middle)),
                                            __vminu2(__vminu2(before(high), high[1]), after(high)));
  const std::uint32_t inside =
      (x > 0 && x < a.width - 1 ? 0xffffu : 0) | (x + 1 < a.width - 1 ? 0xffff0000u : 0);
  return (medians & inside) | (border & ~inside);
}

__global__ void __launch_bounds__(threads) median_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x = static_cast<int>(blockIdx.x % a.blocks_per_row * threads + threadIdx.x) * 2;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x < a.width)
    a.out.write_pair(x, y, a.width, median_pair(a, a.from, x, y));
}

constexpr int segment = 2048;  // pixels of a row per block

/// A block makes a segment of a row. Unless the right map is ready for the check, the block first
/// makes the medians of it that the check may need.
template <bool kRightIsReady>
__global__ void __launch_bounds__(threads)
    median_and_check_kernel(const __grid_constant__ MapArguments a) {
  extern __shared__ std::uint32_t right_medians[];
  launch_dependents();
  grid_dependency_wait();
  const int first = static_cast<int>(blockIdx.x % a.blocks_per_row) * segment;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  const int end = min(first + segment, a.width);
  const std::uint16_t* right = a.from + static_cast<std::int64_t>(y) * a.width;
  if constexpr (!kRightIsReady) {
    // Left pixel x meets the columns x − shift − d.
    const int shift = a.libsgm ? 0 : a.minimum;
    const int right_begin = max(0, first - shift - a.disparities) & ~1;
    const int right_end = min(a.width, end - shift);
    for (int x = right_begin + 2 * static_cast<int>(threadIdx.x); x < right_end; x += 2 * threads)
      right_medians[(x - right_begin) / 2] = median_pair(a, a.from, x, y);
    __syncthreads();
    right = reinterpret_cast<const std::uint16_t*>(right_medians) - right_begin;
  }
  for (int x = first + 2 * static_cast<int>(threadIdx.x); x < end; x += 2 * threads) {
    const std::uint32_t medians = median_pair(a, a.left, x, y);
    std::uint32_t results = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto value = static_cast<std::uint16_t>(medians >> 16 * i);
      const bool confirmed =
          x + i < a.width &&
          (a.libsgm ? is_confirmed_by_libsgm(value, a.picture.at(x + i, y), x + i, a.width, right,
                                             a.shift, a.max_diff)
                    : is_confirmed(value, x + i, a.width, a.minimum, right, a.max_diff));
      results |= static_cast<std::uint32_t>(confirmed ? value : unknown) << 16 * i;
    }
    a.out.write_pair(x, y, a.width, results);
  }
}

/* Output */

constexpr int written = 4;  // pixels per thread

__global__ void __launch_bounds__(threads) write_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  const int first = static_cast<int>(blockIdx.x % a.blocks_per_row) * written * threads +
                    static_cast<int>(threadIdx.x);
  const std::uint16_t* const from = a.from + static_cast<std::int64_t>(y) * a.width;
#pragma unroll
  for (int i = 0; i < written; ++i) {
    const int x = first + i * threads;
    if (x >= a.width)
      return;
    a.out.write(x, y, from[x]);
  }
}

}  // namespace

MapsCuda::MapsCuda(LaunchQueue& queue, const StageConfig& config)
    : config_(config), queue_(queue) {}

MapArguments MapsCuda::arguments() const {
  MapArguments a{};
  a.width = config_.width;
  a.height = config_.height;
  a.blocks_per_row = (config_.width + threads - 1) / threads;
  a.libsgm = config_.libsgm();
  return a;
}

MapArguments MapsCuda::check_arguments(const SamplePlane& picture, bool subpixel,
                                       int max_diff) const {
  MapArguments a = arguments();
  a.picture = Samples(picture);
  a.shift = subpixel ? 4 : 0;
  a.max_diff = max_diff;
  a.minimum = config_.minimum;
  return a;
}

bool MapsCuda::has_even_rows(const std::uint16_t* map) const {
  return config_.width % 2 == 0 && reinterpret_cast<std::uintptr_t>(map) % 4 == 0;
}

void MapsCuda::launch(Kernel<MapArguments> kernel, const MapArguments& a) const {
  queue_.launch(kernel, static_cast<unsigned>(a.blocks_per_row) * a.height, threads, 0, a);
}

void MapsCuda::median(const std::uint16_t* from, std::uint16_t* to) const {
  MapArguments a = arguments();
  a.blocks_per_row = (config_.width + 2 * threads - 1) / (2 * threads);
  a.from = from;
  a.even = has_even_rows(from);
  a.out = {config_, to};
  launch(median_kernel, a);
}

void MapsCuda::check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel,
                     int max_diff, std::uint16_t* left) const {
  MapArguments a = check_arguments(picture, subpixel, max_diff);
  a.from = right;
  a.to = left;
  launch(check_kernel, a);
}

MapArguments MapsCuda::median_arguments(const SamplePlane& picture, const std::uint16_t* left,
                                        const std::uint16_t* right, bool subpixel, int max_diff,
                                        const NumbersOut& out) const {
  MapArguments a = check_arguments(picture, subpixel, max_diff);
  a.blocks_per_row = (config_.width + segment - 1) / segment;
  a.left = left;
  a.from = right;
  a.out = out;
  a.disparities = config_.disparities;
  a.even = has_even_rows(left) && has_even_rows(right);
  return a;
}

void MapsCuda::median_and_check(const SamplePlane& picture, const std::uint16_t* left,
                                const std::uint16_t* right, bool subpixel, int max_diff,
                                const NumbersOut& out) const {
  const MapArguments a = median_arguments(picture, left, right, subpixel, max_diff, out);
  const std::size_t shared_bytes =
      sizeof(std::uint16_t) * static_cast<std::size_t>(segment + config_.disparities + 4);
  queue_.launch(median_and_check_kernel<false>, static_cast<unsigned>(a.blocks_per_row) * a.height,
                threads, shared_bytes, a);
}

void MapsCuda::median_left_and_check(const SamplePlane& picture, const std::uint16_t* left,
                                     const std::uint16_t* right, int max_diff,
                                     std::uint16_t* to) const {
  launch(median_and_check_kernel<true>,
         median_arguments(picture, left, right, true, max_diff, {config_, to}));
}

void MapsCuda::write(const std::uint16_t* map, const NumbersOut& out) const {
  MapArguments a = arguments();
  a.blocks_per_row = (config_.width + written * threads - 1) / (written * threads);
  a.from = map;
  a.out = out;
  launch(write_kernel, a);
}

}  // namespace cudavision::sgm
