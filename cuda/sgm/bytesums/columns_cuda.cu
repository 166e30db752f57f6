// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The paths downwards and upwards: along columns and, if there are 8 paths, along diagonals. A
// block has two warps, one for each direction, and follows four neighbouring paths from end to end.
// A warp keeps the next rows on their way to a ring in shared memory.
//
// A diagonal is a column that moves by a pixel from row to row and wraps around at the ends of the
// rows, where another path begins. So no block waits for another one, and all follow as many
// pixels.

#include "cuda/sgm/bytesums/cuda.h"
#include "cuda/sgm/bytesums/lanes.cuh"

namespace cudavision::sgm {
namespace {

constexpr int columns = 4;  // per block: 16 bytes of each plane
constexpr int ring_rows = 8;

/// Returns the blocks for the paths along columns, or along diagonals of one kind, of `count`
/// columns. One block more than they fill keeps the ends of the rows apart.
CUDAVISION_HOST_DEVICE constexpr int slanted_blocks(int count) {
  return count / columns + 1;
}

/// A row of the ring: the features of the right picture, from D columns before the block's first
/// one to its last one, then those of the left picture, then penalties.
template <int kDisparities>
struct ColumnsRing {
  static constexpr int right_words = kDisparities + columns;
  static constexpr int left_at = right_words, penalty_at = left_at + columns;
  static constexpr int words = penalty_at + columns;
  static constexpr int pixels = kDisparities / 64;  ///< per lane
  /// For both warps: the rings, and the bytes that the opposite path has stored.
  static constexpr std::size_t shared_bytes =
      2 * ring_rows * (sizeof(std::uint32_t) * words + sizeof(uint2) * 32 * pixels);
};

/// Where a lane of a warp is in its picture, going along columns. Member functions that take `i`
/// are about the pixel i of the lane in the current row.
template <int kDisparities, bool kWhole>
class StraightWay {
  using Ring = ColumnsRing<kDisparities>;
  static constexpr int chunks = Ring::words / 4;
  static constexpr int chunks_per_lane = (chunks + 31) / 32;

 public:
  /// True if pixels enter and leave the picture on the way.
  static constexpr bool wraps = false;

  __device__ StraightWay(const PathsArguments& a, bool up,
                         const GroupLanes<kDisparities, kWhole>& lanes) {
    const int first = static_cast<int>(blockIdx.x) * columns;
    const int y = up ? a.height - 1 : 0;
    row_step_ = (up ? -1 : 1) * static_cast<std::int64_t>(a.planes.pitch);
    const std::int64_t row = static_cast<std::int64_t>(y) * a.planes.pitch + first;
#pragma unroll
    for (int i = 0; i < chunks_per_lane; ++i) {
      const int word = 4 * (static_cast<int>(threadIdx.x % 32) + 32 * i);
      if (word < Ring::left_at)
        from_[i] = a.planes.right + row - kDisparities + word;
      else if (word < Ring::penalty_at)
        from_[i] = a.planes.left + row;
      else
        from_[i] = a.planes.vertical + row + (up ? a.planes.pitch : 0);
    }
    const int own = first + lanes.group * Ring::pixels;
    sums_ = a.sums.columns + (static_cast<std::int64_t>(y) * a.columns + own) * kDisparities +
            8 * lanes.lane;
    sum_step_ = (up ? -1 : 1) * static_cast<std::int64_t>(a.columns) * kDisparities;
#pragma unroll
    for (int i = 0; i < Ring::pixels; ++i)
      largest_[i] = own + i < a.width ? lanes.missing_bytes() : 0xffffffffu;
  }

  /// Starts copying the next row of the planes.
  __device__ void fetch(std::uint32_t* ring) {
    const int number = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < chunks_per_lane; ++i) {
      if (number + 32 * i < chunks)
        __pipeline_memcpy_async(ring + 4 * (number + 32 * i), from_[i], sizeof(uint4));
      from_[i] += row_step_;
    }
  }

  /// fetch_stored() begins at the current row.
  __device__ void begin_stored() {
    stored_ = sums_;
  }
  /// Starts copying the lane's stored bytes of the next row.
  __device__ void fetch_stored(uint2* to) {
#pragma unroll
    for (int i = 0; i < Ring::pixels; ++i)
      __pipeline_memcpy_async(to + i * 32, stored_ + i * kDisparities, sizeof(uint2));
    stored_ += sum_step_;
  }

  /// All bits of the pixel's bytes that are to be the largest: if it is outside the picture, or
  /// their disparities are missing.
  __device__ std::uint32_t largest(int i) const {
    return largest_[i];
  }
  __device__ int cost_factor() const {
    return 4;
  }
  __device__ void store(int i, const uint2& bytes) const {
    *reinterpret_cast<uint2*>(sums_ + i * kDisparities) = bytes;
  }
  __device__ void go_on() {
    sums_ += sum_step_;
  }

 private:
  std::int64_t row_step_, sum_step_;  // to the next row of the path
  const std::uint32_t* from_[chunks_per_lane];
  std::uint8_t* sums_;
  const std::uint8_t* stored_;
  std::uint32_t largest_[Ring::pixels];
};

/// Likewise, going along columns, or along diagonals of either kind.
template <int kDisparities, bool kWhole>
class SlantedWay {
  using Ring = ColumnsRing<kDisparities>;
  /// The words of a row that lanes copy in turn, and those that one lane copies each.
  static constexpr int turns = kDisparities / 32;
  static constexpr int rest = Ring::words - kDisparities;

 public:
  static constexpr bool wraps = true;

  __device__ SlantedWay(const PathsArguments& a, bool up,
                        const GroupLanes<kDisparities, kWhole>& lanes)
      : width_(a.width), columns_(a.columns), missing_(lanes.missing_bytes()) {
    const int per_direction = slanted_blocks(a.columns);
    const int direction = static_cast<int>(blockIdx.x) / per_direction;
    const int slant = direction == 0 ? 0 : direction == 1 ? 1 : -1;
    const int y = up ? a.height - 1 : 0, number = static_cast<int>(threadIdx.x % 32);
    move_ = up ? -slant : slant;
    cost_factor_ = direction == 2 ? 2 : 3;  // 8 together
    const int first = (static_cast<int>(blockIdx.x) - direction * per_direction) * columns;
    const int unwrapped = (first + slant * y + columns - 1) % period();
    x_ = fetched_x_ = (unwrapped < 0 ? unwrapped + period() : unwrapped) - (columns - 1);

    row_step_ = (up ? -1 : 1) * static_cast<std::int64_t>(a.planes.pitch);
    const std::int64_t row = static_cast<std::int64_t>(y) * a.planes.pitch;
    right_ = a.planes.right + row - kDisparities + number;
    const std::uint32_t* const penalties =
        direction == 0 ? a.planes.vertical : a.planes.diagonal[direction - 1];
    if (number < columns)
      rest_ = a.planes.right + row + number;
    else if (number < 2 * columns)
      rest_ = a.planes.left + row + number - columns;
    else
      rest_ = penalties + row + number - 2 * columns + (up ? a.planes.pitch + slant : 0);

    own_ = lanes.group * Ring::pixels;
    std::uint8_t* const volume = direction == 0 ? a.sums.columns : a.sums.diagonals[direction - 1];
    sums_ = volume + static_cast<std::int64_t>(y) * a.columns * kDisparities + 8 * lanes.lane;
    sum_step_ = (up ? -1 : 1) * static_cast<std::int64_t>(a.columns) * kDisparities;
  }

  __device__ void fetch(std::uint32_t* ring) {
    const int number = static_cast<int>(threadIdx.x % 32);
    const std::uint32_t* const from = right_ + fetched_x_;
#pragma unroll
    for (int i = 0; i < turns; ++i)
      __pipeline_memcpy_async(ring + number + 32 * i, from + 32 * i, sizeof(std::uint32_t));
    if (number < rest)
      __pipeline_memcpy_async(ring + kDisparities + number, rest_ + fetched_x_,
                              sizeof(std::uint32_t));
    right_ += row_step_;
    rest_ += row_step_;
    fetched_x_ = moved(fetched_x_);
  }

  __device__ void begin_stored() {
    stored_ = sums_;
    stored_x_ = x_;
  }
  __device__ void fetch_stored(uint2* to) {
#pragma unroll
    for (int i = 0; i < Ring::pixels; ++i) {
      const int x = stored_x_ + own_ + i;
      if (has_sums(x))
        __pipeline_memcpy_async(to + i * 32, stored_ + static_cast<std::int64_t>(x) * kDisparities,
                                sizeof(uint2));
    }
    stored_ += sum_step_;
    stored_x_ = moved(stored_x_);
  }

  __device__ bool is_outside(int i) const {
    return static_cast<unsigned>(x_ + own_ + i) >= static_cast<unsigned>(width_);
  }
  __device__ std::uint32_t largest(int i) const {
    return is_outside(i) ? 0xffffffffu : missing_;
  }
  __device__ int cost_factor() const {
    return cost_factor_;
  }
  __device__ void store(int i, const uint2& bytes) const {
    const int x = x_ + own_ + i;
    if (has_sums(x))
      *reinterpret_cast<uint2*>(sums_ + static_cast<std::int64_t>(x) * kDisparities) = bytes;
  }
  __device__ void go_on() {
    sums_ += sum_step_;
    x_ = moved(x_);
  }

 private:
  /// The first column of a block is from 1 − columns to columns_. After columns_ it returns to
  /// 1 − columns, so that every path is outside the picture for at least 4 rows.
  __device__ int period() const {
    return columns_ + columns;
  }
  __device__ int moved(int x) const {
    x += move_;
    return x > columns_ ? x - period() : x < 1 - columns ? x + period() : x;
  }
  __device__ bool has_sums(int x) const {
    return static_cast<unsigned>(x) < static_cast<unsigned>(columns_);
  }

  const int width_, columns_;
  const std::uint32_t missing_;
  int move_;  // to the next row, in columns
  int own_;   // from the block's first column to the lane's
  int cost_factor_;
  int x_, fetched_x_, stored_x_;      // the block's first column in different rows
  std::int64_t row_step_, sum_step_;  // to the next row of the path
  const std::uint32_t *right_, *rest_;
  std::uint8_t* sums_;
  const std::uint8_t* stored_;
};

/// One of the two warps. Way is StraightWay or SlantedWay.
template <int kDisparities, bool kWhole, template <int, bool> class Way>
class ColumnsWarp {
  using Ring = ColumnsRing<kDisparities>;
  static constexpr int pixels = Ring::pixels;

 public:
  __device__ ColumnsWarp(const PathsArguments& a, std::uint32_t* ring, uint2* stored, bool up)
      : lanes_(a.disparities),
        way_(a, up, lanes_),
        ring_(ring),
        stored_(stored),
        height_(a.height),
        p1_(a.p1) {
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
    way_.begin_stored();
    // The features of the next rows are in the ring; their stored bytes are not.
    for (int i = 0; i < ring_rows - 1; ++i) {
      if (row_ + i < height_)
        way_.fetch_stored(stored_of(row_ + i));
      __pipeline_commit();
    }
#pragma unroll 2
    for (; row_ < height_; ++row_) {
      follow<true>();
      fetch(true);
    }
  }

 private:
  __device__ std::uint32_t* ring_of(int row) const {
    return ring_ + row % ring_rows * Ring::words;
  }
  __device__ uint2* stored_of(int row) const {
    return stored_ + row % ring_rows * pixels * 32;
  }

  /// Starts copying a row to the ring.
  __device__ void fetch(bool with_stored) {
    if (fetched_ < height_) {
      way_.fetch(ring_of(fetched_));
      if (with_stored)
        way_.fetch_stored(stored_of(fetched_));
    }
    ++fetched_;
    __pipeline_commit();
  }

  /// Computes next_ from a row of the ring.
  __device__ void compute_costs(int row) {
    const std::uint32_t* const ring = ring_of(row);
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
        stored[i] = stored_of(row_)[i * 32];
    }
    advance(lanes_, state_, p1_, current_, bytes);
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      if constexpr (kAddStored) {
        const std::uint32_t largest = way_.largest(i);
        const uint2 costs = packed(current_.costs[i]);
        bytes[i].x = multiply_add(costs.x, way_.cost_factor(), bytes[i].x) + stored[i].x | largest;
        bytes[i].y = multiply_add(costs.y, way_.cost_factor(), bytes[i].y) + stored[i].y | largest;
      }
      way_.store(i, bytes[i]);
      if constexpr (Way<kDisparities, kWhole>::wraps)
        state_.end_if(way_.is_outside(i), i);
    }
    way_.go_on();
    current_ = next_;
  }

  const GroupLanes<kDisparities, kWhole> lanes_;
  Way<kDisparities, kWhole> way_;
  std::uint32_t* const ring_;
  uint2* const stored_;  // the lane's own part
  const int height_;
  const std::uint32_t p1_;
  PathState<pixels> state_{};
  PixelCosts<pixels> current_, next_;
  int row_ = 0, fetched_ = 0;
};

template <int kDisparities, bool kWhole, template <int, bool> class Way>
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
  ColumnsWarp<kDisparities, kWhole, Way> paths(
      a, rings + warp * ring_rows * Ring::words,
      stored + warp * ring_rows * Ring::pixels * 32 + threadIdx.x % 32, warp == 1);
  paths.first_half(warp == 1 ? a.height / 2 : a.height - a.height / 2);
  wait_for_other_warp();
  paths.second_half();
}

}  // namespace

PathsLaunch columns_launch(const StageConfig& config) {
  return with_constants(config, [&](auto disparities, auto whole) {
    const int padded = MatchExtent(config).columns;
    const bool straight = config.paths == 4;
    return PathsLaunch{
        straight ? columns_kernel<disparities, whole, StraightWay>
                 : columns_kernel<disparities, whole, SlantedWay>,
        static_cast<unsigned>(straight ? padded / columns : 3 * slanted_blocks(padded)), 64,
        ColumnsRing<disparities>::shared_bytes};
  });
}

}  // namespace cudavision::sgm
