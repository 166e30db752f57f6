// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Reads samples for the kernels of this folder.

#include <cstdint>

#include "cuda/pixels/sample_math.h"

namespace cudavision::remap {

/// How samples are read and written: bytes, words at even addresses, or words byte by byte.
enum class Access { bytes, words, split_words };

template <Access kAccess>
constexpr int sample_bytes = kAccess == Access::bytes ? 1 : 2;

/// Arguments has the shift of the samples and their largest value.
template <Access kAccess, class Arguments>
__device__ int load_sample(const Arguments& a, const std::uint8_t* from) {
  if constexpr (kAccess == Access::bytes)
    return *from;
  else if constexpr (kAccess == Access::words)
    return sample_value(*reinterpret_cast<const std::uint16_t*>(from), a.shift, a.largest);
  else
    return sample_value(from[0] | static_cast<std::uint32_t>(from[1]) << 8, a.shift, a.largest);
}

}  // namespace cudavision::remap
