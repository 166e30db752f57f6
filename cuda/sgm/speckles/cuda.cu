// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes the speckles of a map, with the kernels of cuda/speckles.

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/speckles/kernels.cuh"

namespace cudavision::sgm {
namespace {

struct Map {
  using Value = std::uint16_t;
  static constexpr bool diagonals = false;

  __device__ Value& number(int x, int y) const {
    return numbers[static_cast<std::uint32_t>(y) * width + x];
  }
  __device__ Value load(int x, int y) const { return number(x, y); }
  __device__ Value background() const { return unknown; }
  __device__ bool is_ink(Value value) const { return value != unknown; }
  __device__ bool are_joined(Value a, Value b) const { return sgm::are_joined(a, b, max_step); }
  __device__ void remove(int x, int y) const { number(x, y) = unknown; }

  Value* numbers;
  int width, max_step;
};

}  // namespace

std::size_t SpecklesCuda::scratch_bytes(const StageConfig& config) {
  return speckles::run_bytes<Map>(config.width, config.height);
}

SpecklesCuda::SpecklesCuda(Device& device, LaunchQueue& queue, const StageConfig& config,
                           void* scratch)
    : config_(config),
      scratch_(scratch),
      words_(device.allocate(speckles::word_bytes(config.width, config.height))),
      queue_(queue) {}

void SpecklesCuda::run(int size, int max_step, std::uint16_t* map) const {
  const speckles::Arguments<Map> a =
      speckles::arguments(Map{map, config_.width, max_step}, config_.width, config_.height,
                          scratch_, words_.data(), size);
  speckles::launch_all(a, [&](auto kernel, unsigned blocks, unsigned threads, std::size_t shared,
                              const speckles::Arguments<Map>& arguments) {
    queue_.launch(kernel, blocks, threads, shared, arguments);
  });
}

}  // namespace cudavision::sgm
