// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Winner takes all from 16-bit sums: both maps in one pass over the sums. A block advances along a
// row, some columns at a time. For the left map, several lanes hold a column's sums in registers.
// For the right map, the sums go to shared memory, which also keeps each right pixel's best so far.
//
// Sums are at most 8·255 (11 bits), so 32·sum + index fits 16 bits for indices of 5 bits. The
// minimum of these values is the smallest sum with the lowest index.

#include <bit>

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

struct SelectArguments {
  const std::uint16_t* sums;
  WtaResult winners;
  float uniqueness;
  Subpixel subpixel;
  bool whole;  // true if map values are whole disparities
  int width, disparities;
  int right_shift;   // column r of the right map is at p = r + right_shift
  int pairs, tasks;  // see select_right()
  std::uint32_t per_pair;
};

constexpr int many_rows = 2000;  // from this height on, small blocks fill the GPU
constexpr int max_vectors = 4;   // vectors per thread
constexpr std::uint32_t nothing = 0xffffffffu;
constexpr std::uint32_t no_sums = 0x07ff07ffu;  // two values larger than any sum

/// kLanes is the number of lanes per column, a power of two and at least 2. Positions in shared
/// memory are in vectors of 8 sums.
template <int kLanes, int kThreads>
struct RowPlan {
  static constexpr int lanes = kLanes, threads = kThreads;
  static constexpr int columns = kThreads / kLanes;          ///< columns processed at a time
  static constexpr int group = columns < 16 ? columns : 16;  ///< see select_right
  /// Each column's sums are padded on both sides with at least `group` values larger than any sum,
  /// so that following a diagonal needs no bounds check.
  static constexpr int before = group / 8;
  static constexpr int maximum = kLanes * max_vectors;
  /// Avoids bank conflicts of shared memory between the vectors that 8 lanes store at once and, as
  /// far as possible, between equal disparities of different columns.
  static constexpr int pitch = kLanes == 2   ? (maximum + before + 1) / 4 * 4 + 2
                               : kLanes == 4 ? (maximum + before + 3) / 8 * 8 + 4
                                             : (maximum + before) / 2 * 2 + 1;
  static constexpr int pair = 2 * pitch + (kLanes == 4 ? 1 : 0);
  static constexpr int numbers = before + columns / 2 * pair;
  static_assert(group % 8 == 0 && pitch >= maximum + before);

  static __device__ int vector_of(int column) {
    return before + column / 2 * pair + column % 2 * pitch;
  }

  /// Pixels per ring buffer. Neighbouring threads process every other pixel of the right map, so
  /// even and odd pixels have separate ring buffers.
  static constexpr int ring = std::bit_ceil((8u * maximum + columns) / 2);
  static __device__ int slot_of(int p) { return (p & 1) * ring + (p >> 1 & (ring - 1)); }

  static constexpr std::size_t shared_bytes =
      sizeof(uint4) * numbers + sizeof(std::uint32_t) * (columns + 2 * ring);
};

/// Returns 1024·sum + disparity. indexed is 32·sum + index, and the disparity is first + index.
__device__ std::uint32_t key_of(std::uint32_t indexed, int first) {
  return 32 * indexed - 31 * (indexed & 31) + static_cast<std::uint32_t>(first);
}

template <int kLanes>
__device__ std::uint32_t min_of_lanes(std::uint32_t value) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    value = min(value, __shfl_xor_sync(whole_warp, value, distance));
  return value;
}

struct LeftBest {
  std::uint32_t key;      ///< key of the smallest sum, equal in all lanes
  int word;               ///< this word and the next one hold the best sum and its neighbours
  int near;               ///< the lane's vector that holds either word, or its first if none does
  std::uint32_t minimum;  ///< the smallest sums of the lane's other vectors, in both halves
};

/// vectors are the column's vectors part, part + kLanes, part + 2·kLanes…, where part is the lane.
template <int kLanes>
__device__ LeftBest best_of(const uint4 (&vectors)[max_vectors], int part) {
  std::uint32_t minima[max_vectors];
#pragma unroll
  for (int i = 0; i < max_vectors; ++i) {
    const std::uint32_t index = 0x00010001u * 4 * i;
    minima[i] = __vimin3_u16x2(vectors[i].x * 32 + index, vectors[i].y * 32 + index + 0x00010001u,
                               vectors[i].z * 32 + index + 0x00020002u);
    minima[i] = __vminu2(minima[i], vectors[i].w * 32 + index + 0x00030003u);
  }
  const std::uint32_t both = __vminu2(__vimin3_u16x2(minima[0], minima[1], minima[2]), minima[3]);
  // One more bit marks the half with the smallest value.
  const std::uint32_t one = min((both & 0xffff) * 2, both >> 15 | 1);
  const std::uint32_t vector = static_cast<std::uint32_t>(part) + (one >> 3 & 7) * kLanes;
  LeftBest best{min_of_lanes<kLanes>((one >> 6 << 10) + 8 * vector + (one & 7)), 0, part, nothing};

  best.word = (static_cast<int>(best.key & 1023) - 1) >> 1;
  // Neighbouring vectors belong to different lanes, so a lane holds at most one of first and last.
  const int first = best.word >> 2, last = (best.word + 1) >> 2;
  if ((last - part) % kLanes == 0)
    best.near = last;
  if ((first - part) % kLanes == 0)
    best.near = first;
#pragma unroll
  for (int i = 0; i < max_vectors; ++i)
    if (best.near - part != i * kLanes)
      best.minimum = __vminu2(best.minimum, minima[i]);
  best.minimum = best.minimum >> 5 & no_sums;
  return best;
}

/// Returns the smallest sum outside words best.word and best.word + 1. near is vector best.near.
template <int kLanes>
__device__ std::uint32_t min_of_others(const LeftBest& best, const uint4& near) {
  const std::uint32_t words[4] = {near.x, near.y, near.z, near.w};
  const int first = best.word - 4 * best.near;
  std::uint32_t minimum = best.minimum;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first != i && first != i - 1)
      minimum = __vminu2(minimum, words[i]);
  return min_of_lanes<kLanes>(min(minimum & 0xffff, minimum >> 16));
}

/// Writes a pixel of the left map. sums are the column's sums, two per word. found holds the best
/// key and, from bit 21 on, the smallest sum of the other words.
__device__ void select_left(const SelectArguments& a, const std::uint32_t* sums,
                            std::uint32_t found, std::int64_t pixel) {
  const int best = static_cast<int>(found & 1023);
  const std::uint32_t minimum = found >> 10 & 2047;
  // The two words also hold a fourth sum, two disparities from the best.
  const int word = (best - 1) >> 1;
  const std::uint32_t first = sums[word], last = sums[word + 1];
  const bool even = best % 2 == 0;
  const std::uint32_t fourth = even ? first & 0xffff : last >> 16;
  const std::uint32_t second = min(found >> 21, fourth);
  const bool known = is_unique(minimum, second, a.uniqueness);
  int number = a.whole ? best : 16 * best;
  if (a.subpixel != Subpixel::none && best > 0 && best < a.disparities - 1) {
    const int l = static_cast<int>(even ? first >> 16 : first & 0xffff);
    const int c = static_cast<int>(minimum);
    const int r = static_cast<int>(even ? last >> 16 : last & 0xffff);
    number += offset_of(a.subpixel, l, c, r);
  }
  a.winners.left[pixel] = known ? static_cast<std::uint16_t>(number) : unknown;
  if (a.winners.confidence)
    a.winners.confidence[pixel] = known ? confidence_of(minimum, second) : 0;
}

/// Updates the best sums of the right map, where sum (x, d) belongs to pixel x − d. The same word
/// of an even column and of the next column belongs to three pixels: the lower halves to p and
/// p + 1, the upper halves to p − 1 and p. Two columns further, the next word belongs to the same
/// pixels.
///
/// A task is a group of columns and a word of its first column, which may be in the padding. A
/// group has a.pairs words with a sum on their diagonal. a.per_pair is 2³² / pairs, rounded up.
template <class Plan>
__device__ void select_right(const SelectArguments& a, const uint4* shared, int x, int task,
                             std::uint32_t* bests) {
  const int group = static_cast<int>(__umulhi(static_cast<std::uint32_t>(task), a.per_pair));
  const int word = task - group * a.pairs + 1 - Plan::group / 2;
  const auto* sums = reinterpret_cast<const std::uint32_t*>(shared + Plan::before) +
                     4 * Plan::pair * (Plan::group / 2) * group + word;
  std::uint32_t even = nothing, odd = nothing;
#pragma unroll
  for (int i = 0; i < Plan::group / 2; i += 2, sums += 2 * (4 * Plan::pair + 1)) {
    const std::uint32_t index = 0x00010000u + 2 * 0x00010001u * i;
    even = __vimin3_u16x2(even, sums[0] * 32 + index,
                          sums[4 * Plan::pair + 1] * 32 + index + 0x00020002u);
    odd = __vimin3_u16x2(odd, sums[4 * Plan::pitch] * 32 + index,
                         sums[4 * Plan::pair + 1 + 4 * Plan::pitch] * 32 + index + 0x00020002u);
  }
  even = __vminu2(even, odd >> 16 | 0xffff0000u);
  const int p = x + group * Plan::group - 2 * word;
  atomicMin(bests + Plan::slot_of(p - 1), key_of(even >> 16, 2 * word));
  atomicMin(bests + Plan::slot_of(p), key_of(even & 0xffff, 2 * word));
  atomicMin(bests + Plan::slot_of(p + 1), key_of(odd & 0xffff, 2 * word));
}

/// Writes pixel p of the right map, if it is in the picture and has sums. p is less than the width.
__device__ void write_right(const SelectArguments& a, std::int64_t row, int p, std::uint32_t best) {
  const int r = p - a.right_shift;
  if (p > -a.disparities && r >= 0 && r < a.width)
    a.winners.right[row + r] = static_cast<std::uint16_t>(best & 1023);
}

__device__ void clear(uint4 (&vectors)[max_vectors]) {
#pragma unroll
  for (uint4& vector : vectors)
    vector = {no_sums, no_sums, no_sums, no_sums};
}

template <class Plan>
__global__ void __launch_bounds__(Plan::threads)
    select_kernel(const __grid_constant__ SelectArguments a) {
  extern __shared__ uint4 select_shared[];
  launch_dependents();
  grid_dependency_wait();
  auto* const found = reinterpret_cast<std::uint32_t*>(select_shared + Plan::numbers);
  std::uint32_t* const bests = found + Plan::columns;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread / Plan::lanes, part = thread % Plan::lanes;
  const int vectors = a.disparities / 8;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * a.width;
  const auto* from = reinterpret_cast<const uint4*>(a.sums + (row + column) * a.disparities) + part;
  uint4* const to = select_shared + Plan::vector_of(column);

  uint4 next[max_vectors];
  clear(next);
  const auto load = [&](int x) {
    const bool there = x + column < a.width;
#pragma unroll
    for (int i = 0; i < max_vectors; ++i)
      if (there && part + i * Plan::lanes < vectors)
        next[i] = from[i * Plan::lanes];
    if (!there)
      clear(next);
    from += Plan::columns * vectors;
  };
  load(0);
  for (int i = thread; i < Plan::numbers; i += Plan::threads)
    select_shared[i] = {no_sums, no_sums, no_sums, no_sums};
  for (int i = thread; i < 2 * Plan::ring; i += Plan::threads)
    bests[i] = nothing;
  // Used instead of `thread`, so that work for few threads goes to another warp each time.
  int rotated_thread = thread;
  int x = 0;
  for (; x < a.width; x += Plan::columns) {
    const LeftBest best = best_of<Plan::lanes>(next, part);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < max_vectors; ++i)
      if (part + i * Plan::lanes < vectors)
        to[part + i * Plan::lanes] = next[i];
    const std::uint32_t second = min_of_others<Plan::lanes>(best, to[best.near]);
    if (part == 0)
      found[column] = second << 21 | best.key;
    if (rotated_thread < Plan::columns) {
      // No later column has a sum for this pixel.
      const int p = x - Plan::columns - a.disparities + 1 + rotated_thread;
      const int slot = Plan::slot_of(p);
      write_right(a, row, p, bests[slot]);
      bests[slot] = nothing;
    }
    __syncthreads();
    load(x + Plan::columns);
#pragma unroll 1
    for (int task = rotated_thread; task < a.tasks; task += Plan::threads)
      select_right<Plan>(a, select_shared, x, task, bests);
    const int last = Plan::threads - 1 - rotated_thread;
    if (last < min(Plan::columns, a.width - x))
      select_left(a, reinterpret_cast<const std::uint32_t*>(select_shared + Plan::vector_of(last)),
                  found[last], row + x + last);
    rotated_thread = (rotated_thread + 32) % Plan::threads;
  }
  __syncthreads();
  for (int p = x - Plan::columns - a.disparities + 1 + thread; p < a.width; p += Plan::threads)
    write_right(a, row, p, bests[Plan::slot_of(p)]);
  if (a.right_shift != 0)
    for (int r = thread; r < a.width; r += Plan::threads)
      if (const int p = r + a.right_shift; p <= -a.disparities || p >= a.width)
        a.winners.right[row + r] = unknown;
}

struct KernelPlan {
  Kernel<SelectArguments> kernel;
  unsigned threads;
  std::size_t shared_bytes;
  int pairs, tasks;  ///< see select_right()
};

template <class Plan>
KernelPlan kernel_plan(int disparities) {
  static_assert(Plan::shared_bytes <= 48 * 1024);
  const int pairs = (disparities + Plan::group) / 2 - 1;
  return {select_kernel<Plan>, Plan::threads, Plan::shared_bytes, pairs,
          Plan::columns / Plan::group * pairs};
}

KernelPlan kernel_plan_for(int disparities, int rows) {
  // Small blocks share multiprocessors better, but fill the GPU only if there are many.
  const bool many = rows >= many_rows;
  if (disparities <= 64)
    return many ? kernel_plan<RowPlan<2, 128>>(disparities)
                : kernel_plan<RowPlan<2, 256>>(disparities);
  if (disparities <= 128)
    return many ? kernel_plan<RowPlan<4, 128>>(disparities)
                : kernel_plan<RowPlan<4, 256>>(disparities);
  if (disparities <= 256)
    return kernel_plan<RowPlan<8, 256>>(disparities);
  if (disparities <= 512)
    return kernel_plan<RowPlan<16, 256>>(disparities);
  return kernel_plan<RowPlan<32, 256>>(disparities);
}

}  // namespace

void select16_cuda(const StageResources& resources, const std::uint16_t* sums, int rows,
                   float uniqueness, Subpixel subpixel, const WtaResult& winners) {
  const StageConfig& config = resources.config;
  const KernelPlan plan = kernel_plan_for(config.disparities, rows);
  SelectArguments a{};
  a.sums = sums;
  a.winners = winners;
  a.uniqueness = uniqueness;
  a.subpixel = subpixel;
  a.whole = config.libsgm() && subpixel == Subpixel::none;
  a.width = config.width;
  a.disparities = config.disparities;
  a.right_shift = config.right_shift();
  a.pairs = plan.pairs;
  a.tasks = plan.tasks;
  a.per_pair = 0xffffffffu / static_cast<std::uint32_t>(plan.pairs) + 1;
  resources.queue.launch(plan.kernel, static_cast<unsigned>(rows), plan.threads, plan.shared_bytes,
                         a);
}

}  // namespace cudavision::sgm
