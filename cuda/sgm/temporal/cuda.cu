// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

struct TemporalArguments {
  const std::uint16_t *map, *measured;  // may be the same pointer
  TemporalFilter filter;
  History history;
  std::int64_t pixels;
  bool vectors;  // the maps and the history are aligned to vectors
};

constexpr int threads = 256;
constexpr int vector_pixels = 8;

template <class Value, int kCount>
struct alignas(sizeof(Value) * kCount) Vector {
  Value values[kCount];
};

/// first is a multiple of kCount.
template <int kCount>
__device__ void filter_pixels(const TemporalArguments& a, bool has_history, std::int64_t first) {
  using Pixels = Vector<std::uint16_t, kCount>;
  using Ages = Vector<std::uint8_t, kCount>;
  auto* const numbers = reinterpret_cast<Pixels*>(a.history.numbers + first);
  auto* const ages = reinterpret_cast<Ages*>(a.history.ages + first);
  const Pixels now = *reinterpret_cast<const Pixels*>(a.map + first);
  const Pixels measured = *reinterpret_cast<const Pixels*>(a.measured + first);
  Pixels last;
  Ages age{};
#pragma unroll
  for (std::uint16_t& number : last.values)
    number = unknown;
  if (has_history) {
    last = *numbers;
    age = *ages;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool is_measured = now.values[i] != unknown && measured.values[i] != unknown;
    const FilteredPixel pixel =
        filtered_over_time(now.values[i], is_measured, {last.values[i], age.values[i]}, a.filter);
    last.values[i] = pixel.number;
    age.values[i] = pixel.age;
  }
  *numbers = last;
  *ages = age;
}

__global__ void __launch_bounds__(threads)
    filter_kernel(const __grid_constant__ TemporalArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const bool has_history = !a.history.begins();
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) * vector_pixels;
  if (a.vectors && first + vector_pixels <= a.pixels) {
    filter_pixels<vector_pixels>(a, has_history, first);
    return;
  }
#pragma unroll 1
  for (std::int64_t i = first; i < first + vector_pixels && i < a.pixels; ++i)
    filter_pixels<1>(a, has_history, i);
}

}  // namespace

void run_stage(const StageResources& resources, const FilterOverTime& stage) {
  const std::uint16_t* const measured = stage.measured ? stage.measured : stage.map;
  const auto is_aligned = [](const auto* data) {
    return reinterpret_cast<std::uintptr_t>(data) % (sizeof(*data) * vector_pixels) == 0;
  };
  const bool vectors = is_aligned(stage.map) && is_aligned(measured) &&
                       is_aligned(stage.history.numbers) && is_aligned(stage.history.ages);
  const TemporalArguments a{
      stage.map, measured, stage.filter, stage.history, resources.config.pixels(), vectors};
  resources.queue.launch(filter_kernel,
                         static_cast<unsigned>(divide_up(a.pixels, threads * vector_pixels)),
                         threads, 0, a);
}

}  // namespace cudavision::sgm
