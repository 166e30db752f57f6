// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: P1 and P2 in kernels. The noise that raises them may be known only on the device.

#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

struct PathPenalty {
  int fixed = 0;                      ///< P1 before `state` raises it
  int p2 = 0;                         ///< P2 for steps without a luminance difference
  const NoiseState* state = nullptr;  ///< if set, its noise raises P1

  PathPenalty() = default;
  /// penalties must come from penalties_under(noise.fixed, …).
  PathPenalty(const Penalties& penalties, const NoiseSource& noise)
      : fixed(penalties.p1), p2(penalties.p2[0]), state(noise.state) {}

  __device__ int p1() const { return state ? noisy_p1(fixed, p2, state->used) : fixed; }
  __device__ std::uint32_t in_halves() const { return static_cast<std::uint32_t>(p1()) * 0x10001u; }
  __device__ std::uint8_t raised(std::uint8_t own) const {
    return static_cast<std::uint8_t>(max(static_cast<int>(own), p1() + 1));
  }
};

}  // namespace cudavision::sgm
