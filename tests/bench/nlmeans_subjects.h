// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::bench {

/// Names a denoising by search, patch, and the strength and the frames unless they are the
/// defaults, such as "denoise 21x21 7x7" or "denoise 21x21 7x7 strength 60".
inline std::string nlmeans_name(const nlmeans::Parameters& parameters) {
  const auto square = [](int side) { return std::to_string(side) + "x" + std::to_string(side); };
  std::string name = "denoise " + square(parameters.search) + " " + square(parameters.patch);
  if (parameters.strength != nlmeans::Parameters{}.strength)
    name += " strength " + std::to_string(static_cast<int>(parameters.strength));
  if (parameters.frames > 1)
    name += " frames " + std::to_string(parameters.frames);
  return name;
}

}  // namespace cudavision::bench
