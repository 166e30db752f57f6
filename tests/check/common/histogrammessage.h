// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/filterharness.h"

namespace check {

const GstStructure* structure_of(GstMessage* message);

/// Compares a message's statistics with the whole picture or, if given, its pixels in `regions`.
void expect_statistics(const GstStructure* structure, const Picture& picture,
                       const Regions* regions = nullptr);

/// Pushes one frame of 20 ms and discards the output.
void push_frame(FilterHarness& filter, const Picture& picture, GstClockTime time);

std::vector<guint64> take_timestamps(FilterHarness& filter);

}  // namespace check
