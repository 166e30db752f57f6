// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/sgm/sgmstereo.h"

namespace cudavision::bench {

inline sgm::Parameters stereo_of(int disparities, int paths) {
  sgm::Parameters parameters;
  parameters.disparities = disparities;
  parameters.paths = paths;
  return parameters;
}

/// Returns the parameters with compatibility=libsgm.
inline sgm::Parameters as_libsgm(sgm::Parameters parameters) {
  parameters.compatibility = sgm::Parameters::Compatibility::libsgm;
  return parameters;
}

/// Returns the parameters with speckle removal and hole filling.
inline sgm::Parameters cleaned(sgm::Parameters parameters) {
  parameters.speckle_size = 100;
  parameters.fill_holes = true;
  return parameters;
}

/// Names a matching, such as "stereo 128 disparities 8 paths", "… libsgm" or "… cleaned".
inline std::string stereo_name(const sgm::Parameters& parameters) {
  constexpr const char* censuses[] = {"", " neighbours 9x7", " neighbours 5x5"};
  return "stereo " + std::to_string(parameters.disparities) + " disparities " +
         std::to_string(parameters.paths) + " paths" +
         censuses[static_cast<int>(parameters.census)] +
         (parameters.compatibility == sgm::Parameters::Compatibility::libsgm ? " libsgm" : "") +
         (parameters.speckle_size > 0 ? " cleaned" : "");
}

}  // namespace cudavision::bench
