// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Applies a table in a separate launch, if histograms or tables change after the count.

#include "cuda/histequalize/wide.cuh"

namespace cudavision::histequalize {
namespace {

struct WideLookUpArguments {
  PackedImage picture;
  PackStride stride;           // from one pack of a thread to its next
  const std::uint16_t* table;  // 2^bits
  int bins;
  int blend;
};

/// kShared as in apply_wide_kernel().
template <class Pack, Rows kRows, bool kShared>
__global__ void __launch_bounds__(kThreads, 1)
    look_up_wide_kernel(const __grid_constant__ WideLookUpArguments a) {
  extern __shared__ uint4 shared_table[];
  grid_dependency_wait();
  launch_dependents();
  const PackCursor<kRows> first(a.picture, blockIdx.x * kThreads + threadIdx.x);
  stream_packs<Pack>(
      a.picture, first, a.stride,
      [&] {
        if (kShared) {
          const uint4* from = reinterpret_cast<const uint4*>(a.table);
#pragma unroll 8
          for (int i = threadIdx.x; i < a.bins / 8; i += kThreads)
            shared_table[i] = from[i];
          __syncthreads();
        }
      },
      [&](std::uint32_t* data, const PackCursor<kRows>& at) {
        const std::uint16_t* table =
            kShared ? reinterpret_cast<const std::uint16_t*>(shared_table) : a.table;
        const int existing = pixels_in<Pack, kRows>(a.picture, at);
#pragma unroll
        for (int i = 0; i < Pack::pixels; ++i) {
          if (i >= existing)
            break;
          const auto value = static_cast<int>(Pack::value(data, i, a.picture));
          Pack::set(data, i, static_cast<std::uint32_t>(blended(value, table[value], a.blend)),
                    a.picture);
        }
        Pack::template store<kRows>(a.picture, at, data);
      });
}

}  // namespace
}  // namespace cudavision::histequalize
