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

/// A feature of the right picture, which is in column x.
template <class Feature>
__device__ Feature right_feature(const Feature* feature, int x, int width) {
  const bool inside = static_cast<unsigned>(x) < static_cast<unsigned>(width);
  return inside ? *feature : Feature{0};
}

/// What a step needs from memory, loaded some steps before.
template <int kWords, class Feature, bool kSecond>
struct HorizontalLoads {
  Feature left{}, low{}, high{};  // low, high: what comes into the windows
  std::uint32_t p2 = 0;
  uint4 others[kSecond ? kWords / 8 : 1]{};  // the other path's costs
};

/// Where the loads of a step are from, others apart.
template <class Feature>
struct HorizontalCursor {
  const Feature* left;
  const std::uint32_t* p2;
  const Feature *low, *high;
  int low_x, high_x;  // far beyond the picture for idle lanes

  /// Of the step that is `step` columns further.
  template <class Loads>
  __device__ void load(int step, int width, Loads& to) const {
    to.left = left[step];
    to.p2 = p2[step];
    to.low = right_feature(low + step, low_x + step, width);
    to.high = right_feature(high + step, high_x + step, width);
  }
  __device__ void move(int steps) {
    left += steps;
    p2 += steps;
    low += steps;
    high += steps;
    low_x += steps;
    high_x += steps;
  }
};

/// A half of the rows of one warp, in one direction. first: the row of the warp's first pixel.
template <int kWords, int kSteps, class Feature, bool kSecond, bool kForward>
__device__ void walk(const HorizontalArguments& a, const PathLanes<kSteps>& lanes, int first) {
  constexpr int ahead = kWords == 8 ? 4 : 2;  // steps from a load to its use
  constexpr int vectors = kWords / 8;         // of costs as bytes
  constexpr int direction = kForward ? 1 : -1;
  const int y = first + lanes.unit;
  const bool works = lanes.used && y < a.height;
  const std::int64_t row = static_cast<std::int64_t>(works ? y : 0) * a.width;
  const int middle = a.width / 2;
  const int begin = kForward ? (kSecond ? middle : 0) : (kSecond ? middle - 1 : a.width - 1);
  const int steps = kForward == kSecond ? a.width - middle : middle;

  uint4* const state =
      a.states + ((kForward ? 0 : a.height) + static_cast<std::int64_t>(y)) * (a.lanes * vectors) +
      lanes.lane * vectors;
  std::uint32_t path[kWords];
  uint4 from[vectors]{};
  if (kSecond && works)
#pragma unroll
    for (int i = 0; i < vectors; ++i)
      from[i] = state[i];
#pragma unroll
  for (int k = 0; k < kWords; ++k)
    path[k] = word_of_bytes(from, k);
  std::uint32_t least = 0;  // of states it is taken off

  // The features of the right picture at this lane's disparities. One pixel further all of them
  // belong to the next disparity, so it is their places that turn.
  const int half = a.disparities / 2;
  const int seen = works ? begin - a.minimum - lanes.lane * kWords : -(1 << 24);
  const auto* const right = static_cast<const Feature*>(a.right) + row;
  Feature low[kWords], high[kWords];
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const int x = seen - direction - k;
    low[k] = right_feature(right + x, x, a.width);
    high[k] = right_feature(right + x - half, x - half, a.width);
  }

  // This lane's vectors of the first pixel's sums, and from one pixel to the next.
  uint4* const sums_of_row =
      reinterpret_cast<uint4*>(a.sums + (row + begin) * a.disparities) + lanes.lane * vectors;
  const int stride = direction * (a.disparities / 8);
  int at = 0;
  const int entering = seen - (kForward ? 0 : kWords - 1);
  HorizontalCursor<Feature> cursor{static_cast<const Feature*>(a.left) + row + begin,
                                   a.p2[kForward ? 0 : 1] + row + begin,
                                   right + entering,
                                   right + entering - half,
                                   entering,
                                   entering - half};
  HorizontalLoads<kWords, Feature, kSecond> loads[ahead];
  const auto load = [&](int step, int sums_at, auto& to) {
    cursor.load(step, a.width, to);
    if constexpr (kSecond)
#pragma unroll
      for (int i = 0; i < vectors; ++i)
        to.others[i] = sums_of_row[sums_at + i];
  };
#pragma unroll
  for (int i = 0; i < ahead; ++i)
    if (works && i < steps)
      load(direction * i, stride * i, loads[i]);

  for (int start = 0; start < steps; start += kWords) {
#pragma unroll
    for (int j = 0; j < kWords; ++j) {
      if (start + j >= steps)
        break;
      auto& now = loads[j % ahead];
      // After j + 1 turns the places have moved that far.
      const int turned = (j + 1) * (kForward ? kWords - 1 : 1);
      const int entered = ((kForward ? 0 : kWords - 1) + turned) % kWords;
      low[entered] = now.low;
      high[entered] = now.high;
      std::uint32_t costs[kWords];
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        costs[k] = in_halves(differing_bits(now.left, low[(k + turned) % kWords], ~0u),
                             differing_bits(now.left, high[(k + turned) % kWords], ~0u));
      advance(lanes, costs, a.p1, byte_in_halves(now.p2, 0x4343), least, path);

      if constexpr (kSecond) {
        std::uint32_t sums[kWords];
#pragma unroll
        for (int k = 0; k < kWords; ++k)
          sums[k] = path[k] + word_of_bytes(now.others, k);
        uint4 ordered[2 * vectors];
        in_order(sums, ordered);
        __syncwarp();  // all lanes have what is overwritten now
        if (works)
#pragma unroll
          for (int i = 0; i < vectors; ++i) {
            sums_of_row[at + i] = ordered[i];
            sums_of_row[at + a.lanes * vectors + i] = ordered[vectors + i];
          }
      } else if (works) {
        store_bytes(path, sums_of_row + at);
      }
      if (works && start + j + ahead < steps)
        load(direction * (j + ahead), at + ahead * stride, now);
      at += stride;
      // Numbers prepared for each of the many steps in this loop would fill the registers.
      forget_origin(at);
      forget_origin(cursor.low_x);
      forget_origin(cursor.high_x);
      least = least_cost(lanes, least_of(path));
    }
    cursor.move(direction * kWords);
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
__global__ void __launch_bounds__(horizontal_threads, 1)
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
