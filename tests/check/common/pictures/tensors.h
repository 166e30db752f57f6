// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/common/definitions/integraldefinition.h"
#include "tests/check/common/filterharness.h"

namespace check {

/// Expects exactly the tensor's bytes and caps, in the memory that the caps name.
void expect_tensor(GstBuffer* buffer, const GstCaps* caps, const Tensor& expected,
                   const std::string& what);
void expect_tensor(FilterHarness& filter, const Picture& picture, const Integral& how,
                   const Layout& layout = packed_layout);
void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Integral& how,
                         const FormatSpec& format, const Layout& layout = packed_layout);

}  // namespace check
