// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the two CUDA implementations of histogram equalisation share: histequalize_cuda.cu for 8 to
// 10 bits, histequalize_wide_cuda.cu for 11 to 16. For .cu files.

#include <cuda_runtime.h>

#include "histequalize_implementation.h"
#include "picturegroups.h"

namespace cudavision {

constexpr int widest_narrow_bits = 10;

/// Relaxed operations of all the device's threads on words in its memory.
struct DeviceAtomics {
  using Word = std::uint32_t;
  static __device__ Word load(const Word* word) {
    Word value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
  }
  static __device__ void store(Word* word, Word value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
  static __device__ void add(Word* word, Word value) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
};

/// Four neighbouring words, each loaded as DeviceAtomics::load does.
__device__ inline uint4 load_relaxed(const std::uint32_t* words) {
  uint4 value;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(words)
               : "memory");
  return value;
}

/// Uses the cursor's group and those that follow at the stride, to the picture's end, in batches
/// whose loads are all under way before the first is used.
template <class Group, int kBatch, Rows kRows, class Use>
__device__ void for_groups(const PictureGroups& picture, GroupCursor<kRows> cursor,
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

/// Device memory for a kernel's counters, cleared before the first launch.
Buffer zeroed_words(Device& device, int words);

std::unique_ptr<Histogram::Implementation> make_histogram_wide_cuda(Device& device,
                                                                    const FrameLayout& layout);
std::unique_ptr<HistogramEqualize::Implementation> make_histogram_equalize_wide_cuda(
    Device& device, const FrameLayout& layout);

}  // namespace cudavision
