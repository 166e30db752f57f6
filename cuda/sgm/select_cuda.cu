// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Winner takes all on CUDA: both maps from one look at the sums. A block goes along a row. The sums
// of some pixels are in shared memory at a time, the next ones on their way; of the right map's
// pixels that these belong to, it keeps the best so far.

#include <algorithm>

#include "cuda_launch.h"
#include "sgm/arithmetic.h"
#include "sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int threads = 256;
constexpr int most_vectors = 4;  // of the sums in shared memory, per thread
constexpr unsigned whole_warp = 0xffffffffu;
constexpr std::uint32_t nothing = 0xffffffffu;

struct SelectArguments {
  const std::uint16_t* sums;
  Stages::Winners winners;
  float uniqueness;
  bool subpixel, libsgm;
  int width, disparities;
  int columns;       // in shared memory at a time, a power of two
  int column_cells;  // vectors from one pixel's sums to the next one's
};

/// A sum and its disparity as one number: the least is the lowest disparity of the smallest sum.
__device__ std::uint32_t key_of(std::uint32_t sum, int disparity) {
  return sum << 16 | static_cast<std::uint32_t>(disparity);
}

/// The least of `lanes` neighbouring lanes; a power of two.
__device__ std::uint32_t least_of_lanes(std::uint32_t value, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = min(value, __shfl_xor_sync(whole_warp, value, distance));
  return value;
}

__device__ void for_each_sum(const uint4& vector, int disparity, std::uint32_t& least_key) {
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    least_key = min(least_key, key_of(words[i] & 0xffff, disparity + 2 * i));
    least_key = min(least_key,
                    (words[i] & 0xffff0000u) | static_cast<std::uint32_t>(disparity + 2 * i + 1));
  }
}

/// The least of the sums whose disparity is more than one away from the best.
__device__ std::uint32_t least_apart(const uint4& vector, int disparity, int best,
                                     std::uint32_t least) {
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
  const auto from_before = static_cast<std::uint32_t>(disparity - (best - 1));
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t sum = i % 2 == 0 ? words[i / 2] & 0xffff : words[i / 2] >> 16;
    least = from_before + i > 2 ? min(least, sum) : least;
  }
  return least;
}

__device__ std::uint16_t number_of(const std::uint16_t* sums, int best, const SelectArguments& a) {
  if (a.libsgm && !a.subpixel)
    return static_cast<std::uint16_t>(best);
  int number = 16 * best;
  if (a.subpixel && best > 0 && best < a.disparities - 1) {
    const int l = sums[best - 1], c = sums[best], r = sums[best + 1];
    number += a.libsgm ? libsgm_subpixel_offset(l, c, r) : subpixel_offset(l, c, r);
  }
  return static_cast<std::uint16_t>(number);
}

/// The left map's pixels, each by some lanes. cells: the sums; count: of the pixels there are.
__device__ void select_left(const SelectArguments& a, const uint4* cells, std::int64_t first,
                            int count) {
  const int lanes = min(32, threads / a.columns);
  const int lane = threadIdx.x % lanes;
  const int column = threadIdx.x / lanes;
  const int vectors = a.disparities / 8;
  // Whole warps go through it, whether they have pixels or not.
  const bool works = column < count;
  const uint4* own = cells + (works ? column : 0) * a.column_cells;
  std::uint32_t key = nothing;
  for (int v = lane; v < vectors; v += lanes)
    for_each_sum(own[v], 8 * v, key);
  key = least_of_lanes(key, lanes);
  const int best = static_cast<int>(key & 0xffff);
  std::uint32_t second = nothing;
  for (int v = lane; v < vectors; v += lanes)
    second = least_apart(own[v], 8 * v, best, second);
  second = least_of_lanes(second, lanes);
  if (!works || lane != 0)
    return;
  const std::uint32_t least = key >> 16;
  const bool known = is_unique(least, second, a.uniqueness);
  a.winners.left[first + column] =
      known ? number_of(reinterpret_cast<const std::uint16_t*>(own), best, a) : unknown;
  if (a.winners.confidence)
    a.winners.confidence[first + column] = known ? confidence_of(least, second) : 0;
}

/// Pixels of the right map: sum (x, d) belongs to x − d. bests: of the last `ring` of them, each at
/// its number modulo ring.
__device__ void select_right(const SelectArguments& a, const uint4* cells, std::int64_t row,
                             int first_x, int count, std::uint32_t* bests, int ring) {
  const auto* const sums = reinterpret_cast<const std::uint16_t*>(cells);
  const int pitch = 8 * a.column_cells;
  const int last_x = first_x + count - 1;
  for (int p = max(0, first_x - a.disparities + 1) + static_cast<int>(threadIdx.x); p <= last_x;
       p += threads) {
    std::uint32_t& best = bests[p % ring];
    std::uint32_t key = p < first_x ? best : nothing;
    const int begin = max(p, first_x);
    const int end = min(last_x, p + a.disparities - 1);
    const std::uint16_t* sum = sums + (begin - first_x) * pitch + (begin - p);
    for (int x = begin; x <= end; ++x, sum += pitch + 1)
      key = min(key, key_of(*sum, x - p));
    if (p + a.disparities - 1 <= last_x || last_x == a.width - 1)
      a.winners.right[row + p] = static_cast<std::uint16_t>(key);
    else
      best = key;
  }
}

__global__ void __launch_bounds__(threads)
    select_kernel(const __grid_constant__ SelectArguments a) {
  extern __shared__ uint4 select_shared[];
  let_next_launch_in();
  wait_for_last_launch();
  uint4* const cells = select_shared;
  auto* const bests = reinterpret_cast<std::uint32_t*>(cells + a.columns * a.column_cells);
  const int ring = a.disparities + a.columns;
  const int vectors = a.disparities / 8;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * a.width;
  const auto* const volume = reinterpret_cast<const uint4*>(a.sums + row * a.disparities);

  uint4 next[most_vectors];
  const auto load = [&](int x) {
    const int there = min(a.columns, a.width - x) * vectors;
    const uint4* from = volume + static_cast<std::int64_t>(x) * vectors;
#pragma unroll
    for (int i = 0; i < most_vectors; ++i) {
      const int number = i * threads + threadIdx.x;
      next[i] = number < there ? from[number] : uint4{0, 0, 0, 0};
    }
  };
  load(0);
  for (int x = 0; x < a.width; x += a.columns) {
    const int count = min(a.columns, a.width - x);
#pragma unroll
    for (int i = 0; i < most_vectors; ++i) {
      const int number = i * threads + threadIdx.x;
      const int column = number / vectors;
      if (number < count * vectors)
        cells[column * a.column_cells + number - column * vectors] = next[i];
    }
    __syncthreads();
    if (x + a.columns < a.width)
      load(x + a.columns);
    select_left(a, cells, row + x, count);
    select_right(a, cells, row, x, count, bests, ring);
    __syncthreads();
  }
}

class Implementation final : public SelectCuda {
 public:
  Implementation(Device& device, const Problem& problem)
      : height_(problem.height), launch_(device.stream(), select_kernel) {
    a_.libsgm = problem.compatibility == SgmParameters::Compatibility::libsgm;
    a_.width = problem.width;
    a_.disparities = problem.disparities;
    a_.columns = 8;
    while (a_.columns * 2 * problem.disparities <= 4096)
      a_.columns *= 2;
    // Pixels that are looked at together lie in different banks of shared memory.
    const int vectors = problem.disparities / 8;
    const int lanes = std::min(8, threads / a_.columns);
    a_.column_cells = vectors + ((lanes % 8 - vectors) % 8 + 8) % 8;
    shared_bytes_ = sizeof(uint4) * a_.columns * a_.column_cells +
                    sizeof(std::uint32_t) * (problem.disparities + a_.columns);
  }

  void run(const std::uint16_t* sums, float uniqueness, bool subpixel,
           const Stages::Winners& winners) const override {
    SelectArguments a = a_;
    a.sums = sums;
    a.winners = winners;
    a.uniqueness = uniqueness;
    a.subpixel = subpixel;
    launch_(select_kernel, static_cast<unsigned>(height_), threads, shared_bytes_, a);
  }

 private:
  int height_;
  SelectArguments a_{};
  std::size_t shared_bytes_ = 0;
  Launcher<SelectArguments> launch_;
};

}  // namespace

std::unique_ptr<SelectCuda> make_select_cuda(Device& device, const Problem& problem) {
  return std::make_unique<Implementation>(device, problem);
}

}  // namespace cudavision::sgm
