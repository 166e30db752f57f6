// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "tests/check/common/pictures/random.h"

/// Times of broken clocks, files and arithmetic: near 0, 2^62, 2^63 or 2^64, random, or none.
namespace fuzz {

GstClockTime hostile_time(check::Random& random);
/// Changes PTS, DTS and duration, each in half of the calls, because wrong values may hide others.
void set_hostile_times(check::Random& random, GstBuffer* buffer);
GstSegment hostile_segment(check::Random& random);
const char* hostile_framerate(check::Random& random);

}  // namespace fuzz
