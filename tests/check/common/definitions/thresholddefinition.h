// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"

/// The expected output of cudathreshold, by the definition of tests/kernels.
namespace check {

struct Threshold {
  int radius = 7;
  bool sauvola = false;
  double ratio = 0.15;
  double k = 0.2;
  double range = 0;
  bool invert = false;
  int speckle_size = 0;
  bool limited = false;  ///< luma range is 16…235 (times 2^(bits − 8)), from the caps

  Properties properties() const;
  std::string description() const { return text_of(properties()); }
};

Picture thresholded(const Picture& picture, const Threshold& how, const FormatSpec& format);

}  // namespace check
