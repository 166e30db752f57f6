// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/random.h"

#include <cmath>

namespace check {

guint64 Random::any_number() {
  const guint64 high = engine_(), low = engine_();
  return (high << 32 | low) >> below(64);
}

double Random::log_uniform(double minimum, double maximum) {
  return minimum * std::exp(std::log(maximum / minimum) * below(1000) / 1000.0);
}

Layout Random::any_layout() {
  Layout layout;
  layout.meta = below(4) != 0;
  layout.first = below(70);
  layout.row_padding = below(70);
  layout.plane_gap = below(70);
  layout.reverse = below(4) == 0;
  layout.split = !layout.reverse && below(3) == 0;
  layout.shifted = below(4) == 0;
  return layout;
}

}  // namespace check
