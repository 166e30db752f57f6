// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The noise of frames on CUDA. Eight lanes share a block of pixels, one row each. The last thread
// block to finish with a channel evaluates its histograms, and clears them for the next frame.

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/warp.cuh"
#include "cuda/noise/backend.h"
#include "cuda/noise/blocks.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::noise {
namespace {

constexpr int threads = 256, blocks_at_once = threads / block_side;
static_assert(threads / 32 == classes, "each warp evaluates a class");

/// The histograms of a channel; zeros between frames.
struct alignas(16) Counts {
  std::uint32_t bins[classes][noise::bins];
  std::uint32_t constant, finished;
};

struct MeasuredChannel {
  const std::uint8_t* samples;  ///< the first one
  int pitch, step;              ///< in bytes
  int width, height;
  int blocks_across, blocks;  ///< those that count
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

/// Reads the levels of one row of a block, and of the sample before and after them.
__device__ void load_levels(const EstimateArguments& a, const MeasuredChannel& channel, int left,
                            int y, int (&levels)[block_side + 2]) {
  const int row = min(max(y, 0), channel.height - 1);
  const std::uint8_t* const samples = channel.samples +
                                      static_cast<std::int64_t>(row) * channel.pitch +
                                      static_cast<std::int64_t>(left) * channel.step;
  const int before = left > 0 ? -1 : 0, after = left + block_side < channel.width ? 8 : 7;
#pragma unroll
  for (int i = 0; i < block_side + 2; ++i) {
    const int x = i == 0 ? before : i == block_side + 1 ? after : i - 1;
    const std::uint8_t* const at = samples + x * channel.step;
    if (a.bits == 8) {
      levels[i] = __ldg(at);
    } else {
      // Words may lie at odd addresses.
      const std::uint32_t word = __ldg(at) | static_cast<std::uint32_t>(__ldg(at + 1)) << 8;
      levels[i] = static_cast<int>(sample_value(word, a.shift, (1u << a.bits) - 1) >> (a.bits - 8));
    }
  }
}

/// The sums of a row of a block, and then of the block.
struct Sums {
  std::uint32_t differences = 0, levels = 0, extremes = 0, other_levels = 0;

  __device__ void load(const EstimateArguments& a, const MeasuredChannel& channel, int left,
                       int y) {
    int above[block_side + 2], level[block_side + 2], below[block_side + 2];
    load_levels(a, channel, left, y - 1, above);
    load_levels(a, channel, left, y, level);
    load_levels(a, channel, left, y + 1, below);
    const auto column = [&](int i) { return above[i] - 2 * level[i] + below[i]; };
    const int first = __shfl_sync(~0u, level[1], static_cast<int>(threadIdx.x) & 24);
#pragma unroll
    for (int i = 1; i <= block_side; ++i) {
      differences += static_cast<std::uint32_t>(abs(column(i - 1) - 2 * column(i) + column(i + 1)));
      levels += static_cast<std::uint32_t>(level[i]);
      extremes += is_extreme(level[i]) ? 1 : 0;
      other_levels += level[i] != first ? 1 : 0;
    }
  }

  /// Adds up those of the eight lanes of a block.
  __device__ void share() {
#pragma unroll
    for (int distance = block_side / 2; distance > 0; distance /= 2) {
      differences += __shfl_xor_sync(~0u, differences, distance);
      levels += __shfl_xor_sync(~0u, levels, distance);
      extremes += __shfl_xor_sync(~0u, extremes, distance);
      other_levels += __shfl_xor_sync(~0u, other_levels, distance);
    }
  }
};

/// Returns the noise of a class and clears its histogram. All lanes of the warp take part.
__device__ ClassNoise noise_of_class(std::uint32_t* bins) {
  constexpr int own_bins = noise::bins / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  auto* const own = reinterpret_cast<uint4*>(bins + own_bins * lane);
  uint4 counts[own_bins / 4];
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < own_bins / 4; ++i) {
    counts[i] = __ldcg(own + i);
    own[i] = {};
    sum += counts[i].x + counts[i].y + counts[i].z + counts[i].w;
  }
  const std::uint32_t up_to = inclusive_scan(sum);
  const std::uint32_t all = __shfl_sync(~0u, up_to, 31), needed = all / quantile;
  // The first lane whose bins go beyond what is needed counts how many of them do not.
  int bin = own_bins * lane;
  std::uint32_t before = up_to - sum;
#pragma unroll
  for (int i = 0; i < own_bins / 4; ++i)
    for (const std::uint32_t count : {counts[i].x, counts[i].y, counts[i].z, counts[i].w}) {
      before += count;
      bin += before <= needed ? 1 : 0;
    }
  const unsigned beyond = __ballot_sync(~0u, up_to > needed);
  if (all == 0)
    return {};
  return {all, variance_of_bin(__shfl_sync(~0u, bin, __ffs(beyond) - 1))};
}

__global__ void __launch_bounds__(threads) estimate(const __grid_constant__ EstimateArguments a) {
  __shared__ bool is_last;
  __shared__ ClassNoise by_class[classes];
  grid_dependency_wait();
  launch_dependents();
  int number = 0;
  while (number + 1 < a.count && blockIdx.x >= a.channels[number + 1].first_launched)
    ++number;
  const MeasuredChannel& channel = a.channels[number];
  const int thread = static_cast<int>(threadIdx.x);
  const int block =
      static_cast<int>(blockIdx.x - channel.first_launched) * blocks_at_once + thread / block_side;
  // All lanes take part in the sums, those beyond the last block with some other one.
  const int counted = max(0, min(block, channel.blocks - 1));
  Sums sums;
  if (channel.blocks > 0)  // the same for the whole thread block
    sums.load(a, channel, counted % max(1, channel.blocks_across) * block_side,
              counted / max(1, channel.blocks_across) * channel.row_step * block_side +
                  thread % block_side);
  sums.share();
  const bool counts =
      block < channel.blocks && thread % block_side == 0 && sums.extremes <= max_extreme_pixels;
  const int constant = __syncthreads_count(counts && sums.other_levels == 0);
  if (counts && sums.other_levels > 0)
    atomicAdd(&channel.counts->bins[class_of(sums.levels)][bin_of(sums.differences)], 1u);
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
  const ClassNoise noise = noise_of_class(channel.counts->bins[thread / 32]);
  if (thread % 32 == 0)
    by_class[thread / 32] = noise;
  __syncthreads();
  if (thread != 0)
    return;
  const Measurement measured = measurement_of(by_class, __ldcg(&channel.counts->constant));
  channel.counts->constant = channel.counts->finished = 0;
  State state;
  if (!a.first_frame)
    state = *channel.state;
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
      to.step = channel.step * layout.sample_bytes();
      to.width = channel.width;
      to.height = channel.height;
      to.blocks_across = channel.width / block_side;
      to.row_step = row_step(std::int64_t{channel.width} * channel.height);
      const int rows = (channel.height / block_side + to.row_step - 1) / to.row_step;
      to.blocks = to.blocks_across * rows;
      to.first_launched = launched_;
      // A channel without blocks still needs the thread block that begins its state.
      to.launched =
          static_cast<unsigned>(std::max(1, (to.blocks + blocks_at_once - 1) / blocks_at_once));
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
