// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

struct MapArguments {
  int width, height;
  int blocks_per_row;
  const std::uint16_t* from;  // the input map or, for the check, the right map
  std::uint16_t* to;
  bool libsgm;

  // For the check.
  Samples picture;
  int shift, max_diff, minimum;

  // For the medians.
  const std::uint16_t* left;  // the left map, if `from` is the right map
  int rows;                   // rows per block
  int alignment;              // alignment of map rows: 16, 4 or 2 bytes

  NumbersOut out;  // for the medians and write_kernel()
};

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) check_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x = static_cast<int>(blockIdx.x % a.blocks_per_row) * threads + threadIdx.x;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x >= a.width)
    return;
  const std::uint16_t* const right = a.from + static_cast<std::int64_t>(y) * a.width;
  std::uint16_t& value = a.to[static_cast<std::int64_t>(y) * a.width + x];
  const bool confirmed = a.libsgm ? is_confirmed_by_libsgm(value, a.picture.at(x, y), x, a.width,
                                                           right, a.shift, a.max_diff)
                                  : is_confirmed(value, x, a.width, a.minimum, right, a.max_diff);
  if (!confirmed)
    value = unknown;
}

constexpr int group = 8, group_words = group / 2;  // pixels of a thread, and their words

/// Loads columns x − 2 to x + group + 1, with 0 outside the picture. x is a multiple of group.
__device__ void load_around(const MapArguments& a, const std::uint16_t* row, int x,
                            std::uint32_t (&words)[group_words + 2]) {
  const auto word = [&](int column) -> std::uint32_t {
    const std::uint16_t* const at = row + column;
    if (column < 0 || column >= a.width)
      return 0;
    if (a.alignment >= 4)
      return *reinterpret_cast<const std::uint32_t*>(at);
    return at[0] | (column + 1 < a.width ? static_cast<std::uint32_t>(at[1]) << 16 : 0);
  };
  words[0] = word(x - 2);
  words[group_words + 1] = word(x + group);
  if (a.alignment == 16) {
    const uint4 own = *reinterpret_cast<const uint4*>(row + x);
    words[1] = own.x, words[2] = own.y, words[3] = own.z, words[4] = own.w;
  } else {
#pragma unroll
    for (int i = 0; i < group_words; ++i)
      words[1 + i] = word(x + 2 * i);
  }
}

/// x is a multiple of group; some columns may be outside the picture.
__device__ void medians_of_group(const MapArguments& a, const std::uint16_t* map, int x, int y,
                                 std::uint32_t (&medians)[group_words]) {
  const std::uint32_t border = a.libsgm ? 0 : 0x00010001u * unknown;
  if (y == 0 || y == a.height - 1) {
#pragma unroll
    for (int i = 0; i < group_words; ++i)
      medians[i] = border;
    return;
  }
  std::uint32_t rows[3][group_words + 2];
#pragma unroll
  for (int j = 0; j < 3; ++j)
    load_around(a, map + static_cast<std::int64_t>(y - 1 + j) * a.width, x, rows[j]);
  std::uint32_t low[group_words + 2], middle[group_words + 2], high[group_words + 2];
#pragma unroll
  for (int i = 0; i < group_words + 2; ++i) {
    const std::uint32_t less = __vminu2(rows[0][i], rows[1][i]);
    const std::uint32_t more = __vmaxu2(rows[0][i], rows[1][i]);
    low[i] = __vminu2(less, rows[2][i]);
    high[i] = __vmaxu2(more, rows[2][i]);
    middle[i] = __vmaxu2(less, __vminu2(more, rows[2][i]));
  }
  // With each column sorted into low, middle and high, the median of nine is the median of three
  // values: the largest low, the median of the middles, and the smallest high.
  const auto before = [](const std::uint32_t* words) {
    return __byte_perm(words[0], words[1], 0x5432);
  };
  const auto after = [](const std::uint32_t* words) {
    return __byte_perm(words[1], words[2], 0x5432);
  };
  const auto median_of_3 = [](std::uint32_t p, std::uint32_t q, std::uint32_t r) {
    return __vmaxu2(__vminu2(p, q), __vminu2(__vmaxu2(p, q), r));
  };
#pragma unroll
  for (int i = 0; i < group_words; ++i) {
    const std::uint32_t median =
        median_of_3(__vimax3_u16x2(before(low + i), low[i + 1], after(low + i)),
                    median_of_3(before(middle + i), middle[i + 1], after(middle + i)),
                    __vimin3_u16x2(before(high + i), high[i + 1], after(high + i)));
    const int column = x + 2 * i;
    const std::uint32_t inside = (column > 0 && column < a.width - 1 ? 0xffffu : 0) |
                                 (column + 1 < a.width - 1 ? 0xffff0000u : 0);
    medians[i] = (median & inside) | (border & ~inside);
  }
}

constexpr int max_segment = 2048;  // pixels of a row per block, a multiple of group
constexpr int max_rows = 8;        // rows per block

template <class Work>
__device__ void for_each_group(const MapArguments& a, const Work& work) {
  const int first = static_cast<int>(blockIdx.x) % a.blocks_per_row * max_segment;
  const int first_row = static_cast<int>(blockIdx.x) / a.blocks_per_row * a.rows;
  const int groups = divide_up(min(max_segment, a.width - first), group);
  const int count = groups * min(a.rows, a.height - first_row);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
    const int row = i / groups;
    work(first + group * (i - row * groups), first_row + row);
  }
}

/// Pixels that the right map does not confirm become unknown. x is a multiple of group.
__device__ void clear_unconfirmed(const MapArguments& a, int x, int y,
                                  std::uint32_t (&numbers)[group_words]) {
  const std::uint16_t* const right = a.from + static_cast<std::int64_t>(y) * a.width;
  std::uint32_t unconfirmed[group_words] = {};
#pragma unroll
  for (int i = 0; i < group; ++i) {
    const auto value = static_cast<std::uint16_t>(numbers[i / 2] >> 16 * (i % 2));
    const bool confirmed =
        a.libsgm ? x + i < a.width && is_confirmed_by_libsgm(value, a.picture.at(x + i, y), x + i,
                                                             a.width, right, a.shift, a.max_diff)
                 : is_confirmed(value, x + i, a.width, a.minimum, right, a.max_diff);
    unconfirmed[i / 2] |= confirmed ? 0 : 0xffffu << 16 * (i % 2);
  }
#pragma unroll
  for (int i = 0; i < group_words; ++i)
    numbers[i] |= unconfirmed[i];
}

template <bool kCheck>
__global__ void __launch_bounds__(threads) median_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  for_each_group(a, [&](int x, int y) {
    std::uint32_t medians[group_words];
    medians_of_group(a, kCheck ? a.left : a.from, x, y, medians);
    if constexpr (kCheck)
      clear_unconfirmed(a, x, y, medians);
    a.out.write_eight(x, y, a.width, medians);
  });
}

constexpr int written = 4;  // pixels that a thread of write_kernel() writes

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

/* Applies the mask. Most of its words are 0, so a warp reads 32 words at once and skips zeros. */

constexpr int mask_threads = 64;  // each reads one word of the mask

struct MaskArguments {
  View<const std::uint32_t> mask;
  std::uint16_t* map;
  int width;
  int blocks_per_row;
};

__global__ void __launch_bounds__(mask_threads)
    mask_kernel(const __grid_constant__ MaskArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  const int lane = threadIdx.x % 32;
  const int first = static_cast<int>(blockIdx.x % a.blocks_per_row) * mask_threads +
                    static_cast<int>(threadIdx.x) - lane;
  const std::uint32_t word = first + lane < a.mask.width ? a.mask.row(y)[first + lane] : 0;
  std::uint16_t* const row = a.map + static_cast<std::int64_t>(y) * a.width;
  for (unsigned marked = __ballot_sync(~0u, word != 0); marked != 0; marked &= marked - 1) {
    const int number = __ffs(marked) - 1;
    if (__shfl_sync(~0u, word, number) >> lane & 1)
      row[32 * (first + number) + lane] = unknown;
  }
}

MapArguments arguments_for(const StageConfig& config, int block_width) {
  MapArguments a{};
  a.width = config.width;
  a.height = config.height;
  a.blocks_per_row = divide_up(config.width, block_width);
  a.libsgm = config.libsgm();
  return a;
}

void describe_check(const StageConfig& config, const Check& check, MapArguments& a) {
  a.from = check.right;
  a.picture = Samples(check.picture);
  a.shift = check.subpixel ? 4 : 0;
  a.max_diff = check.max_diff;
  a.minimum = config.minimum;
}

/// Launches a median kernel for `map`. A thread gets at most one group, so all loads overlap.
void launch_medians(const StageResources& resources, Kernel<MapArguments> kernel, MapArguments& a,
                    const std::uint16_t* map) {
  a.alignment = alignment_of(map, sizeof(std::uint16_t) * static_cast<std::size_t>(a.width));
  const int groups = divide_up(std::min(a.width, max_segment), group);
  a.rows = std::min(max_rows, divide_up(threads / 2, groups));
  resources.queue.launch(
      kernel, static_cast<unsigned>(a.blocks_per_row) * divide_up(a.height, a.rows), threads, 0, a);
}

}  // namespace

void run_stage(const StageResources& resources, const Median& stage) {
  MapArguments a = arguments_for(resources.config, max_segment);
  a.from = stage.from;
  a.out = {resources.config, stage.to};
  launch_medians(resources, median_kernel<false>, a, stage.from);
}

void run_stage(const StageResources& resources, const Check& stage) {
  MapArguments a = arguments_for(resources.config, threads);
  describe_check(resources.config, stage, a);
  a.to = stage.left;
  resources.queue.launch(check_kernel, static_cast<unsigned>(a.blocks_per_row) * a.height, threads,
                         0, a);
}

void median_and_check(const StageResources& resources, const Median& median, const Check& check,
                      const NumbersOut& out) {
  MapArguments a = arguments_for(resources.config, max_segment);
  describe_check(resources.config, check, a);
  a.left = median.from;
  a.out = out;
  launch_medians(resources, median_kernel<true>, a, median.from);
}

void run_stage(const StageResources& resources, const ApplyMask& stage) {
  const MaskArguments a{stage.mask, stage.map, resources.config.width,
                        divide_up(stage.mask.width, mask_threads)};
  resources.queue.launch(mask_kernel,
                         static_cast<unsigned>(a.blocks_per_row) * resources.config.height,
                         mask_threads, 0, a);
}

void run_stage(const StageResources& resources, const Write& stage) {
  MapArguments a = arguments_for(resources.config, written * threads);
  a.from = stage.map;
  a.out = {resources.config, stage};
  resources.queue.launch(write_kernel, static_cast<unsigned>(a.blocks_per_row) * a.height, threads,
                         0, a);
}

}  // namespace cudavision::sgm
