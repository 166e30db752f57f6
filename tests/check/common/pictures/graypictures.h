// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/common/filterharness.h"

namespace check {

/// Sends a picture through an element whose output is a gray picture, and compares the caps and the
/// picture that come out. what names the case in a failure.
void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Picture& expected,
                         const std::string& what, const Layout& layout = packed_layout);

}  // namespace check
