// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the two CUDA implementations of histogram equalisation share: histequalize_cuda.cu for 8 to
// 10 bits, histequalize_wide_cuda.cu for 11 to 16. For .cu files.

#include <cuda_runtime.h>

#include "cuda/histequalize/arithmetic.h"
#include "cuda/histequalize/backend.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::histequalize {

constexpr int widest_narrow_bits = 10;

/// Uses the cursor's group and those that follow at the stride, to the picture's end, in batches
/// whose loads are all under way before the first is used.
template <class Group, int kBatch, Rows kRows, class Use>
__device__ void for_groups(const PackedImage& picture, GroupCursor<kRows> cursor,
                           const GroupStride& stride, const Use& use) {
  while (cursor.inside(picture)) {
    std::uint32_t data[kBatch][Group::words];
    GroupCursor<kRows> ahead = cursor;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (ahead.inside(picture))
        Group::template load<kRows>(picture, ahead, data[k]);
      ahead.advance(picture, stride);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (cursor.inside(picture))
        use(data[k], cursor);
      cursor.advance(picture, stride);
    }
  }
}

std::unique_ptr<Histogram::Backend> make_histogram_wide_cuda(Device& device,
                                                             const FrameLayout& layout);
std::unique_ptr<HistogramEqualize::Backend> make_histogram_equalize_wide_cuda(
    Device& device, const FrameLayout& layout);

}  // namespace cudavision::histequalize
