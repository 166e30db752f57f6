// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Winner takes all on CUDA: both maps from one look at the sums. A block goes along a row, some
// columns at a time. Some lanes of a warp have the sums of a column in registers, which is enough
// for the left map. For the right one they go to shared memory, while the next ones are on their
// way; of the right map's pixels that these belong to, it keeps the best so far.
//
// Sums are at most 8·255, so that a sum and an index of 5 bits are a number of 16 bits, and two of
// these a word: the least of such numbers is the least sum, and the first one of those.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int many_rows = 2000;  // which small blocks are enough for
constexpr int most_vectors = 4;  // of the sums, per thread
constexpr unsigned whole_warp = 0xffffffffu;
constexpr std::uint32_t nothing = 0xffffffffu;
constexpr std::uint32_t no_sums = 0x07ff07ffu;  // larger than any two

struct SelectArguments {
  const std::uint16_t* sums;
  Stages::Winners winners;
  float uniqueness;
  bool subpixel, libsgm;
  int width, disparities;
  // See select_right.
  int pairs, tasks;
  std::uint32_t per_pair;
};

constexpr int power_of_two_from(int least) {
  int power = 1;
  while (power < least)
    power *= 2;
  return power;
}

/// How a block goes about a row: so many lanes per column, a power of two from 2 on. Places are in
/// vectors of 8 sums.
template <int kLanes, int kThreads>
struct RowPlan {
  static constexpr int lanes = kLanes, threads = kThreads;
  static constexpr int columns = kThreads / kLanes;          ///< at a time
  static constexpr int group = columns < 16 ? columns : 16;  ///< see select_right
  /// Before and behind each column's sums there are at least as many numbers as a group has
  /// columns, larger than any sum. So whoever goes along a diagonal need not look where it begins
  /// and ends.
  static constexpr int before = group / 8;
  static constexpr int most = kLanes * most_vectors;
  /// The 8 lanes that store vectors at once lie in different banks of shared memory, and so do the
  /// same disparities of different columns as far as possible.
  static constexpr int pitch = kLanes == 2   ? (most + before + 1) / 4 * 4 + 2
                               : kLanes == 4 ? (most + before + 3) / 8 * 8 + 4
                                             : (most + before) / 2 * 2 + 1;
  static constexpr int pair = 2 * pitch + (kLanes == 4 ? 1 : 0);
  static constexpr int numbers = before + columns / 2 * pair;
  static_assert(group % 8 == 0 && pitch >= most + before);

  static __device__ int place_of(int column) {
    return before + column / 2 * pair + column % 2 * pitch;
  }

  /// Half of the right map's pixels that have a place.
  static constexpr int ring = power_of_two_from((8 * most + columns) / 2);
  /// Even pixels by themselves, since threads go through them in twos.
  static __device__ int slot_of(int p) { return (p & 1) * ring + (p >> 1 & (ring - 1)); }

  static constexpr std::size_t shared_bytes =
      sizeof(uint4) * numbers + sizeof(std::uint32_t) * (columns + 2 * ring);
};

/// A sum and its disparity as one number: the least is the lowest disparity of the smallest sum.
/// indexed: a sum with an index, from which the disparity is `first` away.
__device__ std::uint32_t key_of(std::uint32_t indexed, int first) {
  return 32 * indexed - 31 * (indexed & 31) + static_cast<std::uint32_t>(first);
}

/// The least of neighbouring lanes.
template <int kLanes>
__device__ std::uint32_t least_of_lanes(std::uint32_t value) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    value = min(value, __shfl_xor_sync(whole_warp, value, distance));
  return value;
}

/// What a column's lanes know of the left map's pixel.
struct LeftBest {
  std::uint32_t key;    ///< of the best, in all lanes
  int word;             ///< the best and its neighbours are in this word of the column and the next
  int near;             ///< the lane's vector that has one of these words, or any if none has
  std::uint32_t least;  ///< two sums, of all its other vectors
};

/// vectors: those of the lane, which is number `part`: each kLanes behind the one before.
template <int kLanes>
__device__ LeftBest best_of(const uint4 (&vectors)[most_vectors], int part) {
  std::uint32_t leasts[most_vectors];
#pragma unroll
  for (int i = 0; i < most_vectors; ++i) {
    const std::uint32_t index = 0x00010001u * 4 * i;
    leasts[i] = __vimin3_u16x2(vectors[i].x * 32 + index, vectors[i].y * 32 + index + 0x00010001u,
                               vectors[i].z * 32 + index + 0x00020002u);
    leasts[i] = __vminu2(leasts[i], vectors[i].w * 32 + index + 0x00030003u);
  }
  const std::uint32_t both = __vminu2(__vimin3_u16x2(leasts[0], leasts[1], leasts[2]), leasts[3]);
  // One bit more tells the halves apart.
  const std::uint32_t one = min((both & 0xffff) * 2, both >> 15 | 1);
  const std::uint32_t vector = static_cast<std::uint32_t>(part) + (one >> 3 & 7) * kLanes;
  LeftBest best{least_of_lanes<kLanes>((one >> 6 << 10) + 8 * vector + (one & 7)), 0, part,
                nothing};

  best.word = (static_cast<int>(best.key & 1023) - 1) >> 1;
  // Neighbouring vectors are in different lanes, so that only one can be near. It may be one of
  // those without sums before and behind the column's.
  const int first = best.word >> 2, last = (best.word + 1) >> 2;
  if ((last - part) % kLanes == 0)
    best.near = last;
  if ((first - part) % kLanes == 0)
    best.near = first;
#pragma unroll
  for (int i = 0; i < most_vectors; ++i)
    if (best.near - part != i * kLanes)
      best.least = __vminu2(best.least, leasts[i]);
  best.least = best.least >> 5 & no_sums;
  return best;
}

/// The least sum of all words but the two that the best and its neighbours are in. near: the sums
/// of that vector.
template <int kLanes>
__device__ std::uint32_t least_of_others(const LeftBest& best, const uint4& near) {
  const std::uint32_t words[4] = {near.x, near.y, near.z, near.w};
  const int first = best.word - 4 * best.near;
  std::uint32_t least = best.least;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first != i && first != i - 1)
      least = __vminu2(least, words[i]);
  return least_of_lanes<kLanes>(min(least & 0xffff, least >> 16));
}

/// A pixel of the left map. sums: two to a word; those of the column. found: the best's key, and
/// from bit 21 on the least of the other words.
__device__ void select_left(const SelectArguments& a, const std::uint32_t* sums,
                            std::uint32_t found, std::int64_t pixel) {
  const int best = static_cast<int>(found & 1023);
  const std::uint32_t least = found >> 10 & 2047;
  // The two words have one more sum, which is 2 away from the best.
  const int word = (best - 1) >> 1;
  const std::uint32_t first = sums[word], last = sums[word + 1];
  const bool even = best % 2 == 0;
  const std::uint32_t fourth = even ? first & 0xffff : last >> 16;
  const std::uint32_t second = min(found >> 21, fourth);
  const bool known = is_unique(least, second, a.uniqueness);
  int number = a.libsgm && !a.subpixel ? best : 16 * best;
  if (a.subpixel && best > 0 && best < a.disparities - 1) {
    const int l = static_cast<int>(even ? first >> 16 : first & 0xffff);
    const int c = static_cast<int>(least);
    const int r = static_cast<int>(even ? last >> 16 : last & 0xffff);
    number += a.libsgm ? libsgm_subpixel_offset(l, c, r) : subpixel_offset(l, c, r);
  }
  a.winners.left[pixel] = known ? static_cast<std::uint16_t>(number) : unknown;
  if (a.winners.confidence)
    a.winners.confidence[pixel] = known ? confidence_of(least, second) : 0;
}

/// Pixels of the right map: sum (x, d) belongs to x − d. A word of an even column and the same one
/// of the column behind it belong to three of them: its lower half to p and p + 1, its upper half
/// to p − 1 and p. Two columns further this is so of the next word.
///
/// task: a group of the columns from x on, and a word of its first column, which may be before the
/// first or be none of the last; a.pairs of them meet a sum somewhere. a.per_pair: 2³² / pairs,
/// rounded up.
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

__device__ void clear(uint4 (&vectors)[most_vectors]) {
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
  uint4* const to = select_shared + Plan::place_of(column);

  uint4 next[most_vectors];
  clear(next);
  // Vectors that there are in no column stay as they are.
  const auto load = [&](int x) {
    const bool there = x + column < a.width;
#pragma unroll
    for (int i = 0; i < most_vectors; ++i)
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
  // What is not for all threads goes to other warps each time.
  int turn = thread;
  int x = 0;
  for (; x < a.width; x += Plan::columns) {
    const LeftBest best = best_of<Plan::lanes>(next, part);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < most_vectors; ++i)
      if (part + i * Plan::lanes < vectors)
        to[part + i * Plan::lanes] = next[i];
    const std::uint32_t second = least_of_others<Plan::lanes>(best, to[best.near]);
    if (part == 0)
      found[column] = second << 21 | best.key;
    if (turn < Plan::columns) {
      // The columns so far were the last ones of this pixel.
      const int p = x - Plan::columns - a.disparities + 1 + turn;
      const int slot = Plan::slot_of(p);
      if (p >= 0)
        a.winners.right[row + p] = static_cast<std::uint16_t>(bests[slot] & 1023);
      bests[slot] = nothing;
    }
    __syncthreads();
    load(x + Plan::columns);
#pragma unroll 1
    for (int task = turn; task < a.tasks; task += Plan::threads)
      select_right<Plan>(a, select_shared, x, task, bests);
    const int last = Plan::threads - 1 - turn;
    if (last < min(Plan::columns, a.width - x))
      select_left(a, reinterpret_cast<const std::uint32_t*>(select_shared + Plan::place_of(last)),
                  found[last], row + x + last);
    turn = (turn + 32) % Plan::threads;
  }
  __syncthreads();
  for (int p = max(0, x - Plan::columns - a.disparities + 1) + thread; p < a.width;
       p += Plan::threads)
    a.winners.right[row + p] = static_cast<std::uint16_t>(bests[Plan::slot_of(p)] & 1023);
}

class Backend final : public SelectCuda {
 public:
  Backend(Device& device, const Config& config)
      : height_(config.height), launch_(device.stream(), select_kernel<RowPlan<4, 256>>) {
    a_.libsgm = config.compatibility == Parameters::Compatibility::libsgm;
    a_.width = config.width;
    a_.disparities = config.disparities;
    // Small blocks share a multiprocessor better, but few of them do not fill it.
    const bool many = config.height >= many_rows;
    if (config.disparities <= 64)
      many ? choose<RowPlan<2, 128>>() : choose<RowPlan<2, 256>>();
    else if (config.disparities <= 128)
      many ? choose<RowPlan<4, 128>>() : choose<RowPlan<4, 256>>();
    else if (config.disparities <= 256)
      choose<RowPlan<8, 256>>();
    else if (config.disparities <= 512)
      choose<RowPlan<16, 256>>();
    else
      choose<RowPlan<32, 256>>();
  }

  void run(const std::uint16_t* sums, float uniqueness, bool subpixel,
           const Stages::Winners& winners) const override {
    SelectArguments a = a_;
    a.sums = sums;
    a.winners = winners;
    a.uniqueness = uniqueness;
    a.subpixel = subpixel;
    launch_(kernel_, static_cast<unsigned>(height_), threads_, shared_bytes_, a);
  }

 private:
  template <class Plan>
  void choose() {
    static_assert(Plan::shared_bytes <= 48 * 1024);
    a_.pairs = (a_.disparities + Plan::group) / 2 - 1;
    a_.tasks = Plan::columns / Plan::group * a_.pairs;
    a_.per_pair = 0xffffffffu / static_cast<std::uint32_t>(a_.pairs) + 1;
    kernel_ = select_kernel<Plan>;
    threads_ = Plan::threads;
    shared_bytes_ = Plan::shared_bytes;
  }

  int height_;
  SelectArguments a_{};
  Launcher<SelectArguments>::Kernel kernel_ = nullptr;
  unsigned threads_ = 0;
  std::size_t shared_bytes_ = 0;
  Launcher<SelectArguments> launch_;
};

}  // namespace

std::unique_ptr<SelectCuda> make_select_cuda(Device& device, const Config& config) {
  return std::make_unique<Backend>(device, config);
}

}  // namespace cudavision::sgm
