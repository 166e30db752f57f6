// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/range.h"

#include <cstdio>

namespace cudavision {

std::string text_of(int number) {
  return std::to_string(number);
}

std::string text_of(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", number);
  return digits;
}

}  // namespace cudavision
