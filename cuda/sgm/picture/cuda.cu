// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of DisparityPicture. With an automatic range, two kernels precede the one that
// draws: the blocks of the first count numbers, and the one block of the second finds the
// percentiles and moves the range.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/tableuploader.h"
#include "cuda/core/warp.cuh"
#include "cuda/sgm/picture/backend.h"

namespace cudavision::sgm {
namespace {

using Kind = DisparityPicture::Kind;

constexpr int threads = 256;

/// The values that a picture is made from: words, or bytes for confidence. Words may lie at odd
/// addresses.
struct Values {
  const std::uint8_t* data;
  std::int64_t pitch;
  bool bytes;

  __device__ std::uint16_t at(int x, int y) const {
    const std::uint8_t* const row = data + pitch * y;
    if (bytes)
      return row[x];
    const std::uint8_t* const from = row + 2 * static_cast<std::int64_t>(x);
    return static_cast<std::uint16_t>(from[0] | from[1] << 8);
  }
};

__device__ void store_word(std::uint8_t* to, std::uint16_t word) {
  to[0] = static_cast<std::uint8_t>(word);
  to[1] = static_cast<std::uint8_t>(word >> 8);
}

/* The automatic range */

/// The state from which the range of the next frame follows.
struct RangeMemory {
  std::uint32_t counts[RangeBins::maximum];  // 0 between frames
  RangeState state;
  LevelRange range;  // of the values of the current frame
};

struct RangeArguments {
  Values values;
  int width, height;
  DisparityNumbers numbers;
  RangeMemory* memory;
  int weight;
  bool restart;
};

constexpr int run_pixels = 8;  // that a thread counts at once
constexpr unsigned max_count_blocks = 256;

/// Neighbours are often in one bin, so each thread counts runs of them before it adds to the
/// block's histogram.
__global__ void __launch_bounds__(threads) count_kernel(const __grid_constant__ RangeArguments a) {
  __shared__ std::uint32_t counts[RangeBins::maximum];
  launch_dependents();
  for (int bin = threadIdx.x; bin < RangeBins::maximum; bin += threads)
    counts[bin] = 0;
  __syncthreads();
  grid_dependency_wait();
  const std::uint32_t per_row = (a.width + run_pixels - 1) / run_pixels;
  const std::uint32_t all = per_row * a.height;
  for (std::uint32_t run = blockIdx.x * threads + threadIdx.x; run < all;
       run += gridDim.x * threads) {
    const int y = static_cast<int>(run / per_row);
    const int first = static_cast<int>(run % per_row) * run_pixels;
    const int end = min(first + run_pixels, a.width);
    int bin = -1;
    std::uint32_t count = 0;
    for (int x = first; x < end; ++x) {
      const int next = a.numbers.bin(a.values.at(x, y));
      if (next != bin) {
        if (bin >= 0)
          atomicAdd(&counts[bin], count);
        bin = next;
        count = 0;
      }
      ++count;
    }
    if (bin >= 0)
      atomicAdd(&counts[bin], count);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < RangeBins::maximum; bin += threads)
    if (counts[bin] != 0)
      atomicAdd(&a.memory->counts[bin], counts[bin]);
}

/// One block, with a thread for each bin.
__global__ void __launch_bounds__(RangeBins::maximum)
    range_kernel(const __grid_constant__ RangeArguments a) {
  constexpr int warps = RangeBins::maximum / 32;
  __shared__ std::uint32_t sums[warps];
  __shared__ int low, high;
  launch_dependents();
  grid_dependency_wait();
  const int bin = static_cast<int>(threadIdx.x);
  const std::uint32_t count = a.memory->counts[bin];
  a.memory->counts[bin] = 0;
  std::uint32_t up_to = inclusive_scan(count);
  if (bin % 32 == 31)
    sums[bin / 32] = up_to;
  __syncthreads();
  std::uint32_t all = 0;
  for (int i = 0; i < warps; ++i) {
    if (i == bin / 32)
      up_to += all;
    all += sums[i];
  }
  if (is_percentile(up_to, count, all, low_percentage))
    low = bin;
  if (is_percentile(up_to, count, all, high_percentage))
    high = bin;
  __syncthreads();
  if (bin != 0)
    return;
  RangeState state;
  if (!a.restart)
    state = a.memory->state;
  if (all != 0)
    state.take(a.numbers.bins.min_in(low), a.numbers.bins.max_in(high), a.weight);
  a.memory->state = state;
  a.memory->range = a.numbers.automatic_range(state);
}

/* Pictures */

struct DisparityPictureArguments {
  Values values;
  std::uint8_t* out;
  std::int64_t out_pitch;
  int width;
  int blocks_per_row;
  DisparityNumbers numbers;
  const LevelRange* automatic_range;  // nullptr if the range is not automatic
  int pixel_bytes, red, green, blue;
  const std::uint32_t* colors;  // red, green and blue, from the lowest byte up
};

template <Kind kKind>
__global__ void __launch_bounds__(threads)
    disparity_picture_kernel(const __grid_constant__ DisparityPictureArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x = static_cast<int>(blockIdx.x % a.blocks_per_row) * threads + threadIdx.x;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x >= a.width)
    return;
  const std::uint16_t number = a.values.at(x, y);
  std::uint8_t* const row = a.out + a.out_pitch * y;
  if constexpr (kKind == Kind::depth) {
    store_word(row + 2 * static_cast<std::int64_t>(x), a.numbers.counts(number));
  } else {
    const LevelRange range = a.automatic_range ? *a.automatic_range : a.numbers.range;
    const std::uint8_t level = a.numbers.level(number, range);
    if constexpr (kKind == Kind::gray) {
      row[x] = level;
    } else {
      const std::uint32_t color = level == 0 ? 0 : a.colors[level];
      std::uint8_t* const pixel = row + static_cast<std::int64_t>(a.pixel_bytes) * x;
      for (int i = 0; i < a.pixel_bytes; ++i) {
        const int shift = i == a.red ? 0 : i == a.green ? 8 : i == a.blue ? 16 : -1;
        pixel[i] = static_cast<std::uint8_t>(shift < 0 ? 0xff : color >> shift);
      }
    }
  }
}

using Kernel = Launcher<DisparityPictureArguments>::Kernel;

Kernel kernel_for(Kind kind) {
  switch (kind) {
    case Kind::gray:
      return disparity_picture_kernel<Kind::gray>;
    case Kind::color:
      return disparity_picture_kernel<Kind::color>;
    default:
      return disparity_picture_kernel<Kind::depth>;
  }
}

class DisparityPictureCuda final : public DisparityPicture::Backend {
 public:
  DisparityPictureCuda(Device& device, const PictureConfig& config)
      : config_(config),
        kernel_(kernel_for(config.kind)),
        launch_(device.stream(), kernel_),
        launch_range_(device.stream(), count_kernel) {
    a_.width = config.width;
    a_.blocks_per_row = (config.width + threads - 1) / threads;
    a_.pixel_bytes = config.pixel.bytes;
    a_.red = config.pixel.red;
    a_.green = config.pixel.green;
    a_.blue = config.pixel.blue;
    if (config.kind == Kind::depth)
      return;
    memory_ = device.allocate(sizeof(RangeMemory));
    constexpr int bytes = sizeof(RangeMemory);
    device.fill({memory_.as<std::uint8_t>(), bytes, 1, bytes}, 0);
    if (config.kind != Kind::color)
      return;
    uploader_ = std::make_unique<TableUploader>(device, std::tuple_size_v<ColorTable>);
    a_.colors = uploader_->tables();
  }

  void set(const DisparityNumbers& numbers) override {
    if (numbers.bins != a_.numbers.bins)
      restart();
    a_.numbers = numbers;
  }

  void set_colors(const ColorTable& table) override {
    std::uint32_t* const words = uploader_->next();
    for (std::size_t level = 0; level < table.size(); ++level)
      words[level] = table[level][0] | static_cast<std::uint32_t>(table[level][1]) << 8 |
                     static_cast<std::uint32_t>(table[level][2]) << 16;
    uploader_->upload(table.size());
  }

  void restart() noexcept override { restart_ = true; }

  void run(View<const std::uint8_t> values, View<std::uint8_t> out, int weight) override {
    DisparityPictureArguments a = a_;
    a.values = {values.data, values.pitch, config_.reads_bytes};
    a.out = out.data;
    a.out_pitch = out.pitch;
    if (a.numbers.automatic && memory_.data()) {
      find_range(a.values, weight);
      a.automatic_range = &memory_.as<RangeMemory>()->range;
    }
    launch_(kernel_, static_cast<unsigned>(a.blocks_per_row) * out.height, threads, 0, a);
  }

 private:
  void find_range(const Values& values, int weight) {
    RangeArguments a{};
    a.values = values;
    a.width = config_.width;
    a.height = config_.height;
    a.numbers = a_.numbers;
    a.memory = memory_.as<RangeMemory>();
    a.weight = weight;
    a.restart = restart_;
    restart_ = false;
    constexpr int block_pixels = threads * run_pixels;
    const std::int64_t pixels = static_cast<std::int64_t>(config_.width) * config_.height;
    const auto blocks = static_cast<unsigned>(
        std::min<std::int64_t>((pixels + block_pixels - 1) / block_pixels, max_count_blocks));
    launch_range_(count_kernel, blocks, threads, 0, a);
    launch_range_(range_kernel, 1, RangeBins::maximum, 0, a);
  }

  PictureConfig config_;
  Kernel kernel_;
  DisparityPictureArguments a_{};
  Buffer memory_;  // a RangeMemory; none for Kind::depth
  bool restart_ = true;
  std::unique_ptr<TableUploader> uploader_;  // for Kind::color only
  Launcher<DisparityPictureArguments> launch_;
  Launcher<RangeArguments> launch_range_;
};

}  // namespace

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(
    Device& device, const PictureConfig& config) {
  return std::make_unique<DisparityPictureCuda>(device, config);
}

}  // namespace cudavision::sgm
