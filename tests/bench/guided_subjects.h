// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/guided/guided.h"

namespace cudavision::bench {

/// Names a guided filter by its radius, such as "guided radius 8".
inline std::string guided_name(const guided::Parameters& parameters) {
  return "guided radius " + std::to_string(parameters.radius);
}

}  // namespace cudavision::bench
