// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/sgm/backend.h"

/// The pixels of a picture, for both files of the definition.
namespace cudavision::test {

/// A disparity that is not known.
inline constexpr std::uint16_t unknown = 0xFFFF;

inline bool is_libsgm(const sgm::StageConfig& config) {
  return config.compatibility == sgm::Parameters::Compatibility::libsgm;
}

inline bool inside(const sgm::StageConfig& config, int x, int y) {
  return x >= 0 && x < config.width && y >= 0 && y < config.height;
}

inline std::size_t place(const sgm::StageConfig& config, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(config.width) +
         static_cast<std::size_t>(x);
}

}  // namespace cudavision::test
