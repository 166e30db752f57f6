// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/cuda_launch.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/remap/eightbits_backend.h"

namespace cudavision::remap {
namespace {

constexpr int threads = 256;

struct EightBitsArguments {
  const std::uint8_t* in;
  std::int64_t in_pitch;
  std::uint8_t* out;
  std::int64_t out_pitch;
  int width;
  int blocks_per_row;
  int shift, dropped;
  std::uint32_t largest;
};

/// Words may lie at odd addresses.
__global__ void __launch_bounds__(threads)
    eight_bits_kernel(const __grid_constant__ EightBitsArguments a) {
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

class EightBitsCuda final : public EightBits::Backend {
 public:
  explicit EightBitsCuda(Device& device) : launch_(device.stream(), eight_bits_kernel) {}

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    EightBitsArguments a{};
    a.in = in.rows.data;
    a.in_pitch = in.rows.pitch;
    a.out = out.data;
    a.out_pitch = out.pitch;
    a.width = in.width;
    a.blocks_per_row = (in.width + threads - 1) / threads;
    a.shift = in.shift;
    a.dropped = in.bits - 8;
    a.largest = (1u << in.bits) - 1;
    launch_(eight_bits_kernel, static_cast<unsigned>(a.blocks_per_row) * out.height, threads, 0, a);
  }

 private:
  Launcher<EightBitsArguments> launch_;
};

}  // namespace

std::unique_ptr<EightBits::Backend> make_eight_bits_cuda(Device& device) {
  return std::make_unique<EightBitsCuda>(device);
}

}  // namespace cudavision::remap
