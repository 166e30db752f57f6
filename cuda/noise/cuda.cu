// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The noise estimator on CUDA. A thread block measures adjacent blocks of pixels in shared memory,
// eight lanes per block. A channel's last thread block evaluates and clears the histograms.

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/warp.cuh"
#include "cuda/noise/backend.h"
#include "cuda/noise/blockrow.h"
#include "cuda/noise/measurement.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::noise {
namespace {

constexpr int threads = 256, blocks_at_once = threads / block_side;
constexpr int blocks_per_multiprocessor = 4;  // leaves 64 registers per thread
static_assert(threads / 32 == classes, "each warp evaluates a class");

/// The histograms of a channel. They are zero between frames.
struct alignas(16) Counts {
  std::uint32_t bins[2][classes][noise::bins];  ///< histograms of s(d) for the near and far spacing
  std::uint32_t spreads[classes + 1][spread_bins];  ///< the last histogram is for extreme blocks
  std::uint32_t constant, flat, finished;
};

struct MeasuredChannel {
  const std::uint8_t* samples;  ///< first sample
  int pitch, step;              ///< in bytes
  int width, height;
  int blocks_across;
  int launched_across;  ///< thread blocks per row of blocks
  int row_step;
  unsigned first_launched, launched;  ///< first thread block, and number of thread blocks
  Counts* counts;
  State* state;
};

struct EstimateArguments {
  MeasuredChannel channels[FrameLayout::max_channels];
  int count;
  int bits, shift;
  bool first_frame;
};

/// Levels of adjacent blocks and of the samples around these blocks.
struct Tile {
  static constexpr int rows = block_side + 2 * far_spacing;
  static constexpr int columns = threads + block_side;
  // Avoids bank conflicts when 16 lanes read eight bytes each, from eight rows of two blocks.
  static constexpr int pitch = columns + 8;

  alignas(8) std::uint8_t levels[rows][pitch];

  /// All threads of the block must call this.
  __device__ void load(const EstimateArguments& a, const MeasuredChannel& channel, int left,
                       int top) {
    if (a.bits == 8)
      load_all(channel, left, top, [](const std::uint8_t* at) { return __ldg(at); });
    else
      load_all(channel, left, top, [&](const std::uint8_t* at) {
        // Samples of two bytes may be at odd addresses.
        const std::uint32_t word = __ldg(at) | static_cast<std::uint32_t>(__ldg(at + 1)) << 8;
        return static_cast<std::uint8_t>(sample_value(word, a.shift, (1u << a.bits) - 1) >>
                                         (a.bits - 8));
      });
  }

 private:
  template <class LevelAt>
  __device__ void load_all(const MeasuredChannel& channel, int left, int top,
                           const LevelAt& level_at) {
    const auto load = [&](int row, int column) {
      const int x = min(max(left + column - PairedRow::block_start, 0), channel.width - 1);
      const int y = min(max(top + row - far_spacing, 0), channel.height - 1);
      levels[row][column] =
          level_at(channel.samples + static_cast<std::int64_t>(y) * channel.pitch +
                   static_cast<std::int64_t>(x) * channel.step);
    };
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int row = 0; row < rows; ++row)
      load(row, thread);
    constexpr int others = columns - threads;
    if (thread < rows * others)
      load(thread / others, threads + thread % others);
  }
};

struct BlockSums : RowSums {
  bool flat;
};

/// Returns true if the condition holds in any of the eight lanes of the block of pixels.
__device__ bool any_of_block(bool condition) {
  const unsigned lanes = 0xffu << (threadIdx.x % 32 / block_side * block_side);
  return (__ballot_sync(~0u, condition) & lanes) != 0;
}

/// Returns the sums over a block of pixels, in all eight lanes of the block.
__device__ BlockSums sums_of_block(const Tile& tile) {
  constexpr int before = PairedRow::block_start - far_spacing;
  constexpr int after = PairedRow::block_start + block_side - 1 + far_spacing;
  const int block = static_cast<int>(threadIdx.x) / block_side;
  const int y = static_cast<int>(threadIdx.x) % block_side;
  const auto row_at = [&](int row) {
    const auto* const from =
        reinterpret_cast<const uint2*>(tile.levels[row + far_spacing] + block_side * block);
    const uint2 first = from[0], second = from[1];
    return PairedRow({first.x, first.y, second.x, second.y});
  };
  const auto first_level = [&](int x) -> std::uint32_t {
    return tile.levels[far_spacing][block_side * block + x];
  };
  const PairedRow row = row_at(y), above = row_at(y - far_spacing), below = row_at(y + far_spacing);
  BlockSums sums;
  sums.near =
      sum_of_differences<near_spacing>(row_at(y - near_spacing), row, row_at(y + near_spacing));
  sums.far = sum_of_differences<far_spacing>(above, row, below);
  sum_levels(row, first_level(PairedRow::block_start), sums);
  std::uint32_t both = sums.levels | sums.extremes << 16;  // at most 64·255 and 64
#pragma unroll
  for (int distance = block_side / 2; distance > 0; distance /= 2) {
    sums.near += __shfl_xor_sync(~0u, sums.near, distance);
    sums.far += __shfl_xor_sync(~0u, sums.far, distance);
    sums.squares += __shfl_xor_sync(~0u, sums.squares, distance);
    both += __shfl_xor_sync(~0u, both, distance);
  }
  sums.levels = both & 0xffff;
  sums.extremes = both >> 16;
  // All lanes must take part in each of these calls.
  sums.differs = any_of_block(sums.differs);
  const bool differs_before = any_of_block(row.level(before) != first_level(before));
  const bool differs_after = any_of_block(row.level(after) != first_level(after));
  const bool flat_row =
      any_of_block((y == 0 && above.is_flat()) || (y == block_side - 1 && below.is_flat()));
  sums.flat = !sums.differs || !differs_before || !differs_after || flat_row;
  return sums;
}

/// A lane's bins of a histogram: four of every 128, so that a warp accesses adjacent bins.
template <int kBins>
class LaneBins {
 public:
  /// Reads and clears the bins.
  __device__ void take(std::uint32_t (&histogram)[kBins]) {
    auto* const own = reinterpret_cast<uint4*>(histogram) + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < parts; ++i)
      counts_[i] = __ldcg(own + 32 * i);
#pragma unroll
    for (int i = 0; i < parts; ++i)
      own[32 * i] = {};
  }

  /// All lanes of the warp must call this.
  __device__ Quietest quietest() const {
    std::uint32_t blocks = 0, before[parts];  // before: blocks in bins before the lane's bins
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const uint4& own = counts_[i];
      const std::uint32_t sum = own.x + own.y + own.z + own.w;
      const std::uint32_t up_to = inclusive_scan(sum);
      before[i] = blocks + up_to - sum;
      blocks += __shfl_sync(~0u, up_to, 31);
    }
    // The quantile's bin index is the number of bins whose cumulative count is still too small.
    const std::uint32_t needed = blocks / quantile;
    int bin = 0;
#pragma unroll
    for (int i = 0; i < parts; ++i)
      for (const std::uint32_t count : {counts_[i].x, counts_[i].y, counts_[i].z, counts_[i].w}) {
        before[i] += count;
        bin += before[i] <= needed ? 1 : 0;
      }
    return {blocks, sum_of_warp(bin)};
  }

 private:
  static constexpr int parts = kBins / 128;
  uint4 counts_[parts];
};

__global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    estimate(const __grid_constant__ EstimateArguments a) {
  __shared__ Tile tile;
  __shared__ bool is_last;
  __shared__ ClassNoises by_class;
  __shared__ Rank ranks[classes + 1];
  grid_dependency_wait();
  launch_dependents();
  int number = 0;
  while (number + 1 < a.count && blockIdx.x >= a.channels[number + 1].first_launched)
    ++number;
  const MeasuredChannel& channel = a.channels[number];
  const int thread = static_cast<int>(threadIdx.x);
  const int launched = static_cast<int>(blockIdx.x - channel.first_launched);
  const int first = launched % channel.launched_across * blocks_at_once;
  tile.load(a, channel, first * block_side,
            launched / channel.launched_across * channel.row_step * block_side);
  __syncthreads();
  const BlockSums sums = sums_of_block(tile);
  const bool has_extremes = sums.extremes > max_extreme_pixels;
  const bool counts =
      first + thread / block_side < channel.blocks_across && thread % block_side == 0;
  const int constant = __syncthreads_count(counts && !sums.differs && !has_extremes);
  const int flat = __syncthreads_count(counts && sums.flat && !has_extremes);
  if (counts && !sums.flat) {
    const int brightness = has_extremes ? classes : class_of(sums.levels);
    const int spread = bin_of_spread(spread_of(sums.levels, sums.squares));
    atomicAdd(&channel.counts->spreads[brightness][spread], 1u);
    if (!has_extremes) {
      atomicAdd(&channel.counts->bins[0][brightness][bin_of(sums.near)], 1u);
      atomicAdd(&channel.counts->bins[1][brightness][bin_of(sums.far)], 1u);
    }
  }
  if (thread == 0 && flat > 0) {
    atomicAdd(&channel.counts->constant, static_cast<std::uint32_t>(constant));
    atomicAdd(&channel.counts->flat, static_cast<std::uint32_t>(flat));
  }
  __threadfence();
  __syncthreads();
  if (thread == 0)
    is_last = atomicAdd(&channel.counts->finished, 1u) == channel.launched - 1;
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  // Loaded early to hide the latency.
  const std::uint32_t constant_blocks = __ldcg(&channel.counts->constant);
  const std::uint32_t flat_blocks = __ldcg(&channel.counts->flat);
  State state;
  if (!a.first_frame)
    state = *channel.state;
  const int warp = thread / 32;
  LaneBins<spread_bins> spreads, extremes{};
  spreads.take(channel.counts->spreads[warp]);
  if (warp == 0)
    extremes.take(channel.counts->spreads[classes]);
  Quietest near{}, far{};
#pragma unroll 1  // both spacings at once would take twice the registers
  for (auto& of_spacing : channel.counts->bins) {
    LaneBins<noise::bins> sums;
    sums.take(of_spacing[warp]);
    near = far;
    far = sums.quietest();
  }
  const Quietest spread = spreads.quietest(), extreme = extremes.quietest();
  if (thread % 32 == 0)
    by_class[warp] = noise_of_class(near.blocks, variance_of_bins(near.bin, far.bin), spread.bin);
  if (thread == 0)
    by_class[classes] = noise_of_extremes(extreme.blocks, extreme.bin);
  __syncthreads();
  if (thread <= classes)
    ranks[thread] = rank_of(by_class, thread);
  __syncthreads();
  if (thread != 0)
    return;
  const Measurement measured = measurement_of(by_class, ranks, constant_blocks, flat_blocks);
  channel.counts->constant = channel.counts->flat = channel.counts->finished = 0;
  if (measured.valid)
    state.take(measured.variance, measured.uncertain);
  *channel.state = state;
}

class EstimateCuda final : public Estimate::Backend {
 public:
  EstimateCuda(Device& device, const FrameLayout& layout)
      : layout_(layout), launcher_(device.stream(), estimate) {
    for (int c = 0; c < layout.channel_count; ++c) {
      const Channel& channel = layout.channels[c];
      if (channel.role == Role::alpha)
        continue;
      numbers_[arguments_.count] = c;
      MeasuredChannel& to = arguments_.channels[arguments_.count++];
      to.first_launched = launched_;
      to.step = channel.step * layout.sample_bytes();
      to.width = channel.width;
      to.height = channel.height;
      to.row_step = row_step(std::int64_t{channel.width} * channel.height);
      const int rows = (channel.height / block_side + to.row_step - 1) / to.row_step;
      // A channel without blocks also needs a thread block, which initialises the channel's state.
      to.blocks_across = rows > 0 ? channel.width / block_side : 0;
      to.launched_across = std::max(1, (to.blocks_across + blocks_at_once - 1) / blocks_at_once);
      to.launched = static_cast<unsigned>(to.launched_across * std::max(1, rows));
      launched_ += to.launched;
    }
    arguments_.bits = layout.bits;
    arguments_.shift = layout.shift;
    counts_ =
        zeroed_words(device, sizeof(Counts) / sizeof(std::uint32_t) * FrameLayout::max_channels);
  }

  void run(const ConstFrame& in, bool first_frame, State* states) override {
    if (arguments_.count == 0)
      return;
    EstimateArguments a = arguments_;
    a.first_frame = first_frame;
    for (int i = 0; i < a.count; ++i) {
      const int c = numbers_[i];
      const Channel& channel = layout_.channels[c];
      const View<const std::uint8_t>& plane = in.planes[channel.plane];
      a.channels[i].samples = plane.data + channel.offset * layout_.sample_bytes();
      a.channels[i].pitch = kernel_pitch("noise estimate", plane.pitch);
      a.channels[i].counts = counts_.as<Counts>() + i;
      a.channels[i].state = states + c;
    }
    launcher_(estimate, launched_, threads, 0, a);
  }

 private:
  FrameLayout layout_;
  EstimateArguments arguments_{};
  int numbers_[FrameLayout::max_channels] = {};
  unsigned launched_ = 0;
  Buffer counts_;
  Launcher<EstimateArguments> launcher_;
};

}  // namespace

std::unique_ptr<Estimate::Backend> make_estimate_cuda(Device& device, const FrameLayout& layout) {
  return std::make_unique<EstimateCuda>(device, layout);
}

}  // namespace cudavision::noise
