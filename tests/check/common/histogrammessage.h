// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/filterharness.h"

/// Reading the element messages of cudahistequalize.
namespace check {

/// The message's structure, which must have the element's name.
const GstStructure* structure_of(GstMessage* message);

/// A field that holds a time; GST_CLOCK_TIME_NONE is one of its values.
guint64 time_in(const GstStructure* structure, const char* field);

/// Fails the test where bins, moments, extremes, entropy or percentiles are not those of picture.
void expect_statistics(const GstStructure* structure, const Picture& picture);

/// One frame of 20 ms, whose output is thrown away.
void push_frame(FilterHarness& filter, const Picture& picture, GstClockTime time);

/// The timestamps of the messages posted so far, which are then forgotten.
std::vector<guint64> take_timestamps(FilterHarness& filter);

}  // namespace check
