// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/common/filterharness.h"

namespace check {

/// Sends a picture through an element and compares the gray picture and its caps. `what` names the
/// case.
void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Picture& expected,
                         const std::string& what, const Layout& layout = packed_layout);

}  // namespace check
