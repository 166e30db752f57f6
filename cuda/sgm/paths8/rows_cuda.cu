// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rightward and leftward paths. A block follows one to four rows from end to end, with one warp
// per direction. Each warp prefetches the next pixels into rings in shared memory.

#include "cuda/sgm/paths8/lanes.cuh"
#include "cuda/sgm/paths8/paths8_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int block_pixels = 16;  // pixels of a row that are fetched at once
constexpr int step_pixels = 4;    // pixels whose costs are computed at once
constexpr int fetched_ahead = 2 * block_pixels;
static_assert(MatchExtent::column_unit % block_pixels == 0);

template <int kDisparities>
struct RowsRing {
  static constexpr int rows = GroupLanes<kDisparities, true>::groups;  ///< rows per warp
  static constexpr int right_words = 2 * kDisparities;                 ///< a power of two
  static_assert(right_words >= kDisparities + fetched_ahead + block_pixels);
  static constexpr int other_words = 64;
  static_assert(other_words >= fetched_ahead + 2 * block_pixels);
  static constexpr int left_at = right_words, penalty_at = left_at + other_words;
  static constexpr int words = penalty_at + other_words;
  static constexpr int stored_pixels = 2 * block_pixels;
  /// The rings of both warps, and the bytes that the opposite paths have stored.
  static constexpr std::size_t shared_bytes =
      2 * (sizeof(std::uint32_t) * rows * words + sizeof(uint2) * 32 * stored_pixels);
};

template <int kDisparities, bool kWhole, bool kToTheRight>
class RowsWarp {
  using Ring = RowsRing<kDisparities>;

 public:
  __device__ RowsWarp(const PathsArguments& a, std::uint32_t* rings, uint2* stored)
      : a_(a),
        lanes_(a.disparities),
        rings_(rings),
        ring_(rings + lanes_.group * Ring::words),
        stored_(stored),
        first_row_(static_cast<int>(blockIdx.x) * Ring::rows),
        blocks_(a.columns / block_pixels),
        x_(kToTheRight ? 0 : a.columns - block_pixels),
        p1_(a.penalty.in_halves()),
        twice_p1_(p1_ * 0x202),
        state_(p1_) {
    // The volume has padding rows at its end, so that each group of lanes has its own row.
    sums_ = a.sums.rows +
            static_cast<std::int64_t>(first_row_ + lanes_.group) * a.sums.pitch * kDisparities +
            8 * lanes_.lane;
    fetch_window();
    for (int i = 0; i < fetched_ahead; i += block_pixels)
      fetch(x_ + forwards * i);
  }

  /// Follows the path to the middle of the row, and stores L − C + P1.
  __device__ void first_half() {
    // Both directions stop at the same boundary between blocks of pixels.
    const int count = kToTheRight ? blocks_ - blocks_ / 2 : blocks_ / 2;
    for (int i = 0; i < count; ++i) {
      wait();
      fetch(x_ + forwards * fetched_ahead);
      follow_block<false>();
    }
    blocks_ -= count;
  }

  /// Follows the path to its end, and adds the bytes that the opposite path has stored.
  __device__ void second_half() {
    fetch_stored(x_);
    __pipeline_commit();
    for (; blocks_ > 0; --blocks_) {
      wait();
      fetch_stored(x_ + forwards * block_pixels);
      fetch(x_ + forwards * fetched_ahead);
      follow_block<true>();
    }
    __pipeline_wait_prior(0);
  }

 private:
  static constexpr int forwards = kToTheRight ? 1 : -1;

  static __device__ int right_slot(int x) { return x & (Ring::right_words - 1); }
  static __device__ int slot(int x) { return x & (Ring::other_words - 1); }

  static __device__ void wait() {
    __pipeline_wait_prior(0);
    __syncwarp();
  }

  /// Rows below the band repeat its last row.
  __device__ std::int64_t row_begin(int row) const {
    return static_cast<std::int64_t>(min(first_row_ + row, a_.height - 1)) * a_.planes.pitch;
  }

  /// Copies the right features that the first block needs and fetch() does not copy.
  __device__ void fetch_window() {
    constexpr int row_vectors = (kToTheRight ? kDisparities + block_pixels : kDisparities) / 4;
    const int first = kToTheRight ? -kDisparities - block_pixels : a_.columns - kDisparities;
    for (int i = static_cast<int>(threadIdx.x % 32); i < Ring::rows * row_vectors; i += 32) {
      const int row = i / row_vectors, x = first + i % row_vectors * 4;
      __pipeline_memcpy_async(rings_ + row * Ring::words + right_slot(x),
                              a_.planes.right + row_begin(row) + x, sizeof(uint4));
    }
  }

  __device__ void fetch(int x) {
    if (x >= 0 && x < a_.columns)
      for (int i = static_cast<int>(threadIdx.x % 32); i < 3 * Ring::rows * block_pixels / 4;
           i += 32) {
        const int row = i / (3 * block_pixels / 4), vector = i % (3 * block_pixels / 4);
        const int plane = vector / (block_pixels / 4);
        const int at = x + vector % (block_pixels / 4) * 4;
        const int right_x = kToTheRight ? at : at - kDisparities;
        std::uint32_t* const ring = rings_ + row * Ring::words;
        if (plane == 0)
          __pipeline_memcpy_async(ring + right_slot(right_x),
                                  a_.planes.right + row_begin(row) + right_x, sizeof(uint4));
        else if (plane == 1)
          __pipeline_memcpy_async(ring + Ring::left_at + slot(at),
                                  a_.planes.left + row_begin(row) + at, sizeof(uint4));
        else
          __pipeline_memcpy_async(ring + Ring::penalty_at + slot(at),
                                  a_.planes.horizontal + row_begin(row) + at, sizeof(uint4));
      }
    __pipeline_commit();
  }

  __device__ void fetch_stored(int x) {
    if (x >= 0 && x < a_.columns)
#pragma unroll
      for (int i = 0; i < block_pixels; ++i)
        __pipeline_memcpy_async(stored_ + ((x & (Ring::stored_pixels - 1)) + i) * 32,
                                sums_ + static_cast<std::int64_t>(x + i) * kDisparities,
                                sizeof(uint2));
  }

  template <bool kAddStored>
  __device__ void follow_block() {
    // Unrolled, the loop is too large for the instruction cache.
#pragma unroll 1
    for (int i = 0; i < block_pixels; i += step_pixels) {
      const int x = kToTheRight ? x_ + i : x_ + block_pixels - step_pixels - i;
      if (x + step_pixels <= a_.width)
        follow<kAddStored, true>(x);
      else
        follow<kAddStored, false>(x);
    }
    x_ += forwards * block_pixels;
  }

  template <bool kAddStored, bool kInside>
  __device__ void follow(int x) {
    PixelCosts<1> pixels[step_pixels];
    compute_costs(x, pixels);
    uint2 stored[step_pixels];
    if constexpr (kAddStored) {
#pragma unroll
      for (int i = 0; i < step_pixels; ++i)
        stored[i] = stored_[((x & (Ring::stored_pixels - 1)) + i) * 32];
    }
#pragma unroll
    for (int n = 0; n < step_pixels; ++n) {
      const int i = kToTheRight ? n : step_pixels - 1 - n;
      uint2 bytes[1];
      advance<false>(lanes_, state_, p1_, pixels[i], 0, bytes);
      if constexpr (kAddStored) {
        const std::uint32_t largest =
            kInside || x + i < a_.width ? lanes_.missing_bytes() : 0xffffffffu;
        bytes[0].x = bytes[0].x + stored[i].x - twice_p1_ | largest;
        bytes[0].y = bytes[0].y + stored[i].y - twice_p1_ | largest;
      }
      *reinterpret_cast<uint2*>(sums_ + static_cast<std::int64_t>(x + i) * kDisparities) = bytes[0];
    }
  }

  __device__ void compute_costs(int x, PixelCosts<1> (&pixels)[step_pixels]) const {
    std::uint32_t right[2][2 * step_pixels];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = x - words_per_lane * lanes_.lane - half * (kDisparities / 2);
      load_four(ring_ + right_slot(at - 4), right[half]);
      load_four(ring_ + right_slot(at), right[half] + 4);
    }
    std::uint32_t left[step_pixels], penalties[step_pixels];
    load_four(ring_ + Ring::left_at + slot(x), left);
    load_four(ring_ + Ring::penalty_at + slot(x), penalties);
#pragma unroll
    for (int i = 0; i < step_pixels; ++i) {
#pragma unroll
      for (int k = 0; k < words_per_lane; ++k)
        pixels[i].costs[0][k] = costs_of(left[i], right[0][4 + i - k], right[1][4 + i - k]);
      if constexpr (kToTheRight)
        pixels[i].p2[0] = penalties[i];
      else  // P2 of a step is stored at its right pixel
        pixels[i].p2[0] = i + 1 < step_pixels ? penalties[i + 1]
                                              : ring_[Ring::penalty_at + slot(x + step_pixels)];
    }
  }

  static __device__ void load_four(const std::uint32_t* from, std::uint32_t* to) {
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }

  const PathsArguments& a_;
  const GroupLanes<kDisparities, kWhole> lanes_;
  std::uint32_t* const rings_;
  const std::uint32_t* const ring_;  // ring of the lane's row
  uint2* const stored_;              // bytes for this lane that the opposite path has stored
  const int first_row_;
  int blocks_;  // blocks of pixels left to follow
  int x_;
  std::uint8_t* sums_;                 // sums of the lane's row
  const std::uint32_t p1_, twice_p1_;  // P1 in both halves, 2·P1 in all bytes
  PathState<1> state_;
};

template <int kDisparities, bool kWhole>
__global__ void __launch_bounds__(64, 8) rows_kernel(const __grid_constant__ PathsArguments a) {
  extern __shared__ uint4 rows_shared[];
  using Ring = RowsRing<kDisparities>;
  // The compiler does not know that threadIdx.x / 32 is uniform in a warp.
  const int warp = __shfl_sync(whole_warp, static_cast<int>(threadIdx.x / 32), 0);
  auto* const rings = reinterpret_cast<std::uint32_t*>(rows_shared);
  auto* const stored = reinterpret_cast<uint2*>(rings + 2 * Ring::rows * Ring::words);
  const auto follow = [&](auto&& paths) {
    paths.first_half();
    wait_for_other_warp();
    paths.second_half();
  };
  std::uint32_t* const own_rings = rings + warp * Ring::rows * Ring::words;
  uint2* const own_stored = stored + warp * Ring::stored_pixels * 32 + threadIdx.x % 32;
  if (warp == 0)
    follow(RowsWarp<kDisparities, kWhole, true>(a, own_rings, own_stored));
  else
    follow(RowsWarp<kDisparities, kWhole, false>(a, own_rings, own_stored));
}

}  // namespace

PathsLaunch rows_launch(const StageConfig& config, int rows) {
  return with_constants(config, [&](auto disparities, auto whole) {
    using Ring = RowsRing<disparities>;
    return PathsLaunch{rows_kernel<disparities, whole>,
                       static_cast<unsigned>((rows + Ring::rows - 1) / Ring::rows), 64,
                       Ring::shared_bytes};
  });
}

}  // namespace cudavision::sgm
