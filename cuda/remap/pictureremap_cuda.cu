// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of PictureRemap. As in cuda.cu, a warp computes a segment of the output, and a
// block segments below each other. The lanes of a warp write neighbouring pixels.

#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/remap/pictureremap_backend.h"
#include "cuda/remap/samples.cuh"

namespace cudavision::remap {
namespace {

constexpr int warp = 32;
constexpr int thread_pixels = segment_pixels / warp;
constexpr int block_rows = 8;
constexpr unsigned threads = warp * block_rows;

struct PictureRemapArguments {
  const std::uint8_t* in;
  std::uint8_t* out;
  int in_pitch, out_pitch;
  int width, height;  ///< of the channels and of their map
  int shift;
  std::uint32_t largest;
  ChannelGroup group;
  const Segment* segments;
  const void* offsets;
  unsigned segments_per_row;
};

template <Access kAccess>
__device__ void store_sample(const PictureRemapArguments& a, std::uint8_t* to, int value) {
  const int word = value << a.shift;
  if constexpr (kAccess == Access::words) {
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(word);
  } else {
    to[0] = static_cast<std::uint8_t>(word);
    if constexpr (kAccess == Access::split_words)
      to[1] = static_cast<std::uint8_t>(word >> 8);
  }
}

/// Returns the sample of a channel at any place. If inside is true, its four neighbours are in the
/// picture.
template <Access kAccess>
__device__ int sample_at(const PictureRemapArguments& a, int c, const Place& place, bool inside) {
  const int x = place.column(), y = place.row();
  const std::int64_t step = std::int64_t{sample_bytes<kAccess>} * a.group.step;
  const std::uint8_t* const top =
      a.in + std::int64_t{a.in_pitch} * y + step * x + sample_bytes<kAccess> * a.group.offset[c];
  const std::uint8_t* const bottom = top + a.in_pitch;
  if (inside)
    return blend(place, load_sample<kAccess>(a, top), load_sample<kAccess>(a, top + step),
                 load_sample<kAccess>(a, bottom), load_sample<kAccess>(a, bottom + step));
  const bool left = static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
  const bool right = static_cast<unsigned>(x + 1) < static_cast<unsigned>(a.width);
  const bool upper = static_cast<unsigned>(y) < static_cast<unsigned>(a.height);
  const bool lower = static_cast<unsigned>(y + 1) < static_cast<unsigned>(a.height);
  const int border = a.group.border[c];
  return blend(place, left && upper ? load_sample<kAccess>(a, top) : border,
               right && upper ? load_sample<kAccess>(a, top + step) : border,
               left && lower ? load_sample<kAccess>(a, bottom) : border,
               right && lower ? load_sample<kAccess>(a, bottom + step) : border);
}

template <Access kAccess, class Offset>
__global__ void __launch_bounds__(threads)
    picture_remap_kernel(const __grid_constant__ PictureRemapArguments a) {
  launch_dependents();
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const int column = static_cast<int>(blockIdx.x % a.segments_per_row);
  const int y = static_cast<int>(blockIdx.x / a.segments_per_row) * block_rows +
                static_cast<int>(threadIdx.x) / warp;
  grid_dependency_wait();
  if (y >= a.height)
    return;
  const std::int64_t number = static_cast<std::int64_t>(a.segments_per_row) * y + column;
  const Segment segment = a.segments[number];
  const Offset* const offsets = static_cast<const Offset*>(a.offsets) + segment_pixels * number;
  const std::int64_t step = std::int64_t{sample_bytes<kAccess>} * a.group.step;
  std::uint8_t* const row = a.out + std::int64_t{a.out_pitch} * y;
#pragma unroll
  for (int i = 0; i < thread_pixels; ++i) {
    const int pixel = warp * i + lane;
    const int x = segment_pixels * column + pixel;
    if (x >= a.width)
      return;
    const Place place = place_at(segment, offsets[pixel]);
#pragma unroll 1
    for (int c = 0; c < a.group.count; ++c)
      store_sample<kAccess>(a, row + step * x + sample_bytes<kAccess> * a.group.offset[c],
                            sample_at<kAccess>(a, c, place, segment.inside));
  }
}

using Kernel = Launcher<PictureRemapArguments>::Kernel;

template <Access kAccess>
Kernel kernel_for(bool wide) {
  return wide ? picture_remap_kernel<kAccess, std::uint64_t>
              : picture_remap_kernel<kAccess, std::uint32_t>;
}

Kernel kernel_for(const PictureRemapArguments& a, int bits, bool wide) {
  if (bits == 8)
    return kernel_for<Access::bytes>(wide);
  const bool even = (reinterpret_cast<std::uintptr_t>(a.in) | a.in_pitch |
                     reinterpret_cast<std::uintptr_t>(a.out) | a.out_pitch) %
                        2 ==
                    0;
  return even ? kernel_for<Access::words>(wide) : kernel_for<Access::split_words>(wide);
}

/* Padding */

struct FillArguments {
  std::uint8_t* out;
  std::int64_t pitch;
  int row_bytes;
  int blocks_per_row;
};

__global__ void __launch_bounds__(threads) fill_kernel(const __grid_constant__ FillArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x =
      static_cast<int>(blockIdx.x % a.blocks_per_row * threads) + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x < a.row_bytes)
    a.out[a.pitch * y + x] = 0xff;
}

class PictureRemapCuda final : public PictureRemap::Backend {
 public:
  PictureRemapCuda(Device& device, const SampleCoding& coding)
      : coding_(coding),
        launch_(device.stream(), picture_remap_kernel<Access::bytes, std::uint32_t>),
        fill_(device.stream(), fill_kernel) {}

  void fill(View<std::uint8_t> out) override {
    FillArguments a{};
    a.out = out.data;
    a.pitch = out.pitch;
    a.row_bytes = out.width;
    a.blocks_per_row = (out.width + static_cast<int>(threads) - 1) / static_cast<int>(threads);
    fill_(fill_kernel, static_cast<unsigned>(a.blocks_per_row) * out.height, threads, 0, a);
  }

  void run(const ChannelGroup& group, const PackedMap& map, View<const std::uint8_t> in,
           View<std::uint8_t> out) override {
    PictureRemapArguments a{};
    a.in = in.data;
    a.out = out.data;
    a.in_pitch = static_cast<int>(in.pitch);
    a.out_pitch = static_cast<int>(out.pitch);
    a.width = map.width();
    a.height = map.height();
    a.shift = coding_.shift;
    a.largest = static_cast<std::uint32_t>(coding_.largest());
    a.group = group;
    a.segments = map.segments();
    a.offsets = map.offsets();
    a.segments_per_row = static_cast<unsigned>(map.segments_per_row());
    const unsigned rows_of_blocks =
        (static_cast<unsigned>(map.height()) + block_rows - 1) / block_rows;
    launch_(kernel_for(a, coding_.bits, map.wide()), rows_of_blocks * a.segments_per_row, threads,
            0, a);
  }

 private:
  SampleCoding coding_;
  Launcher<PictureRemapArguments> launch_;
  Launcher<FillArguments> fill_;
};

}  // namespace

std::unique_ptr<PictureRemap::Backend> make_picture_remap_cuda(Device& device,
                                                               const SampleCoding& coding) {
  return std::make_unique<PictureRemapCuda>(device, coding);
}

}  // namespace cudavision::remap
