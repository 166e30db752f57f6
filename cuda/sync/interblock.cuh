// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Primitives for kernels whose blocks exchange data through device memory while they run.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/core/device.h"

namespace cudavision {

/// Relaxed atomic operations on words in device memory, at device scope. cuda::atomic_ref is slower
/// (CUDA 13.0): it addresses the generic space, add() returns a value, and load4() is four loads.
template <class Number>
struct RelaxedAtomics;

template <>
struct RelaxedAtomics<std::uint32_t> {
  using Word = std::uint32_t;
  using Value = std::uint32_t;
  static __device__ Value load(const Word* word) {
    Value value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
  }
  static __device__ void store(Word* word, Value value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
  static __device__ void add(Word* word, Value value) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
  static __device__ Value fetch_add(Word* word, Value value) {
    Value before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(word), "r"(value)
                 : "memory");
    return before;
  }
  /// Loads four adjacent words, from an address aligned to 16; each word is loaded atomically.
  static __device__ void load4(const Word* words, Value (&values)[4]) {
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
                 : "l"(words)
                 : "memory");
  }
  /// Called between two polls of a word that is not yet published.
  static __device__ void wait() {}
};

template <>
struct RelaxedAtomics<std::uint64_t> {
  using Word = std::uint64_t;
  using Value = std::uint64_t;
  static __device__ Value load(const Word* word) {
    Value value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
  }
  static __device__ void store(Word* word, Value value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
  }
  static __device__ void wait() {}
};

using DeviceAtomics = RelaxedAtomics<std::uint32_t>;

/// In builds for tests, delays a step of an exchange at random, so that tests reveal races: no
/// sanitizer detects races through device memory.
__device__ inline void delay_for_test() {
#ifdef CUDAVISION_TEST_DELAYS
  std::uint32_t random = static_cast<std::uint32_t>(clock64()) * 2654435761u ^
                         (blockIdx.x * 40503u + threadIdx.x / 32 * 977u);
  random ^= random >> 15;
  if (random % 4 != 0)
    __nanosleep(random % 3000);
#endif
}

/// Returns device memory for an exchange between blocks, cleared before the first launch.
inline Buffer zeroed_words(Device& device, std::size_t words) {
  Buffer buffer = device.allocate(words * sizeof(std::uint32_t));
  // The width of a view is an int, so a large buffer is cleared in parts.
  constexpr std::size_t row = std::size_t{1} << 30;
  for (std::size_t at = 0; at < buffer.size(); at += row) {
    const int bytes = static_cast<int>(buffer.size() - at < row ? buffer.size() - at : row);
    device.fill({buffer.as<std::uint8_t>() + at, bytes, 1, bytes}, 0);
  }
  return buffer;
}

}  // namespace cudavision
