// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The paths downwards and upwards. A block has two warps, one for each direction, and follows four
// columns from end to end. A warp keeps the next rows on their way to a ring in shared memory.

#include "cuda/sgm/fourpaths/cuda.h"
#include "cuda/sgm/fourpaths/lanes.cuh"

namespace cudavision::sgm {
namespace {

constexpr int columns = 4;  // per block: 16 bytes of each plane
constexpr int ring_rows = 8;

/// A row of the ring: the features of the right picture, from D columns before the block's first
/// one to its last one, then those of the left picture, then penalties.
template <int kDisparities>
struct ColumnsRing {
  static constexpr int right_words = kDisparities + columns;
  static constexpr int left_at = right_words, penalty_at = left_at + columns;
  static constexpr int words = penalty_at + columns;
  static constexpr int chunks = words / 4;
  static constexpr int chunks_per_lane = (chunks + 31) / 32;
  static constexpr int pixels = kDisparities / 64;  ///< per lane
  /// For both warps: the rings, and the bytes that the opposite path has stored.
  static constexpr std::size_t shared_bytes =
      2 * ring_rows * (sizeof(std::uint32_t) * words + sizeof(uint2) * 32 * pixels);
};

/// One of the two warps.
template <int kDisparities>
class ColumnsWarp {
  using Ring = ColumnsRing<kDisparities>;
  static constexpr int pixels = Ring::pixels;

 public:
  __device__ ColumnsWarp(const PathsArguments& a, std::uint32_t* ring, uint2* stored, bool up)
      : ring_(ring), stored_(stored), height_(a.height), p1_(a.p1) {
    const int number = static_cast<int>(threadIdx.x % 32);
    const int first = static_cast<int>(blockIdx.x) * columns;
    const int y = up ? a.height - 1 : 0;
    row_step_ = (up ? -1 : 1) * static_cast<std::int64_t>(a.planes.pitch);
    const std::int64_t row = static_cast<std::int64_t>(y) * a.planes.pitch + first;
#pragma unroll
    for (int i = 0; i < Ring::chunks_per_lane; ++i) {
      const int word = 4 * (number + 32 * i);
      if (word < Ring::left_at)
        from_[i] = a.planes.right + row - kDisparities + word;
      else if (word < Ring::penalty_at)
        from_[i] = a.planes.left + row;
      else
        from_[i] = a.planes.vertical + row + (up ? a.planes.pitch : 0);
    }
    const int own = first + lanes_.group * pixels;
    sums_ = a.sums.columns + (static_cast<std::int64_t>(y) * a.columns + own) * kDisparities +
            8 * lanes_.lane;
    stored_from_ = sums_;
    sum_step_ = (up ? -1 : 1) * static_cast<std::int64_t>(a.columns) * kDisparities;
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      outside_[i] = own + i < a.width ? 0 : 0xffffffffu;
    for (int i = 0; i < ring_rows - 1; ++i)
      fetch(false);
    __pipeline_wait_prior(ring_rows - 2);
    __syncwarp();
    compute_costs(0);
    current_ = next_;
  }

  /// Follows the first `count` rows, and stores L − C.
  __device__ void first_half(int count) {
#pragma unroll 2
    for (; row_ < count; ++row_) {
      follow<false>();
      fetch(false);
    }
  }

  /// Follows the other rows, and adds what the opposite path has stored.
  __device__ void second_half() {
    __pipeline_wait_prior(0);
    // The features of the next rows are in the ring; their stored bytes are not.
    const std::uint8_t* from = stored_from_ - (ring_rows - 1) * sum_step_;
    for (int i = 0; i < ring_rows - 1; ++i, from += sum_step_) {
      if (row_ + i < height_)
        fetch_stored((row_ + i) % ring_rows, from);
      __pipeline_commit();
    }
#pragma unroll 2
    for (; row_ < height_; ++row_) {
      follow<true>();
      fetch(true);
    }
  }

 private:
  __device__ void fetch_stored(int slot, const std::uint8_t* from) {
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      __pipeline_memcpy_async(stored_ + (slot * pixels + i) * 32, from + i * kDisparities,
                              sizeof(uint2));
  }

  /// Starts copying a row to the ring.
  __device__ void fetch(bool with_stored) {
    if (fetched_ < height_) {
      const int slot = fetched_ % ring_rows;
      const int number = static_cast<int>(threadIdx.x % 32);
#pragma unroll
      for (int i = 0; i < Ring::chunks_per_lane; ++i)
        if (number + 32 * i < Ring::chunks)
          __pipeline_memcpy_async(ring_ + slot * Ring::words + 4 * (number + 32 * i), from_[i],
                                  sizeof(uint4));
      if (with_stored)
        fetch_stored(slot, stored_from_);
    }
#pragma unroll
    for (int i = 0; i < Ring::chunks_per_lane; ++i)
      from_[i] += row_step_;
    stored_from_ += sum_step_;
    ++fetched_;
    __pipeline_commit();
  }

  /// Computes next_ from a row of the ring.
  __device__ void compute_costs(int row) {
    const std::uint32_t* const ring = ring_ + row % ring_rows * Ring::words;
    // Word k of pixel i meets the column i − k after the one that `at` points to, and in its upper
    // half the column D/2 before that.
    const std::uint32_t* const at =
        ring + kDisparities + lanes_.group * pixels - words_per_lane * lanes_.lane;
    constexpr int count = pixels + words_per_lane - 1;
    std::uint32_t right[2][count];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t* const from = at - half * (kDisparities / 2);
      if constexpr (pixels == 4) {
        const uint4 low = *reinterpret_cast<const uint4*>(from - 4);
        const uint4 high = *reinterpret_cast<const uint4*>(from);
        right[half][0] = low.y, right[half][1] = low.z, right[half][2] = low.w;
        right[half][3] = high.x, right[half][4] = high.y, right[half][5] = high.z;
        right[half][6] = high.w;
      } else if constexpr (pixels == 2) {
        const uint2 low = *reinterpret_cast<const uint2*>(from - 2);
        const uint2 high = *reinterpret_cast<const uint2*>(from);
        right[half][0] = from[-3], right[half][1] = low.x, right[half][2] = low.y;
        right[half][3] = high.x, right[half][4] = high.y;
      } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
          right[half][i] = from[i - 3];
      }
    }
    const std::uint32_t* const left = ring + Ring::left_at + lanes_.group * pixels;
    const std::uint32_t* const penalty = ring + Ring::penalty_at + lanes_.group * pixels;
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      next_.penalty[i] = penalty[i];
#pragma unroll
      for (int k = 0; k < words_per_lane; ++k)
        next_.costs[i][k] = costs_of(left[i], right[0][i + 3 - k], right[1][i + 3 - k]);
    }
  }

  /// Takes the step to a row. The costs of the next row are computed meanwhile.
  template <bool kAddStored>
  __device__ void follow() {
    __pipeline_wait_prior(ring_rows - 3);
    __syncwarp();
    compute_costs(row_ + 1);
    uint2 bytes[pixels], stored[pixels];
    if constexpr (kAddStored) {
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        stored[i] = stored_[(row_ % ring_rows * pixels + i) * 32];
    }
    advance<kDisparities>(lanes_, state_, p1_, current_, bytes);
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      if constexpr (kAddStored) {
        const uint2 costs = packed(current_.costs[i]);
        bytes[i].x = multiply_add(costs.x, 4, bytes[i].x) + stored[i].x | outside_[i];
        bytes[i].y = multiply_add(costs.y, 4, bytes[i].y) + stored[i].y | outside_[i];
      }
      *reinterpret_cast<uint2*>(sums_ + i * kDisparities) = bytes[i];
    }
    sums_ += sum_step_;
    current_ = next_;
  }

  const GroupLanes<kDisparities> lanes_;
  std::uint32_t* const ring_;
  uint2* const stored_;  // the lane's own part
  const int height_;
  const std::uint32_t p1_;
  std::int64_t row_step_, sum_step_;  // to the next row of the path
  const std::uint32_t* from_[Ring::chunks_per_lane];
  std::uint8_t* sums_;
  const std::uint8_t* stored_from_;
  std::uint32_t outside_[pixels];  // all bits for a column outside the picture
  PathState<pixels> state_{};
  PixelCosts<pixels> current_, next_;
  int row_ = 0, fetched_ = 0;
};

template <int kDisparities>
__global__ void __launch_bounds__(64, kDisparities == 64    ? 8
                                      : kDisparities == 128 ? 6
                                                            : 4)
    columns_kernel(const __grid_constant__ PathsArguments a) {
  extern __shared__ uint4 columns_shared[];
  using Ring = ColumnsRing<kDisparities>;
  // The compiler does not see that all lanes of a warp have the same threadIdx.x / 32.
  const int warp = __shfl_sync(whole_warp, static_cast<int>(threadIdx.x / 32), 0);
  auto* const rings = reinterpret_cast<std::uint32_t*>(columns_shared);
  auto* const stored = reinterpret_cast<uint2*>(rings + 2 * ring_rows * Ring::words);
  ColumnsWarp<kDisparities> paths(a, rings + warp * ring_rows * Ring::words,
                                  stored + warp * ring_rows * Ring::pixels * 32 + threadIdx.x % 32,
                                  warp == 1);
  paths.first_half(warp == 1 ? a.height / 2 : a.height - a.height / 2);
  wait_for_other_warp();
  paths.second_half();
}

}  // namespace

PathsLaunch columns_launch(const StageConfig& config) {
  return with_constant(config.disparities, [&](auto disparities) {
    const int blocks = MatchExtent(config).columns / columns;
    return PathsLaunch{columns_kernel<disparities>, static_cast<unsigned>(blocks), 64,
                       ColumnsRing<disparities>::shared_bytes};
  });
}

}  // namespace cudavision::sgm
