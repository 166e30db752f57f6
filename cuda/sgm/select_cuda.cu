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
constexpr int most_vectors = 4;   // of the sums in shared memory, per thread
constexpr int most_columns = 64;  // so that what surrounds their sums fits in, too
constexpr unsigned whole_warp = 0xffffffffu;
constexpr std::uint32_t nothing = 0xffffffffu;
constexpr std::uint16_t no_sum = 0xffff;

struct SelectArguments {
  const std::uint16_t* sums;
  Stages::Winners winners;
  float uniqueness;
  bool subpixel, libsgm;
  int width, disparities;
  int columns;  // in shared memory at a time, a power of two from 8 on
  int pitch;    // numbers from one pixel's sums to the next one's
};

/// Where a sum is in shared memory: each pixel's are followed by at least as many numbers as there
/// are columns, and so are those before the first, larger than any sum. So whoever goes along a
/// diagonal need not look where it begins and ends.
__device__ int place_of(const SelectArguments& a, int column, int disparity) {
  return a.columns + column * a.pitch + disparity;
}

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

__device__ void take_least_key(const uint4& vector, int disparity, std::uint32_t& least) {
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t low = key_of(words[i], disparity + 2 * i);  // the upper half drops out
    const std::uint32_t high =
        (words[i] & 0xffff0000u) | static_cast<std::uint32_t>(disparity + 2 * i + 1);
    least = min(least, min(low, high));
  }
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

/// The left map's pixels, each by some lanes. first: the number of the first one, of `count`.
/// Leaves behind no_sum for each best disparity and its neighbours.
__device__ void select_left(const SelectArguments& a, std::uint16_t* shared, std::int64_t first,
                            int count) {
  const int lanes = min(32, threads / a.columns);
  const int lane = threadIdx.x % lanes;
  const int column = threadIdx.x / lanes;
  const int vectors = a.disparities / 8;
  // Whole warps go through it, whether they have pixels or not.
  const bool works = column < count;
  std::uint16_t* const sums = shared + place_of(a, works ? column : 0, 0);
  const auto* const own = reinterpret_cast<const uint4*>(sums);
  std::uint32_t key = nothing;
  for (int v = lane; works && v < vectors; v += lanes)
    take_least_key(own[v], 8 * v, key);
  key = least_of_lanes(key, lanes);
  const int best = static_cast<int>(key & 0xffff);

  // The least of the others: what is not one of them goes.
  const bool leads = works && lane == 0;
  std::uint16_t number = 0;
  __syncwarp();
  if (leads) {
    number = number_of(sums, best, a);
    for (int d = max(best - 1, 0); d <= min(best + 1, a.disparities - 1); ++d)
      sums[d] = no_sum;
  }
  __syncwarp();
  std::uint32_t halves = nothing;
  for (int v = lane; works && v < vectors; v += lanes) {
    const uint4 vector = own[v];
    halves = __vimin3_u16x2(halves, vector.x, vector.y);
    halves = __vimin3_u16x2(halves, vector.z, vector.w);
  }
  const std::uint32_t second = least_of_lanes(min(halves & 0xffff, halves >> 16), lanes);
  if (!leads)
    return;
  const std::uint32_t least = key >> 16;
  const bool known = is_unique(least, second, a.uniqueness);
  a.winners.left[first + column] = known ? number : unknown;
  if (a.winners.confidence)
    a.winners.confidence[first + column] = known ? confidence_of(least, second) : 0;
}

/// Pixels of the right map: sum (x, d) belongs to x − d. bests: of the last `ring` of them, each at
/// its number modulo ring.
__device__ void select_right(const SelectArguments& a, const std::uint16_t* shared,
                             std::int64_t row, int first_x, std::uint32_t* bests, int ring) {
  const int last_x = min(first_x + a.columns, a.width) - 1;
  for (int p = max(0, first_x - a.disparities + 1) + static_cast<int>(threadIdx.x); p <= last_x;
       p += threads) {
    const std::uint16_t* sum = shared + place_of(a, 0, first_x - p);
    std::uint32_t least = nothing;  // with the columns' numbers instead of the disparities
    for (int column = 0; column < a.columns; column += 8) {
      std::uint32_t of_eight = nothing;
#pragma unroll
      for (int i = 0; i < 8; i += 2, sum += 2 * (a.pitch + 1))
        of_eight = min(of_eight, min(key_of(sum[0], i), key_of(sum[a.pitch + 1], i + 1)));
      least = min(least, of_eight + static_cast<std::uint32_t>(column));
    }
    std::uint32_t& best = bests[p % ring];
    const std::uint32_t here = least + static_cast<std::uint32_t>(first_x - p);
    const std::uint32_t key = p < first_x ? min(best, here) : here;
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
  auto* const shared = reinterpret_cast<std::uint16_t*>(select_shared);
  const int numbers = place_of(a, a.columns, 0);
  auto* const bests = reinterpret_cast<std::uint32_t*>(shared + numbers);
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
      next[i] = number < there ? from[number] : uint4{nothing, nothing, nothing, nothing};
    }
  };
  int places[most_vectors];
#pragma unroll
  for (int i = 0; i < most_vectors; ++i) {
    const int number = i * threads + threadIdx.x;
    const int column = number / vectors;
    places[i] = column < a.columns ? place_of(a, column, 0) / 8 + number - column * vectors : -1;
  }
  load(0);
  for (int i = threadIdx.x; i < numbers / 8; i += threads)
    select_shared[i] = {nothing, nothing, nothing, nothing};
  __syncthreads();
  for (int x = 0; x < a.width; x += a.columns) {
#pragma unroll
    for (int i = 0; i < most_vectors; ++i)
      if (places[i] >= 0)
        select_shared[places[i]] = next[i];
    __syncthreads();
    if (x + a.columns < a.width)
      load(x + a.columns);
    select_right(a, shared, row, x, bests, ring);
    __syncthreads();
    select_left(a, shared, row + x, min(a.columns, a.width - x));
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
    while (a_.columns < most_columns && a_.columns * 2 * problem.disparities <= 4096)
      a_.columns *= 2;
    // Lanes of different pixels that are looked at together lie in different banks of shared
    // memory.
    const int vectors = (problem.disparities + a_.columns) / 8;
    const int lanes = std::min(8, threads / a_.columns);
    a_.pitch = 8 * (vectors + ((lanes - vectors) % 8 + 8) % 8);
    shared_bytes_ = sizeof(std::uint16_t) * (a_.columns + a_.columns * a_.pitch) +
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
