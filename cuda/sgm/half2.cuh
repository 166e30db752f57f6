// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: pairs of 16-bit floats.

#include <cuda_fp16.h>

#include <cstdint>

namespace cudavision::sgm {

constexpr std::uint16_t infinity = 0x7c00;

/// The 16-bit float 1024 + level has the bits luminance_0 + level. level is less than 1024.
constexpr std::uint32_t luminance_0 = 0x6400;

__device__ inline std::uint32_t bits_of(__half2 floats) {
  return *reinterpret_cast<std::uint32_t*>(&floats);
}
__device__ inline __half2 floats_of(std::uint32_t bits) {
  return *reinterpret_cast<__half2*>(&bits);
}
__device__ inline __half2 twice(std::uint32_t bits) {
  return floats_of(bits << 16 | bits);
}

}  // namespace cudavision::sgm
