// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/cuda_launch.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/luminance_backend.h"
#include "cuda/pixels/pixel_pack.h"
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

/// Each thread converts one pack of pixels. The output rows have room for whole packs.
template <class Pack, class Sample, Rows kRows>
__global__ void luminance_kernel(const __grid_constant__ LuminanceArguments a) {
  constexpr int per_word = 4 / static_cast<int>(sizeof(Sample));
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

template <class Pack>
Kernel kernel_for(Rows rows) {
  return rows == Rows::ragged ? luminance_kernel<Pack, std::uint8_t, Rows::ragged>
                              : luminance_kernel<Pack, std::uint8_t, Rows::whole>;
}

Kernel kernel_for(const AccessPlan& plan) {
  switch (plan.kind) {
    case AccessPattern::luma_bytes_2_0:
      return kernel_for<LumaBytes<2, 0>>(plan.rows);
    case AccessPattern::luma_bytes_2_1:
      return kernel_for<LumaBytes<2, 1>>(plan.rows);
    case AccessPattern::packed_colour_3:
      return kernel_for<PackedColour<3>>(plan.rows);
    case AccessPattern::packed_colour_4:
      return kernel_for<PackedColour<4>>(plan.rows);
    case AccessPattern::planar_colour:
      return kernel_for<PlanarColour>(plan.rows);
    case AccessPattern::scattered_luma_1:
      return luminance_kernel<ScatteredLuma<1>, std::uint8_t, Rows::ragged>;
    case AccessPattern::scattered_luma_2:
      return luminance_kernel<ScatteredLuma<2>, std::uint16_t, Rows::ragged>;
    default:  // Luminance makes no backend for contiguous luma
      return luminance_kernel<ScatteredColour, std::uint8_t, Rows::ragged>;
  }
}

class LuminanceCuda final : public Luminance::Backend {
 public:
  LuminanceCuda(Device& device, const FrameLayout& layout)
      : planner_(layout),
        launch_(device.stream(), luminance_kernel<ScatteredColour, std::uint8_t, Rows::ragged>) {}

  void run(const ConstFrame& in, View<std::uint8_t> out) override {
    const AccessPlan plan = planner_.plan(in, Frame{});
    const LuminanceArguments a{plan.packs, out.data, out.pitch};
    launch_(kernel_for(plan), (a.picture.count + threads - 1) / threads, threads, 0, a);
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

/// Words may be at odd addresses.
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
  ReductionArguments a{};
  a.in = in.rows.data;
  a.in_pitch = in.rows.pitch;
  a.out = out.data;
  a.out_pitch = out.pitch;
  a.width = in.width;
  a.blocks_per_row = (in.width + threads - 1) / threads;
  a.shift = in.shift;
  a.dropped = in.bits - 8;
  a.largest = (1u << in.bits) - 1;
  // A Launcher, made for each frame, would ask the driver each time whether the kernel may overlap.
  launch_kernel(device.stream(),
                {reinterpret_cast<const void*>(reduce_to_8_bits_kernel),
                 static_cast<unsigned>(a.blocks_per_row) * out.height, threads},
                &a);
}

}  // namespace cudavision
