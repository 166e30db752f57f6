// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the kernel of the horizontal paths. The two paths of a row start at its ends. In
// the first launch, each path runs to the middle and stores its costs as bytes, in the memory of
// the sums. In the second launch, each path continues, and replaces the other path's costs by sums.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/path_penalty.cuh"
#include "cuda/sgm/paths16/horizontal_row.cuh"

namespace cudavision::sgm {

struct HorizontalArguments {
  const void* left;  // features
  const void* right;
  const std::uint32_t* p2[2];  // P2 in the highest byte, for rightward and for leftward paths
  std::uint16_t* sums;
  uint4* states;  // [direction][row][lane]: path costs at the middle, as bytes minus the smallest
  int width, height, disparities, minimum;
  bool replicates;  // see StageConfig::replicates_features()
  PathPenalty penalty;
  int lanes;
};

/// A block is a single warp, so the compiler can assume that its threads stay converged.
constexpr int horizontal_threads = 32;

/// Blocks per multiprocessor: 17 hold all warps of 1080 rows on an H200. Some GPUs allow only 16.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ >= 890)
constexpr int horizontal_blocks = 17;
#else
constexpr int horizontal_blocks = 16;
#endif

template <int kWords, int kUnits, class Feature, bool kSecond>
class HorizontalPath {
 public:
  __device__ HorizontalPath(const HorizontalArguments& a, const HorizontalLanes<kUnits>& lanes,
                            const HorizontalRow<Feature, kUnits>& row, unsigned char* to,
                            int stride, bool forward, std::uint32_t p1)
      : lanes_(lanes),
        row_(row),
        order_(forward),
        at_(to),
        upper_(a.disparities),
        stride_(stride),
        p1_(p1),
        ring_(horizontal_ring(a.disparities)),
        low_at_(a.disparities - lanes.lane * kWords),
        high_at_(low_at_ - a.disparities / 2) {
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      path_[k] = 0;
      low_[kWords - 1 - k] = row.right[low_at_ - 1 - k];
      high_[kWords - 1 - k] = row.right[high_at_ - 1 - k];
    }
  }

  __device__ void restore(const unsigned char* state) {
    const Bytes bytes = *reinterpret_cast<const Bytes*>(state);
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      path_[k] = order_.word(bytes, k);
  }
  __device__ void save(unsigned char* state) {
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      path_[k] -= minimum_;
    *reinterpret_cast<Bytes*>(state) = order_.bytes(path_);
  }

  /// Takes `count` of the `steps` steps that remain, starting with step `from` in shared memory.
  __device__ void follow(int from, int count, int steps) {
    for (; count >= block; count -= block, from += block, steps -= block)
      advance_block<true>(from, block, steps);
    if (count > 0)
      advance_block<false>(from, count, steps);
  }
  __device__ void look_ahead(int steps) {
    if constexpr (kSecond)
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (i < steps)
          others_[i] = *at(i);
  }

 private:
  using Order = HorizontalOrder<kWords>;
  using Bytes = typename Order::Bytes;
  // Steps between the load of the other path's costs and their use. Registers limit this number.
  static constexpr int ahead = (sizeof(Feature) == 8 ? 16 : 32) / kWords;
  // Unrolled steps: enough to rotate the features through all words.
  static constexpr int block = kWords > ahead ? kWords : ahead;
  static constexpr int vector = 16 / static_cast<int>(sizeof(Feature));
  static constexpr int window = kWords < vector ? kWords : vector;  // features per load
  static_assert(block % kWords == 0 && block % ahead == 0 && block % 4 == 0);
  static_assert(horizontal_stage % block == 0);

  __device__ Bytes* at(int step, int offset = 0) const {
    int stride = stride_;
    make_opaque(stride);  // otherwise, the compiler would keep an address per step in registers
    return reinterpret_cast<Bytes*>(at_ + offset + static_cast<std::int64_t>(step) * stride);
  }

  template <bool kWhole>  // if true, count equals `block`
  __device__ void advance_block(int from, int count, int steps) {
    const bool goes_on = kWhole && steps >= 2 * block;
    // For whole blocks, the first costs of the other path are already loaded.
    if (!kWhole)
      look_ahead(count);
    Pack<Feature, window> low, high;
    Pack<Feature, vector> left;
    Pack<std::uint32_t, 4> bounds;
#pragma unroll
    for (int j = 0; j < block; ++j) {
      if (!kWhole && j >= count)
        break;
      // All lanes must have read the costs before sums overwrite them. With 16 words, the barrier
      // also keeps the compiler from computing costs early, which would spill registers.
      if constexpr (kSecond || kWords == 16)
        if (j % ahead == 0)
          __syncwarp();
      if (j % window == 0) {
        low = *reinterpret_cast<const Pack<Feature, window>*>(row_.right + low_at_ + j);
        high = *reinterpret_cast<const Pack<Feature, window>*>(row_.right + high_at_ + j);
      }
      if (j % vector == 0)
        left = *reinterpret_cast<const Pack<Feature, vector>*>(row_.left + from + j);
      if (j % 4 == 0)
        bounds = *reinterpret_cast<const Pack<std::uint32_t, 4>*>(row_.bounds + from + j);

      // At the next pixel, each right feature belongs to the next disparity, so the loop rotates
      // indices instead of moving features.
      low_[j % kWords] = low.at[j % window];
      high_[j % kWords] = high.at[j % window];
      std::uint32_t costs[kWords];
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        costs[k] =
            in_halves(differing_bits(left.at[j % vector], low_[(j + kWords - k) % kWords], ~0u),
                      differing_bits(left.at[j % vector], high_[(j + kWords - k) % kWords], ~0u));
      advance(lanes_, costs, p1_, bounds.at[j % 4] + minimum_, minimum_, path_);
      minimum_ = lanes_.min_cost(min_of(path_));

      if constexpr (kSecond) {
        std::uint32_t sums[kWords];
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          sums[k] = path_[k] + order_.word(others_[j % ahead], k);
        *at(j) = order_.sums(sums, false);
        *at(j, upper_) = order_.sums(sums, true);
        if (kWhole ? j + ahead < block || goes_on : j + ahead < count)
          others_[j % ahead] = *at(j + ahead);
      } else {
        *at(j) = order_.bytes(path_);
      }
    }
    at_ += static_cast<std::int64_t>(block) * stride_;
    low_at_ = low_at_ + block < ring_ ? low_at_ + block : low_at_ + block - ring_;
    high_at_ = high_at_ + block < ring_ ? high_at_ + block : high_at_ + block - ring_;
  }

  const HorizontalLanes<kUnits>& lanes_;
  const HorizontalRow<Feature, kUnits>& row_;
  const Order order_;
  unsigned char* at_;  // this lane's bytes at the pixel of the next step
  const int upper_;    // bytes from the sums of the lower half to the sums of the upper half
  const int stride_;   // bytes from one pixel to the next
  const std::uint32_t p1_;
  const int ring_;
  int low_at_, high_at_;  // ring positions of both halves' next features
  std::uint32_t path_[kWords];
  std::uint32_t minimum_ = 0;  // smallest cost of the previous pixel; subtracted from saved states
  Feature low_[kWords], high_[kWords];
  Bytes others_[kSecond ? ahead : 1];  // the other path's costs
};

template <int kWords, int kUnits, class Feature, bool kSecond>
__global__ void __launch_bounds__(horizontal_threads,
                                  kUnits == 1 && kWords <= 4 ? horizontal_blocks : 1)
    horizontal_kernel(const __grid_constant__ HorizontalArguments a) {
  extern __shared__ uint4 shared[];
  launch_dependents();
  grid_dependency_wait();
  const std::uint32_t p1 = a.penalty.in_halves();
  const HorizontalLanes<kUnits> lanes(a.lanes);
  const int warps = (a.height + kUnits - 1) / kUnits;
  const int warp = static_cast<int>(blockIdx.x);
  const bool forward = warp < warps;
  const int direction = forward ? 1 : -1;
  // Surplus rows of a warp repeat the last row.
  const int y = min((forward ? warp : warp - warps) * kUnits + lanes.unit, a.height - 1);
  const std::int64_t first = static_cast<std::int64_t>(y) * a.width;

  const int middle = a.width / 2;
  const int begin = forward ? (kSecond ? middle : 0) : (kSecond ? middle - 1 : a.width - 1);
  const int steps = forward == kSecond ? a.width - middle : middle;
  const int seen = begin - a.minimum - (forward ? 0 : a.disparities - 1);
  const int row_bytes = horizontal_row_bytes(a.disparities, sizeof(Feature));
  HorizontalRow<Feature, kUnits> row(
      lanes, reinterpret_cast<unsigned char*>(shared) + lanes.unit * row_bytes, a.disparities,
      static_cast<const Feature*>(a.left) + first, static_cast<const Feature*>(a.right) + first,
      a.p2[forward ? 0 : 1] + first, a.width, a.replicates, begin, seen, direction, steps, p1);
  row.put();

  const int bytes = 2 * kWords * (forward ? lanes.lane : a.lanes - 1 - lanes.lane);
  HorizontalPath<kWords, kUnits, Feature, kSecond> path(
      a, lanes, row,
      reinterpret_cast<unsigned char*>(a.sums + (first + begin) * a.disparities) + bytes,
      2 * direction * a.disparities, forward, p1);
  unsigned char* const state =
      reinterpret_cast<unsigned char*>(a.states) +
      (static_cast<std::int64_t>(forward ? 0 : a.height) + y) * a.disparities + bytes;
  if constexpr (kSecond)
    path.restore(state);
  path.look_ahead(steps);
  for (int done = 0; done < steps; done += horizontal_stage) {
    if (done > 0)
      row.put();
    row.load(done + horizontal_stage);
    path.follow(0, min(horizontal_stage, steps - done), steps - done);
  }
  if constexpr (!kSecond)
    path.save(state);
}

}  // namespace cudavision::sgm
