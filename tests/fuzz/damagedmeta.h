// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/check/common/pictures/random.h"

namespace fuzz {

/// Makes one field of a frame's meta wrong, or leaves it by chance. The frame has `planes` planes.
void damage(check::Random& random, GstVideoMeta* meta, int planes);

}  // namespace fuzz
