// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The downward and upward paths: along columns and, with 8 paths, along diagonals. A block follows
// four neighbouring paths from end to end, with one warp per direction (states_kernel(): upward
// only). Each warp prefetches rows into a ring in shared memory.
//
// A diagonal is a column that moves by one pixel per row. At the end of a row it wraps around,
// and another path begins. So all blocks are independent and process equally many pixels.

#include "cuda/sgm/paths8/lanes.cuh"
#include "cuda/sgm/paths8/paths8_cuda.h"

namespace cudavision::sgm {
namespace {

constexpr int columns = 4;  // columns per block: 16 bytes of each plane
static_assert(columns <= SumVolumes::margin);
constexpr int ring_rows = 8;

/// Returns the blocks per direction with 8 paths. One extra block separates the ends of a row.
CUDAVISION_HOST_DEVICE constexpr int slanted_blocks(int count) {
  return count / columns + 1;
}

/// A row of a warp's ring: features of the right and of the left picture, P2, padding, and the
/// bytes that the opposite path has stored.
///
/// Columns begin at multiples of 4, so rows are copied in vectors of 16 bytes. Diagonals begin
/// anywhere, so their rows include the whole vectors around the necessary words. For diagonals with
/// 256 disparities, whole vectors would cause 4-way bank conflicts, so words are copied one by one.
template <int kDisparities, bool kSlanted>
struct ColumnsRing {
  static constexpr int pixels = kDisparities / 64;  ///< pixels per lane
  static constexpr bool shifts = kSlanted && kDisparities <= 128;
  /// Padding in words: before P2, and after each kind of data (right, left, P2).
  static constexpr int p2_before = shifts ? 4 : 0, after = shifts ? 4 : 0;
  static constexpr int left_at = kDisparities + columns + after;
  static constexpr int p2_at = left_at + columns + after;
  static constexpr int end = p2_at + p2_before + columns + after;
  static constexpr int words = kDisparities + 32;
  static_assert(end <= words);
  static constexpr int row_bytes = sizeof(std::uint32_t) * words + sizeof(uint2) * 32 * pixels;
  static constexpr std::size_t shared_bytes = 2 * ring_rows * row_bytes;  // bytes for both warps

  std::uint32_t features[words];
  uint2 stored[pixels][32];
};

/// Read and write cursors of a warp that follows columns or, if kSlanted, also diagonals.
template <int kDisparities, bool kWhole, bool kSlanted>
class PathCursor {
  using Ring = ColumnsRing<kDisparities, kSlanted>;
  /// Each lane of a warp copies vectors of this many words, one per round.
  static constexpr int vector_words = kSlanted && !Ring::shifts ? 1 : 4;
  static constexpr int vectors = Ring::end / vector_words;
  static constexpr int rounds = (vectors + 31) / 32;
  static_assert(32 * vector_words * (rounds - 1) <= Ring::left_at);

 public:
  __device__ PathCursor(const PathsArguments& a, bool up,
                        const GroupLanes<kDisparities, kWhole>& lanes)
      : width_(a.width),
        columns_(a.columns),
        pitch_(a.planes.pitch),
        sum_pitch_(a.sums.pitch),
        missing_(lanes.missing_bytes()),
        forwards_(up ? -1 : 1),
        own_(lanes.group * Ring::pixels) {
    const int per_direction = slanted_blocks(a.columns);
    const int direction = kSlanted ? static_cast<int>(blockIdx.x) / per_direction : 0;
    const int slant = direction == 0 ? 0 : direction == 1 ? 1 : -1;
    cost_factor = !kSlanted ? 4 : direction == 2 ? 2 : 3;
    current_.y = up ? a.height - 1 : 0;
    current_.x = static_cast<int>(blockIdx.x - direction * per_direction) * columns;
    if constexpr (kSlanted) {
      move_ = slant * forwards_;
      wrap_ = move_ * period();
      const int unwrapped = (current_.x + slant * (a.top + current_.y) + columns - 1) % period();
      current_.x = (unwrapped < 0 ? unwrapped + period() : unwrapped) - (columns - 1);
    }
    fetched_ = next_ = current_;
    step(next_);
    p2_shift = Ring::p2_before + (Ring::shifts && up ? slant : 0);

    const int number = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int word = vector_words * (number + 32 * i);
      if (word < Ring::left_at)
        from_[i] = a.planes.right - kDisparities + word;
      else if (word < Ring::p2_at)
        from_[i] = a.planes.left + word - Ring::left_at;
      else  // surplus lanes repeat the last vector
        from_[i] = (direction == 0 ? a.planes.vertical : a.planes.diagonal[direction - 1]) +
                   min(word, Ring::end - vector_words) - Ring::p2_at - Ring::p2_before +
                   (up ? a.planes.pitch + (Ring::shifts ? 0 : slant) : 0);
    }
    sums_ = (direction == 0 ? a.sums.columns : a.sums.diagonals[direction - 1]) +
            own_ * kDisparities + 8 * lanes.lane;
    // Keeps the compiler from computing these addresses again in each row.
    make_opaque(from_[0]);
    make_opaque(from_[rounds - 1]);
    make_opaque(sums_);
  }

  __device__ void fetch(Ring& ring) const {
    const int number = static_cast<int>(threadIdx.x % 32);
    const int at = fetched_.y * pitch_ + fetched_.x - shift_of(fetched_);
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      // All rounds but the last copy successive words of the right picture.
      const std::uint32_t* const from =
          i + 1 < rounds ? from_[0] + 32 * vector_words * i : from_[rounds - 1];
      if (vector_words == 1 || number + 32 * i < vectors)
        __pipeline_memcpy_async(ring.features + vector_words * (number + 32 * i), from + at,
                                sizeof(std::uint32_t) * vector_words);
    }
  }
  __device__ void fetch_stored(Ring& ring) const {
    const std::uint8_t* const from = sums_of(fetched_);
#pragma unroll
    for (int i = 0; i < Ring::pixels; ++i)
      __pipeline_memcpy_async(&ring.stored[i][threadIdx.x % 32], from + i * kDisparities,
                              sizeof(uint2));
  }
  __device__ void end_fetch() {
    step(fetched_);
    __pipeline_commit();
  }
  __device__ void fetch_again() {
    fetched_ = current_;
  }

  /// Returns a mask of pixel i's missing disparities, or of all bytes if it is outside the picture.
  __device__ std::uint32_t largest(int i) const {
    const auto x = static_cast<unsigned>(current_.x + own_ + i);
    return x < static_cast<unsigned>(width_) ? missing_ : 0xffffffffu;
  }
  __device__ void store(const uint2 (&bytes)[Ring::pixels]) const {
    std::uint8_t* const to = sums_of(current_);
#pragma unroll
    for (int i = 0; i < Ring::pixels; ++i)
      *reinterpret_cast<uint2*>(to + i * kDisparities) = bytes[i];
  }
  __device__ void go_on() {
    current_ = next_;
    step(next_);
  }

  /// Returns the offset of the block's first column in a row of the ring, in words.
  __device__ int shift() const {
    return shift_of(current_);
  }
  __device__ int next_shift() const {
    return shift_of(next_);
  }

  int p2_shift;     ///< offset of P2 in the ring, relative to shift()
  int cost_factor;  ///< how often a volume's sums include C; all together include C once per path

 private:
  /// The block's first column in a row. Diagonals wrap around from columns_ to 1 − columns.
  struct Position {
    int x, y;
  };

  __device__ int period() const {
    return columns_ + columns;
  }
  static __device__ int shift_of(const Position& position) {
    return Ring::shifts ? position.x & 3 : 0;
  }
  __device__ void step(Position& position) const {
    position.y += forwards_;
    if constexpr (kSlanted) {
      position.x += move_;
      if (static_cast<unsigned>(position.x + columns - 1) >= static_cast<unsigned>(period()))
        position.x -= wrap_;
    }
  }
  __device__ std::uint8_t* sums_of(const Position& position) const {
    return sums_ + static_cast<std::int64_t>(position.y * sum_pitch_ + position.x) * kDisparities;
  }

  const int width_, columns_, pitch_, sum_pitch_;
  const std::uint32_t missing_;
  const int forwards_;  // row step along the path: 1 or −1
  const int own_;       // columns from the block's first column to the lane's first column
  int move_, wrap_;     // column step per row, and columns to subtract at the wrap-around
  Position current_{}, next_{}, fetched_{};
  const std::uint32_t* from_[rounds];  // where the lane reads row 0 of column 0
  std::uint8_t* sums_;                 // where the lane writes row 0 of column 0
};

extern __shared__ uint4 columns_shared[];

enum class Stores { nothing, path, sums };  // path: L − C + P1; sums: see SumVolumes

template <int kDisparities, bool kWhole, bool kSlanted>
class ColumnsWarp {
  using Ring = ColumnsRing<kDisparities, kSlanted>;
  static constexpr int pixels = Ring::pixels;

 public:
  __device__ ColumnsWarp(const PathsArguments& a, int ring_at, bool up)
      : lanes_(a.disparities),
        cursor_(a, up, lanes_),
        ring_at_(ring_at),
        height_(a.height),
        p1_(a.penalty.in_halves()),
        twice_p1_(p1_ * 0x202),
        state_(p1_) {
    make_opaque(ring_at_);
    if (const uint2* const states = up ? a.states.from_below : a.states.from_above)
      load_state(lanes_, p1_, states, state_);
    for (int i = 0; i < ring_rows - 1; ++i) {
      if (i < height_)
        cursor_.fetch(ring_row(i));
      cursor_.end_fetch();
    }
    __pipeline_wait_prior(ring_rows - 2);
    __syncwarp();
    compute_costs(ring_row(0), cursor_.shift());
    current_ = next_;
  }

  __device__ const PathState<pixels>& state() const { return state_; }

  template <Stores kStores>
  __device__ void follow_until(int end) {
#pragma unroll 2
    for (; row_ < end; ++row_)
      follow<kStores>();
  }

  /// Follows the remaining rows, and adds the bytes that the opposite path has stored.
  __device__ void second_half() {
    __pipeline_wait_prior(0);
    cursor_.fetch_again();
    // The ring already holds the features of these rows, but not their stored bytes.
    for (int i = 0; i < ring_rows - 1; ++i) {
      if (row_ + i < height_)
        cursor_.fetch_stored(ring_row(row_ + i));
      cursor_.end_fetch();
    }
    follow_until<Stores::sums>(height_);
  }

 private:
  __device__ Ring& ring_row(int row) const {
    return reinterpret_cast<Ring&>(
        columns_shared[static_cast<unsigned>(row) % ring_rows * (sizeof(Ring) / sizeof(uint4)) +
                       ring_at_]);
  }

  __device__ void compute_costs(const Ring& ring, int shift) {
    // Word k of pixel i compares at[i − k]; its upper half compares the feature D/2 columns before.
    const std::uint32_t* const at =
        ring.features + kDisparities + lanes_.group * pixels - words_per_lane * lanes_.lane + shift;
    constexpr int count = pixels + words_per_lane - 1;
    std::uint32_t right[2][count];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t* const from = at - half * (kDisparities / 2);
      if constexpr (!Ring::shifts && pixels == 4) {
        const uint4 low = *reinterpret_cast<const uint4*>(from - 4);
        const uint4 high = *reinterpret_cast<const uint4*>(from);
        right[half][0] = low.y, right[half][1] = low.z, right[half][2] = low.w;
        right[half][3] = high.x, right[half][4] = high.y, right[half][5] = high.z;
        right[half][6] = high.w;
      } else if constexpr (!Ring::shifts && pixels == 2) {
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
    const std::uint32_t* const own = ring.features + lanes_.group * pixels + shift;
    const std::uint32_t* const left = own + Ring::left_at;
    const std::uint32_t* const p2 = own + Ring::p2_at + cursor_.p2_shift;
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      next_.p2[i] = p2[i];
#pragma unroll
      for (int k = 0; k < words_per_lane; ++k)
        next_.costs[i][k] = costs_of(left[i], right[0][i + 3 - k], right[1][i + 3 - k]);
    }
  }

  template <Stores kStores>
  __device__ void follow() {
    constexpr bool kAddStored = kStores == Stores::sums;
    __pipeline_wait_prior(ring_rows - 3);
    __syncwarp();
    compute_costs(ring_row(row_ + 1), cursor_.next_shift());
    uint2 stored[pixels];
    if constexpr (kAddStored) {
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        stored[i] = ring_row(row_).stored[i][threadIdx.x % 32];
    }
    uint2 bytes[pixels];
    advance<kAddStored>(lanes_, state_, p1_, current_, cursor_.cost_factor, bytes);
    if constexpr (kAddStored) {
#pragma unroll
      for (int i = 0; i < pixels; ++i) {
        const std::uint32_t largest = cursor_.largest(i);
        bytes[i].x = bytes[i].x + stored[i].x - twice_p1_ | largest;
        bytes[i].y = bytes[i].y + stored[i].y - twice_p1_ | largest;
      }
    }
    if constexpr (kStores != Stores::nothing)
      cursor_.store(bytes);
    cursor_.go_on();
    current_ = next_;
    if (row_ + ring_rows - 1 < height_) {
      Ring& ring = ring_row(row_ - 1);
      cursor_.fetch(ring);
      if constexpr (kAddStored)
        cursor_.fetch_stored(ring);
    }
    cursor_.end_fetch();
  }

  const GroupLanes<kDisparities, kWhole> lanes_;
  PathCursor<kDisparities, kWhole, kSlanted> cursor_;
  int ring_at_;  // position in columns_shared
  const int height_;
  const std::uint32_t p1_, twice_p1_;
  PathState<pixels> state_;
  PixelCosts<pixels> current_, next_;
  int row_ = 0;
};

template <int kDisparities, bool kWhole, bool kSlanted>
__global__ void __launch_bounds__(64, kDisparities == 64    ? 8
                                      : kDisparities == 128 ? 6
                                                            : 4)
    columns_kernel(const __grid_constant__ PathsArguments a) {
  // The compiler does not know that threadIdx.x / 32 is uniform in a warp.
  const int warp = __shfl_sync(whole_warp, static_cast<int>(threadIdx.x / 32), 0);
  constexpr int ring_words =
      ring_rows * sizeof(ColumnsRing<kDisparities, kSlanted>) / sizeof(uint4);
  ColumnsWarp<kDisparities, kWhole, kSlanted> paths(a, warp * ring_words, warp == 1);
  paths.template follow_until<Stores::path>(warp == 1 ? a.height / 2 : a.height - a.height / 2);
  wait_for_other_warp();
  paths.second_half();
  if (warp == 0 && a.states.to_below)
    store_state(paths.state(), a.states.to_below);
}

template <int kDisparities, bool kWhole, bool kSlanted>
__global__ void __launch_bounds__(32) states_kernel(const __grid_constant__ StatesArguments a) {
  ColumnsWarp<kDisparities, kWhole, kSlanted> paths(a.paths, 0, true);
  constexpr int vectors = ColumnsRing<kDisparities, kSlanted>::pixels * 32;  // vectors per block
  const int height = a.paths.height;
  for (int begin = (height - 1) / a.band_rows * a.band_rows; begin > 0; begin -= a.band_rows) {
    paths.template follow_until<Stores::nothing>(height - begin);
    store_state(paths.state(), a.states + static_cast<std::int64_t>(begin / a.band_rows - 1) *
                                              gridDim.x * vectors);
  }
  __pipeline_wait_prior(0);
}

unsigned block_count(const StageConfig& config) {
  const int padded = MatchExtent(config).columns;
  return static_cast<unsigned>(config.paths == 8 ? 3 * slanted_blocks(padded) : padded / columns);
}

}  // namespace

PathsLaunch columns_launch(const StageConfig& config) {
  return with_constants(config, [&](auto disparities, auto whole) {
    return config.paths == 8
               ? PathsLaunch{columns_kernel<disparities, whole, true>, block_count(config), 64,
                             ColumnsRing<disparities, true>::shared_bytes}
               : PathsLaunch{columns_kernel<disparities, whole, false>, block_count(config), 64,
                             ColumnsRing<disparities, false>::shared_bytes};
  });
}

StatesLaunch states_launch(const StageConfig& config) {
  return with_constants(config, [&](auto disparities, auto whole) {
    return config.paths == 8
               ? StatesLaunch{states_kernel<disparities, whole, true>, block_count(config), 32,
                              ColumnsRing<disparities, true>::shared_bytes / 2}
               : StatesLaunch{states_kernel<disparities, whole, false>, block_count(config), 32,
                              ColumnsRing<disparities, false>::shared_bytes / 2};
  });
}

std::size_t state_vectors(const StageConfig& config) {
  return std::size_t{block_count(config)} * columns * MatchExtent(config).disparities / 8;
}

}  // namespace cudavision::sgm
