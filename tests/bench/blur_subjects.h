// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/gaussblur/gaussblur.h"

namespace cudavision::bench {

/// Parameters with a kernel of the given size along both axes and the default sigma for it.
inline gaussblur::Parameters blur_of_size(int size) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = parameters.sigma_y = 0;
  parameters.size_x = parameters.size_y = size;
  return parameters;
}

inline gaussblur::Parameters blur_of_sigma(double sigma) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = parameters.sigma_y = sigma;
  return parameters;
}

inline gaussblur::Parameters sharpening(gaussblur::Parameters parameters) {
  parameters.sharpen = true;
  return parameters;
}

inline gaussblur::Parameters fine(gaussblur::Parameters parameters) {
  parameters.fine = true;
  return parameters;
}

/// Names a blur, such as "blur 15x15", "sharpen sigma 1.2" or "blur 31x31 fine".
inline std::string blur_name(const gaussblur::Parameters& parameters) {
  std::string sigma = std::to_string(parameters.sigma_x);
  while (sigma.back() == '0')
    sigma.pop_back();
  if (sigma.back() == '.')
    sigma.pop_back();
  return std::string(parameters.sharpen ? "sharpen " : "blur ") +
         (parameters.size_x > 0
              ? std::to_string(parameters.size_x) + "x" + std::to_string(parameters.size_y)
              : "sigma " + sigma) +
         (parameters.fine ? " fine" : "");
}

}  // namespace cudavision::bench
