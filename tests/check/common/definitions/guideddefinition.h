// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"

/// The expected output of cudaguidedfilter, by the definition of tests/kernels.
namespace check {

struct Guided {
  int radius = 7;
  double epsilon = 100;

  Properties properties() const;
  std::string description() const { return text_of(properties()); }
};

Picture guided(const Picture& picture, const Guided& how);

}  // namespace check
