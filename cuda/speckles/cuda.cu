// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/speckles/backend.h"
#include "cuda/speckles/kernels.cuh"

namespace cudavision::speckles {
namespace {

/// A black and white picture in memory. Samples of two bytes need not be aligned.
template <int kBytes>
struct Page {
  using Value = std::uint16_t;
  static constexpr bool diagonals = true;
  static constexpr Value largest = kBytes == 1 ? 0xff : 0xffff;

  __device__ std::uint8_t* sample(int x, int y) const {
    return rows.data + y * static_cast<std::int64_t>(rows.pitch) + x * kBytes;
  }
  __device__ Value load(int x, int y) const {
    const std::uint8_t* const bytes = sample(x, y);
    return static_cast<Value>(kBytes == 1 ? bytes[0] : bytes[0] | bytes[kBytes - 1] << 8);
  }
  __device__ Value background() const { return largest - ink; }
  __device__ bool is_ink(Value value) const { return value == ink; }
  __device__ bool are_joined(Value a, Value b) const { return a == ink && b == ink; }
  __device__ void remove(int x, int y) const {
    for (int i = 0; i < kBytes; ++i)
      sample(x, y)[i] = static_cast<std::uint8_t>(background());
  }

  View<std::uint8_t> rows;
  Value ink;
};

template <int kBytes>
class SpecklesCuda final : public Speckles::Backend {
 public:
  SpecklesCuda(Device& device, const PlaneSize& size)
      : size_(size),
        scratch_(device.allocate(scratch_bytes<Page<kBytes>>(size.width, size.height))),
        launcher_(device.stream(), tiles_kernel<Page<kBytes>>) {}

  void run(const Parameters& parameters, View<std::uint8_t> picture) override {
    const std::uint16_t ink = parameters.white ? Page<kBytes>::largest : 0;
    launch_all(arguments(Page<kBytes>{picture, ink}, size_.width, size_.height, scratch_.data(),
                         parameters.size),
               launcher_);
  }

 private:
  PlaneSize size_;
  Buffer scratch_;
  Launcher<Arguments<Page<kBytes>>> launcher_;
};

}  // namespace

std::unique_ptr<Speckles::Backend> make_speckles_cuda(Device& device, const PlaneSize& size) {
  if (size.bits == 8)
    return std::make_unique<SpecklesCuda<1>>(device, size);
  return std::make_unique<SpecklesCuda<2>>(device, size);
}

}  // namespace cudavision::speckles
