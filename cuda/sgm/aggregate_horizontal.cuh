// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the paths along rows.
//
// A row's two paths set out from its ends at the same time. Up to the middle each is the first to
// come by and leaves its costs behind as bytes, in the memory of the pixel's sums. From there on,
// in a second launch, each finds the other's costs and puts the sums in their place.

#include "cuda_launch.h"
#include "sgm/pathlanes.cuh"

namespace cudavision::sgm {

struct HorizontalArguments {
  const void* left;  // features
  const void* right;
  const std::uint32_t* p2[2];  // of the paths to the right and to the left, in the highest byte
  std::uint16_t* sums;
  uint4* states;  // costs of the paths in the middle: [direction][row][lane], as bytes
  int width, height, disparities, minimum;
  std::uint32_t p1;  ///< in both halves
  int lanes, units;
};

constexpr int horizontal_threads = 64;

/// What a step needs from memory, loaded some steps before.
template <int kWords, class Feature, bool kSecond>
struct HorizontalLoads {
  Feature left{}, low{}, high{};  // low, high: what comes into the windows
  std::uint32_t p2 = 0;
  uint4 others[kSecond ? kWords / 8 : 1]{};  // the other path's costs

  __device__ void load(const HorizontalArguments& a, const std::uint32_t* p2s, std::int64_t row,
                       int x, int entering, int lane) {
    const std::int64_t pixel = row + x;
    left = static_cast<const Feature*>(a.left)[pixel];
    p2 = p2s[pixel];
    low = right_feature(a, row, entering);
    high = right_feature(a, row, entering - a.disparities / 2);
    if constexpr (kSecond) {
      const auto* from =
          reinterpret_cast<const uint4*>(a.sums + pixel * a.disparities) + lane * (kWords / 8);
#pragma unroll
      for (int i = 0; i < kWords / 8; ++i)
        others[i] = from[i];
    }
  }

  __device__ static Feature right_feature(const HorizontalArguments& a, std::int64_t row, int x) {
    const bool inside = static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
    return inside ? static_cast<const Feature*>(a.right)[row + x] : Feature{0};
  }
};

/// A half of the rows of one warp, in one direction. first: the row of the warp's first pixel.
template <int kWords, int kSteps, class Feature, bool kSecond, bool kForward>
__device__ void walk(const HorizontalArguments& a, const PathLanes<kSteps>& lanes, int first) {
  constexpr int ahead = kWords == 8 ? 4 : 2;  // steps from a load to its use
  const int y = first + lanes.unit;
  const bool works = lanes.used && y < a.height;
  const std::int64_t row = static_cast<std::int64_t>(y) * a.width;
  const int middle = a.width / 2;
  const int begin = kForward ? (kSecond ? middle : 0) : (kSecond ? middle - 1 : a.width - 1);
  const int steps = kForward == kSecond ? a.width - middle : middle;
  constexpr int direction = kForward ? 1 : -1;
  uint4* const state =
      a.states +
      ((kForward ? 0 : a.height) + static_cast<std::int64_t>(y)) * (a.lanes * (kWords / 8)) +
      lanes.lane * (kWords / 8);
  const std::uint32_t* const p2s = a.p2[kForward ? 0 : 1];

  std::uint32_t path[kWords];
  uint4 from[kWords / 8]{};
  if (kSecond && works)
#pragma unroll
    for (int i = 0; i < kWords / 8; ++i)
      from[i] = state[i];
#pragma unroll
  for (int k = 0; k < kWords; ++k)
    path[k] = word_of_bytes(from, k);
  std::uint32_t least = 0;  // of states it is taken off

  // The features of the right picture at this lane's disparities. One pixel further all of them
  // belong to the next disparity, so it is their places that turn.
  Feature low[kWords], high[kWords];
  const int right_of_lane = begin - a.minimum - lanes.lane * kWords;
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    using Loads = HorizontalLoads<kWords, Feature, kSecond>;
    const int x = right_of_lane - direction - k;
    low[k] = works ? Loads::right_feature(a, row, x) : Feature{0};
    high[k] = works ? Loads::right_feature(a, row, x - a.disparities / 2) : Feature{0};
  }
  const int entering = right_of_lane - (kForward ? 0 : kWords - 1);

  HorizontalLoads<kWords, Feature, kSecond> loads[ahead];
#pragma unroll
  for (int i = 0; i < ahead; ++i)
    if (works && i < steps)
      loads[i].load(a, p2s, row, begin + direction * i, entering + direction * i, lanes.lane);

  for (int start = 0; start < steps; start += kWords) {
#pragma unroll
    for (int j = 0; j < kWords; ++j) {
      const int step = start + j;
      if (step >= steps)
        break;
      auto& now = loads[j % ahead];
      // After j + 1 turns the places have moved that far.
      constexpr int turns = kForward ? kWords - 1 : 1;
      const int turned = (j + 1) * turns;
      const int entered = kForward ? 0 : kWords - 1;
      low[(entered + turned) % kWords] = now.low;
      high[(entered + turned) % kWords] = now.high;
      std::uint32_t costs[kWords];
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        costs[k] = differing_bits(now.left, low[(k + turned) % kWords], ~0u) +
                   (differing_bits(now.left, high[(k + turned) % kWords], ~0u) << 16);
      advance(lanes, costs, a.p1, byte_in_halves<3>(now.p2), least, path);

      uint4* const to =
          reinterpret_cast<uint4*>(a.sums + (row + begin + direction * step) * a.disparities);
      if constexpr (kSecond) {
        std::uint32_t sums[kWords];
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          sums[k] = path[k] + word_of_bytes(now.others, k);
        uint4 vectors[kWords / 4];
        in_order(sums, vectors);
        __syncwarp();  // all lanes have what they overwrite
        if (works)
#pragma unroll
          for (int i = 0; i < kWords / 8; ++i) {
            to[lanes.lane * (kWords / 8) + i] = vectors[i];
            to[(a.lanes + lanes.lane) * (kWords / 8) + i] = vectors[kWords / 8 + i];
          }
      } else if (works) {
        store_bytes(path, to + lanes.lane * (kWords / 8));
      }
      if (works && step + ahead < steps)
        now.load(a, p2s, row, begin + direction * (step + ahead),
                 entering + direction * (step + ahead), lanes.lane);
      least = least_cost(lanes, least_of(path));
    }
  }

  if constexpr (!kSecond) {
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      path[k] -= least;
    if (works)
      store_bytes(path, state);
  }
}

/// As many warps for the paths to the right as the rows take, then as many for those to the left.
template <int kWords, int kSteps, class Feature, bool kSecond>
__global__ void __launch_bounds__(horizontal_threads)
    horizontal_kernel(const __grid_constant__ HorizontalArguments a) {
  let_next_launch_in();
  wait_for_last_launch();
  const PathLanes<kSteps> lanes(a.lanes, a.units);
  const int warps = (a.height + a.units - 1) / a.units;
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (warp < warps)
    walk<kWords, kSteps, Feature, kSecond, true>(a, lanes, warp * a.units);
  else if (warp < 2 * warps)
    walk<kWords, kSteps, Feature, kSecond, false>(a, lanes, (warp - warps) * a.units);
}

}  // namespace cudavision::sgm
