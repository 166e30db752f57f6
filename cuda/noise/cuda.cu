// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The noise of frames on CUDA. A thread block measures blocks of pixels side by side, which it
// keeps in shared memory; eight lanes share each of them, one row each. The last thread block to
// finish with a channel evaluates its histograms, and clears them for the next frame.

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/warp.cuh"
#include "cuda/noise/backend.h"
#include "cuda/noise/blockrow.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::noise {
namespace {

constexpr int threads = 256, blocks_at_once = threads / block_side;
constexpr int blocks_per_multiprocessor = 4;  // which leaves 64 registers for a thread
static_assert(threads / 32 == classes, "each warp evaluates a class");

/// The histograms of a channel; zeros between frames.
struct alignas(16) Counts {
  std::uint32_t bins[2][classes][noise::bins];  ///< of the near and of the far spacing
  std::uint32_t constant, finished;
};

struct MeasuredChannel {
  const std::uint8_t* samples;  ///< the first one
  int pitch, step;              ///< in bytes
  int width, height;
  int blocks_across;
  int launched_across;  ///< thread blocks for a row of blocks
  int row_step;
  unsigned first_launched, launched;  ///< thread blocks
  Counts* counts;
  State* state;
};

struct EstimateArguments {
  MeasuredChannel channels[FrameLayout::max_channels];
  int count;
  int bits, shift;
  bool first_frame;
};

/// The levels of blocks side by side, and of the samples around them.
struct Tile {
  static constexpr int rows = block_side + 2 * far_spacing;
  static constexpr int columns = threads + block_side;
  // Lanes read eight bytes each, of eight rows of two blocks at a time. With this pitch, these are
  // in different banks.
  static constexpr int pitch = columns + 8;

  alignas(8) std::uint8_t levels[rows][pitch];

  /// Loads what surrounds the block at (left, top). All threads take part.
  __device__ void load(const EstimateArguments& a, const MeasuredChannel& channel, int left,
                       int top) {
    if (a.bits == 8)
      load_all(channel, left, top, [](const std::uint8_t* at) { return __ldg(at); });
    else
      load_all(channel, left, top, [&](const std::uint8_t* at) {
        // Words may lie at odd addresses.
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

/// Returns a row of a block of the tile, with the samples before and after it.
__device__ PairedRow paired_row(const Tile& tile, int row, int block) {
  const auto* const from = reinterpret_cast<const uint2*>(tile.levels[row] + block_side * block);
  const uint2 first = from[0], second = from[1];
  return PairedRow({first.x, first.y, second.x, second.y});
}

/// Returns the sums of the row of a block that this lane has in the tile.
__device__ RowSums sums_of_row(const Tile& tile) {
  const int block = static_cast<int>(threadIdx.x) / block_side;
  const int y = static_cast<int>(threadIdx.x) % block_side + far_spacing;
  const auto row_at = [&](int row) { return paired_row(tile, row, block); };
  const PairedRow row = row_at(y);
  RowSums sums;
  sums.near =
      sum_of_differences<near_spacing>(row_at(y - near_spacing), row, row_at(y + near_spacing));
  sums.far = sum_of_differences<far_spacing>(row_at(y - far_spacing), row, row_at(y + far_spacing));
  sum_levels(row, tile.levels[far_spacing][block_side * block + PairedRow::block_start], sums);
  return sums;
}

/// Adds up the sums of the eight lanes that share a block.
__device__ RowSums sums_of_block(const RowSums& row) {
  RowSums sums = row;
  std::uint32_t both = row.levels | row.extremes << 16;  // at most 64·255 and 64
#pragma unroll
  for (int distance = block_side / 2; distance > 0; distance /= 2) {
    sums.near += __shfl_xor_sync(~0u, sums.near, distance);
    sums.far += __shfl_xor_sync(~0u, sums.far, distance);
    both += __shfl_xor_sync(~0u, both, distance);
  }
  sums.levels = both & 0xffff;
  sums.extremes = both >> 16;
  const unsigned lanes = 0xffu << (threadIdx.x % 32 / block_side * block_side);
  sums.differs = (__ballot_sync(~0u, row.differs) & lanes) != 0;
  return sums;
}

/// What a histogram tells.
struct Quietest {
  std::uint32_t blocks;  ///< all of them
  int bin;               ///< up to which there are the quietest
};

/// Evaluates a histogram and clears it. All lanes of the warp take part. They have four bins each
/// of every 128, so that they access neighbouring ones together.
__device__ Quietest quietest_of(std::uint32_t* histogram) {
  constexpr int parts = bins / 128;
  auto* const own = reinterpret_cast<uint4*>(histogram) + threadIdx.x % 32;
  uint4 counts[parts];
#pragma unroll
  for (int i = 0; i < parts; ++i)
    counts[i] = __ldcg(own + 32 * i);
#pragma unroll
  for (int i = 0; i < parts; ++i)
    own[32 * i] = {};
  std::uint32_t blocks = 0, before[parts];  // those in bins before the own ones
#pragma unroll
  for (int i = 0; i < parts; ++i) {
    const std::uint32_t sum = counts[i].x + counts[i].y + counts[i].z + counts[i].w;
    const std::uint32_t up_to = inclusive_scan(sum);
    before[i] = blocks + up_to - sum;
    blocks += __shfl_sync(~0u, up_to, 31);
  }
  // The bin has the number of those up to which there are not enough blocks.
  const std::uint32_t needed = blocks / quantile;
  int bin = 0;
#pragma unroll
  for (int i = 0; i < parts; ++i)
    for (const std::uint32_t count : {counts[i].x, counts[i].y, counts[i].z, counts[i].w}) {
      before[i] += count;
      bin += before[i] <= needed ? 1 : 0;
    }
  return {blocks, sum_of_warp(bin)};
}

__global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    estimate(const __grid_constant__ EstimateArguments a) {
  __shared__ Tile tile;
  __shared__ bool is_last;
  __shared__ ClassNoise by_class[classes];
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
  const RowSums sums = sums_of_block(sums_of_row(tile));
  const bool counts = first + thread / block_side < channel.blocks_across &&
                      thread % block_side == 0 && sums.extremes <= max_extreme_pixels;
  const int constant = __syncthreads_count(counts && !sums.differs);
  if (counts && sums.differs) {
    const int brightness = class_of(sums.levels);
    atomicAdd(&channel.counts->bins[0][brightness][bin_of(sums.near)], 1u);
    atomicAdd(&channel.counts->bins[1][brightness][bin_of(sums.far)], 1u);
  }
  if (thread == 0 && constant > 0)
    atomicAdd(&channel.counts->constant, static_cast<std::uint32_t>(constant));
  __threadfence();
  __syncthreads();
  if (thread == 0)
    is_last = atomicAdd(&channel.counts->finished, 1u) == channel.launched - 1;
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  // These are read early, so that the last thread need not wait for them.
  const std::uint32_t constant_blocks = __ldcg(&channel.counts->constant);
  State state;
  if (!a.first_frame)
    state = *channel.state;
  Quietest near{}, far{};
#pragma unroll 1  // Both at once would take twice the registers.
  for (auto& of_spacing : channel.counts->bins) {
    near = far;
    far = quietest_of(of_spacing[thread / 32]);
  }
  if (thread % 32 == 0)
    by_class[thread / 32] = {near.blocks, variance_of_bins(near.bin, far.bin)};
  __syncthreads();
  if (thread != 0)
    return;
  const Measurement measured = measurement_of(by_class, constant_blocks);
  channel.counts->constant = channel.counts->finished = 0;
  if (measured.tells)
    state.take(measured.variance);
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
      // A channel without blocks still needs the thread block that begins its state.
      to.blocks_across = rows > 0 ? channel.width / block_side : 0;
      to.launched_across = std::max(1, (to.blocks_across + blocks_at_once - 1) / blocks_at_once);
      to.launched = static_cast<unsigned>(to.launched_across * std::max(1, rows));
      launched_ += to.launched;
    }
    arguments_.bits = layout.bits;
    arguments_.shift = layout.shift;
    const std::size_t bytes = sizeof(Counts) * FrameLayout::max_channels;
    counts_ = device.allocate(bytes);
    device.fill({counts_.as<std::uint8_t>(), static_cast<int>(bytes), 1,
                 static_cast<std::ptrdiff_t>(bytes)},
                0);
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
      a.channels[i].pitch = kernel_pitch("the noise estimate", plane.pitch);
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
