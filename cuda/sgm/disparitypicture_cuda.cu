// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of DisparityPicture.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/tableuploader.h"
#include "cuda/sgm/disparitypicture_backend.h"

namespace cudavision::sgm {
namespace {

using Kind = DisparityPicture::Kind;

constexpr int threads = 256;

struct DisparityPictureArguments {
  const std::uint8_t* map;
  std::int64_t map_pitch;
  std::uint8_t* out;
  std::int64_t out_pitch;
  int width;
  int blocks_per_row;
  DisparityNumbers numbers;
  int pixel_bytes, red, green, blue;
  const std::uint32_t* colors;  // red, green and blue, from the lowest byte up
};

/// Words may lie at odd addresses.
__device__ std::uint16_t load_word(const std::uint8_t* from) {
  return static_cast<std::uint16_t>(from[0] | from[1] << 8);
}
__device__ void store_word(std::uint8_t* to, std::uint16_t word) {
  to[0] = static_cast<std::uint8_t>(word);
  to[1] = static_cast<std::uint8_t>(word >> 8);
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
  const std::uint16_t number =
      load_word(a.map + a.map_pitch * y + 2 * static_cast<std::int64_t>(x));
  std::uint8_t* const row = a.out + a.out_pitch * y;
  if constexpr (kKind == Kind::depth) {
    store_word(row + 2 * static_cast<std::int64_t>(x), a.numbers.counts(number));
  } else if constexpr (kKind == Kind::gray) {
    row[x] = a.numbers.gray(number);
  } else {
    const std::uint8_t level = a.numbers.gray(number);
    const std::uint32_t color = level == 0 ? 0 : a.colors[level];
    std::uint8_t* const pixel = row + static_cast<std::int64_t>(a.pixel_bytes) * x;
    for (int i = 0; i < a.pixel_bytes; ++i) {
      const int shift = i == a.red ? 0 : i == a.green ? 8 : i == a.blue ? 16 : -1;
      pixel[i] = static_cast<std::uint8_t>(shift < 0 ? 0xff : color >> shift);
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
  DisparityPictureCuda(Device& device, int width, Kind kind, const PackedPixel& pixel)
      : kernel_(kernel_for(kind)), launch_(device.stream(), kernel_) {
    a_.width = width;
    a_.blocks_per_row = (width + threads - 1) / threads;
    a_.pixel_bytes = pixel.bytes;
    a_.red = pixel.red;
    a_.green = pixel.green;
    a_.blue = pixel.blue;
    if (kind != Kind::color)
      return;
    uploader_ = std::make_unique<TableUploader>(device, std::tuple_size_v<ColorTable>);
    a_.colors = uploader_->tables();
  }

  void set(const DisparityNumbers& numbers) override { a_.numbers = numbers; }

  void set_colors(const ColorTable& table) override {
    std::uint32_t* const words = uploader_->next();
    for (std::size_t level = 0; level < table.size(); ++level)
      words[level] = table[level][0] | static_cast<std::uint32_t>(table[level][1]) << 8 |
                     static_cast<std::uint32_t>(table[level][2]) << 16;
    uploader_->upload(table.size());
  }

  void run(View<const std::uint8_t> disparity, View<std::uint8_t> out) override {
    DisparityPictureArguments a = a_;
    a.map = disparity.data;
    a.map_pitch = disparity.pitch;
    a.out = out.data;
    a.out_pitch = out.pitch;
    launch_(kernel_, static_cast<unsigned>(a.blocks_per_row) * disparity.height, threads, 0, a);
  }

 private:
  Kernel kernel_;
  DisparityPictureArguments a_{};
  std::unique_ptr<TableUploader> uploader_;  // for Kind::color only
  Launcher<DisparityPictureArguments> launch_;
};

}  // namespace

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(Device& device, int width,
                                                                       DisparityPicture::Kind kind,
                                                                       const PackedPixel& pixel) {
  return std::make_unique<DisparityPictureCuda>(device, width, kind, pixel);
}

}  // namespace cudavision::sgm
