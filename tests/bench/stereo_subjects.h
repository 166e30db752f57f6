// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/sgm/sgmstereo.h"

namespace cudavision::bench {

/// Returns the parameters of a matching up to the left-right check, without clean-up.
inline sgm::Parameters stereo_of(int disparities, int paths) {
  sgm::Parameters parameters;
  parameters.speckle_size = 0;
  parameters.refine = false;
  parameters.slanted_surfaces = false;
  parameters.noise = 0;
  parameters.disparities = disparities;
  parameters.paths = paths;
  return parameters;
}

/// Returns the parameters with compatibility=libsgm.
inline sgm::Parameters as_libsgm(sgm::Parameters parameters) {
  parameters.compatibility = sgm::Parameters::Compatibility::libsgm;
  return parameters;
}

/// Returns the parameters with speckle removal, hole filling, refinement and slanted surfaces.
inline sgm::Parameters cleaned(sgm::Parameters parameters) {
  parameters.speckle_size = 100;
  parameters.fill_holes = true;
  parameters.refine = true;
  parameters.slanted_surfaces = true;
  parameters.noise = sgm::Parameters::automatic_noise;
  return parameters;
}

/// Return the parameters of the element's presets. Those of preset=fast are stereo_of().
inline sgm::Parameters balanced(sgm::Parameters parameters) {
  parameters.speckle_size = 100;
  parameters.refine = true;
  parameters.slanted_surfaces = true;
  parameters.noise = sgm::Parameters::automatic_noise;
  return parameters;
}
inline sgm::Parameters accurate(sgm::Parameters parameters) {
  parameters = balanced(parameters);
  parameters.confidence_threshold = 60;
  return parameters;
}
inline sgm::Parameters dense(sgm::Parameters parameters) {
  parameters = cleaned(parameters);
  parameters.confidence_threshold = 20;
  return parameters;
}

/// Returns the parameters without slanted surfaces.
inline sgm::Parameters fronto_parallel(sgm::Parameters parameters) {
  parameters.slanted_surfaces = false;
  return parameters;
}

/// Returns the parameters with noise of this standard deviation.
inline sgm::Parameters noisy(sgm::Parameters parameters, double noise) {
  parameters.noise = noise;
  return parameters;
}

/// Returns the parameters with the filter over time.
inline sgm::Parameters over_time(sgm::Parameters parameters) {
  parameters.temporal_alpha = 0.4;
  parameters.temporal_persistence = 4;
  return parameters;
}

/// Names a matching, such as "stereo 128 disparities 8 paths", "… libsgm", "… cleaned", "…
/// refined", "… refined fronto-parallel" or "… refined confidence 60 over time".
inline std::string stereo_name(const sgm::Parameters& parameters) {
  constexpr const char* censuses[] = {" symmetric 9x7", " neighbours 9x7", " neighbours 5x5", "",
                                      ""};
  return "stereo " + std::to_string(parameters.disparities) + " disparities " +
         std::to_string(parameters.paths) + " paths" +
         censuses[static_cast<int>(parameters.census)] +
         (parameters.compatibility == sgm::Parameters::Compatibility::libsgm ? " libsgm" : "") +
         (parameters.speckle_size == 0 ? ""
          : parameters.fill_holes      ? " cleaned"
                                       : " refined") +
         (parameters.speckle_size > 0 && !parameters.slanted_surfaces ? " fronto-parallel" : "") +
         (parameters.confidence_threshold > 0
              ? " confidence " + std::to_string(parameters.confidence_threshold)
              : "") +
         (parameters.noise > 0 ? " noise " + std::to_string(static_cast<int>(parameters.noise))
                               : "") +
         (parameters.speckle_size > 0 && parameters.noise == 0 ? " without noise" : "") +
         (parameters.temporal_alpha < 1 ? " over time" : "");
}

}  // namespace cudavision::bench
