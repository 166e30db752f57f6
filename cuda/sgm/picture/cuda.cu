// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of DisparityPicture. For an automatic range, one kernel counts the map
// values, and another updates the range before the picture is drawn.

#include <algorithm>
#include <utility>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/core/tableuploader.h"
#include "cuda/sgm/picture/backend.h"

namespace cudavision::sgm {
namespace {

using Kind = DisparityPicture::Kind;

constexpr int threads = 256;
constexpr int max_count_blocks = 256;

/// The input: 16-bit map values, or bytes for confidence. Map values may be at odd addresses.
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

struct RangeMemory {
  std::uint32_t counts[RangeBins::count];  // all 0 between frames
  RangeState state;
  LevelRange range;  // range of the current frame
};

struct DisparityPictureArguments {
  Values values;
  std::uint8_t* out;
  std::int64_t out_pitch;
  int width, height;
  int blocks_per_row;
  DisparityNumbers numbers;
  RangeMemory* memory;
  int weight;  // weight of this frame in an automatic range
  bool first_frame;
  PackedPixel pixel;
  const std::uint32_t* colors;  // red, green and blue, from the lowest byte up
};

__global__ void __launch_bounds__(RangeBins::count)
    count_kernel(const __grid_constant__ DisparityPictureArguments a) {
  __shared__ std::uint32_t counts[RangeBins::count];
  launch_dependents();
  grid_dependency_wait();
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int y = blockIdx.x; y < a.height; y += gridDim.x)
    for (int x = threadIdx.x; x < a.width; x += RangeBins::count)
      if (const int bin = a.numbers.bin(a.values.at(x, y)); bin >= 0)
        atomicAdd(&counts[bin], 1u);
  __syncthreads();
  if (counts[threadIdx.x] > 0)
    atomicAdd(&a.memory->counts[threadIdx.x], counts[threadIdx.x]);
}

__global__ void __launch_bounds__(RangeBins::count)
    range_kernel(const __grid_constant__ DisparityPictureArguments a) {
  __shared__ std::uint32_t counts[RangeBins::count];
  launch_dependents();
  grid_dependency_wait();
  counts[threadIdx.x] = a.memory->counts[threadIdx.x];
  a.memory->counts[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    a.memory->range = a.numbers.next_range(a.memory->state, counts, a.weight, a.first_frame);
}

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
    const std::uint16_t depth = a.numbers.depth_of(number);
    row[2 * static_cast<std::int64_t>(x)] = static_cast<std::uint8_t>(depth);
    row[2 * static_cast<std::int64_t>(x) + 1] = static_cast<std::uint8_t>(depth >> 8);
  } else {
    const LevelRange range = a.numbers.automatic ? a.memory->range : a.numbers.range;
    const std::uint8_t level = a.numbers.level(number, range);
    if constexpr (kKind == Kind::gray) {
      row[x] = level;
    } else {
      const std::uint32_t color = level == 0 ? 0 : a.colors[level];
      const PackedPixel& layout = a.pixel;
      std::uint8_t* const pixel = row + static_cast<std::int64_t>(layout.bytes) * x;
      for (int i = 0; i < layout.bytes; ++i) {
        const int shift = i == layout.red ? 0 : i == layout.green ? 8 : i == layout.blue ? 16 : -1;
        pixel[i] = static_cast<std::uint8_t>(shift < 0 ? 0xff : color >> shift);
      }
    }
  }
}

class DisparityPictureCuda final : public DisparityPicture::Backend {
 public:
  DisparityPictureCuda(Device& device, const PictureConfig& config)
      : config_(config),
        kernel_(config.kind == Kind::gray    ? disparity_picture_kernel<Kind::gray>
                : config.kind == Kind::color ? disparity_picture_kernel<Kind::color>
                                             : disparity_picture_kernel<Kind::depth>),
        memory_(device.allocate(sizeof(RangeMemory))),
        launch_(device.stream(), kernel_) {
    a_.width = config.width;
    a_.height = config.height;
    a_.memory = memory_.as<RangeMemory>();
    a_.blocks_per_row = divide_up(config.width, threads);
    a_.pixel = config.pixel;
    device.fill(contiguous_rows(memory_.as<std::uint8_t>(), sizeof(RangeMemory), 1), 0);
    if (config.kind != Kind::color)
      return;
    uploader_ = std::make_unique<TableUploader>(device, std::tuple_size_v<ColorTable>);
    a_.colors = uploader_->tables();
  }

  void set_colors(const ColorTable& table) override {
    std::uint32_t* const words = uploader_->next();
    for (std::size_t level = 0; level < table.size(); ++level)
      words[level] = table[level][0] | static_cast<std::uint32_t>(table[level][1]) << 8 |
                     static_cast<std::uint32_t>(table[level][2]) << 16;
    uploader_->upload(table.size());
  }

  void run(View<const std::uint8_t> values, View<std::uint8_t> out, int weight) override {
    DisparityPictureArguments a = a_;
    a.values = {values.data, values.pitch, config_.reads_bytes};
    a.out = out.data;
    a.out_pitch = out.pitch;
    a.numbers = numbers_;
    if (numbers_.automatic) {
      a.weight = weight;
      a.first_frame = std::exchange(first_frame_, false);
      launch_(count_kernel, std::min(a.height, max_count_blocks), RangeBins::count, 0, a);
      launch_(range_kernel, 1, RangeBins::count, 0, a);
    }
    launch_(kernel_, static_cast<unsigned>(a.blocks_per_row) * out.height, threads, 0, a);
  }

 private:
  PictureConfig config_;
  Launcher<DisparityPictureArguments>::Kernel kernel_;
  DisparityPictureArguments a_{};
  Buffer memory_;                            // holds a RangeMemory
  std::unique_ptr<TableUploader> uploader_;  // for Kind::color only
  Launcher<DisparityPictureArguments> launch_;
};

}  // namespace

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(
    Device& device, const PictureConfig& config) {
  return std::make_unique<DisparityPictureCuda>(device, config);
}

}  // namespace cudavision::sgm
