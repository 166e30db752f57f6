// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the kernel that stores the values of channels side by side, for frames in which
// they do not lie so.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/guided/arguments.cuh"
#include "cuda/pixels/sample_math.h"

namespace cudavision::guided {

constexpr int gathering_threads = 256;

/// Each block stores one row.
template <class Sample>
__global__ void __launch_bounds__(gathering_threads)
    gather_values(const __grid_constant__ GuidedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const FilteredPicture& picture = picture_of_block(a, &FilteredPicture::first_gathering_block);
  const auto y = static_cast<std::int64_t>(blockIdx.x - picture.first_gathering_block);
  const std::uint8_t* const from = picture.in + y * picture.in_pitch;
  auto* const to = reinterpret_cast<Sample*>(picture.gathered + y * picture.values_pitch);
  for (int x = static_cast<int>(threadIdx.x); x < picture.width; x += gathering_threads) {
    const std::uint8_t* const bytes = from + static_cast<std::int64_t>(x) * picture.step;
    std::uint32_t value = bytes[0];
    if constexpr (sizeof(Sample) == 2)
      value = sample_value(value | static_cast<std::uint32_t>(bytes[1]) << 8, a.shift,
                           (1u << a.scale.bits) - 1);
    to[x] = static_cast<Sample>(value);
  }
}

}  // namespace cudavision::guided
