// SPDX-License-Identifier: LGPL-2.1-or-later
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

std::size_t speckles_scratch_bytes(const StageConfig& config) {
  return speckles::scratch_bytes<Map>(config.width, config.height);
}

void run_stage(const StageResources& resources, const RemoveSpeckles& stage) {
  const StageConfig& config = resources.config;
  const Map map{stage.map, config.width, stage.max_step};
  speckles::launch_all(
      speckles::arguments(map, config.width, config.height, resources.scratch, stage.size),
      [&](const auto&... launch) { resources.queue.launch(launch...); });
}

}  // namespace cudavision::sgm
