// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "tests/check/common/pictures/random.h"

/// Times of broken clocks, files and arithmetic: near 0, 2^63 and 2^64, or none.
namespace fuzz {

GstClockTime hostile_time(check::Random& random);
/// Leaves each timestamp valid in half of the calls, because wrong timestamps hide each other.
void set_hostile_times(check::Random& random, GstBuffer* buffer);
GstSegment hostile_segment(check::Random& random);
const char* hostile_framerate(check::Random& random);

}  // namespace fuzz
