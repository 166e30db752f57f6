// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the features and P2 of a row in shared memory, loaded during the previous steps.

#include "cuda/sgm/paths16/horizontal_lanes.cuh"

namespace cudavision::sgm {

constexpr int horizontal_stage = 32;  // steps whose data are staged at once

/// Returns the number of right features in the ring. At a step, entry disparities + step − d is for
/// disparity d. The first entries are repeated after the last, so that vector loads do not wrap.
__host__ __device__ inline int horizontal_ring(int disparities) {
  return disparities + horizontal_stage;
}

__host__ __device__ inline int horizontal_row_bytes(int disparities, int feature_bytes) {
  return (horizontal_ring(disparities) + 2 * horizontal_stage) * feature_bytes +
         horizontal_stage * static_cast<int>(sizeof(std::uint32_t));
}

template <class Feature, int kUnits>
class HorizontalRow {
 public:
  Feature* right;  // the ring buffer, in shared memory
  Feature* left;
  std::uint32_t* bounds;  // P2 − P1 in both halves

  /// left_row, right_row and p2_row point to column 0. The first step is at column `begin`. There,
  /// the path's disparity 0 belongs to column `seen` of the right picture.
  __device__ HorizontalRow(const HorizontalLanes<kUnits>& lanes, unsigned char* shared,
                           int disparities, const Feature* left_row, const Feature* right_row,
                           const std::uint32_t* p2_row, int width, bool replicates, int begin,
                           int seen, int direction, int steps, std::uint32_t p1)
      : right(reinterpret_cast<Feature*>(shared)),
        left(right + horizontal_ring(disparities) + horizontal_stage),
        bounds(reinterpret_cast<std::uint32_t*>(left + horizontal_stage)),
        left_row_(left_row),
        right_row_(right_row),
        p2_row_(p2_row),
        width_(width),
        replicates_(replicates),
        begin_(begin),
        seen_(seen),
        direction_(direction),
        steps_(steps),
        p1_(p1),
        thread_(lanes.thread),
        ring_(horizontal_ring(disparities)),
        put_at_(disparities) {
    for (int step = thread_; step < disparities; step += threads)
      right[step] = right_feature(step - disparities);
    load(0);
  }

  __device__ void put() {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kUnits; ++i) {
      const int step = i * threads + thread_;
      right[put_at_ + step] = right_[i];
      if (put_at_ == 0)
        right[ring_ + step] = right_[i];
      left[step] = left_[i];
      bounds[step] = __byte_perm(p2_[i], 0, 0x4343) - p1_;
    }
    put_at_ = put_at_ + horizontal_stage < ring_ ? put_at_ + horizontal_stage : 0;
    __syncwarp();
  }

  __device__ void load(int first) {
#pragma unroll
    for (int i = 0; i < kUnits; ++i) {
      const int step = first + i * threads + thread_;
      const bool inside = step < steps_;
      const int x = begin_ + direction_ * step;
      right_[i] = right_feature(step);
      left_[i] = inside ? left_row_[x] : Feature{0};
      p2_[i] = inside ? p2_row_[x] : 0;
    }
  }

 private:
  static constexpr int threads = HorizontalLanes<kUnits>::threads;

  __device__ Feature right_feature(int step) const {
    return right_feature_at(right_row_, seen_ + direction_ * step, width_, replicates_);
  }

  const Feature *left_row_, *right_row_;
  const std::uint32_t* p2_row_;
  int width_;
  bool replicates_;
  int begin_, seen_, direction_, steps_;
  std::uint32_t p1_;
  int thread_;
  int ring_, put_at_;
  Feature left_[kUnits], right_[kUnits];
  std::uint32_t p2_[kUnits];
};

}  // namespace cudavision::sgm
