// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/luminance_backend.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision {
namespace {

constexpr int threads = 256;

struct LuminanceArguments {
  PackedImage picture;
  std::uint8_t* out;
  std::int64_t out_pitch;
};

template <class Pack>
__device__ std::uint32_t luminance_in(const std::uint32_t* data, int pixel,
                                      const PackedImage& picture) {
  if constexpr (Pack::colour)
    return packed_luminance(Pack::pixel(data, pixel), picture);
  else
    return Pack::value(data, pixel, picture);
}

/// Each thread converts one pack of pixels. The output rows are padded to whole packs.
template <class Pack, Rows kRows>
__global__ void luminance_kernel(const __grid_constant__ LuminanceArguments a) {
  constexpr int per_word = is_words<Pack> ? 2 : 4;
  launch_dependents();
  grid_dependency_wait();
  const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= a.picture.count)
    return;
  const PackCursor<kRows> at(a.picture, number);
  std::uint32_t data[Pack::words];
  Pack::template load<kRows>(a.picture, at, data);
  auto* to = reinterpret_cast<std::uint32_t*>(a.out + a.out_pitch * at.y) +
             static_cast<std::int64_t>(at.x) * (Pack::pixels / per_word);
#pragma unroll
  for (int w = 0; w < Pack::pixels / per_word; ++w) {
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < per_word; ++i)
      word |= luminance_in<Pack>(data, w * per_word + i, a.picture) << (32 / per_word * i);
    to[w] = word;
  }
}

using Kernel = Launcher<LuminanceArguments>::Kernel;

Kernel find_kernel(const AccessPlan& plan) {
  return with_pack(plan.kind, [&]<class Pack>() -> Kernel {
    if constexpr (Pack::pixel_bytes == 0)
      return luminance_kernel<Pack, Rows::ragged>;
    else if constexpr (Pack::colour || (Pack::pixel_bytes == 2 && !is_words<Pack>))
      return plan.rows == Rows::ragged ? luminance_kernel<Pack, Rows::ragged>
                                       : luminance_kernel<Pack, Rows::whole>;
    else
      return nullptr;  // contiguous luma needs no backend
  });
}

class LuminanceCuda final : public Luminance::Backend {
 public:
  LuminanceCuda(Device& device, const FrameLayout& layout)
      : planner_(layout),
        launch_(device.stream(), luminance_kernel<ScatteredColour, Rows::ragged>) {}

  void run(const ConstFrame& in, View<std::uint8_t> out) override {
    const AccessPlan plan = planner_.plan(in, Frame{});
    const LuminanceArguments a{plan.packs, out.data, out.pitch};
    launch_(find_kernel(plan), divide_up(a.picture.count, threads), threads, 0, a);
  }

 private:
  AccessPlanner planner_;
  Launcher<LuminanceArguments> launch_;
};

struct ReductionArguments {
  const std::uint8_t* in;
  std::int64_t in_pitch;
  std::uint8_t* out;
  std::int64_t out_pitch;
  int width;
  int blocks_per_row;
  int shift, dropped;
  std::uint32_t largest;
};

/// Loads single bytes, because samples of two bytes may be at odd addresses.
__global__ void __launch_bounds__(threads)
    reduce_to_8_bits_kernel(const __grid_constant__ ReductionArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x = static_cast<int>(blockIdx.x % a.blocks_per_row) * threads + threadIdx.x;
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x >= a.width)
    return;
  const std::uint8_t* const from = a.in + a.in_pitch * y + 2 * static_cast<std::int64_t>(x);
  const std::uint32_t word = from[0] | static_cast<std::uint32_t>(from[1]) << 8;
  a.out[a.out_pitch * y + x] =
      static_cast<std::uint8_t>(sample_value(word, a.shift, a.largest) >> a.dropped);
}

}  // namespace

std::unique_ptr<Luminance::Backend> make_luminance_cuda(Device& device, const FrameLayout& layout) {
  return std::make_unique<LuminanceCuda>(device, layout);
}

void reduce_to_8_bits_cuda(Device& device, const SamplePlane& in, View<std::uint8_t> out) {
  const int blocks_per_row = divide_up(in.width, threads);
  const ReductionArguments a{in.rows.data, in.rows.pitch, out.data,
                             out.pitch,    in.width,      blocks_per_row,
                             in.shift,     in.bits - 8,   (1u << in.bits) - 1};
  // Uses no Launcher, because the constructor would query the driver in each call.
  launch_kernel(device.stream(),
                {reinterpret_cast<const void*>(reduce_to_8_bits_kernel),
                 static_cast<unsigned>(blocks_per_row) * out.height, threads},
                &a);
}

}  // namespace cudavision
