// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/check/common/pictures/picture.h"

namespace check {

/// Makes a pattern with noise of a few levels.
Picture noisy_picture(const FormatSpec& format, int width, int height, unsigned seed);

}  // namespace check
