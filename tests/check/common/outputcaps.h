// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/filterharness.h"

/// Functions for the caps of filters whose output differs from their input.
namespace check {

/// Fails the test unless the element's output has exactly these caps.
void expect_output_caps(FilterHarness& filter, const std::string& expected);

/// True if the element offers these caps to upstream.
bool offers(FilterHarness& filter, const char* text);

/// Fails the test unless the element offers to upstream some of each of the possible caps and none
/// of the impossible ones, where downstream accepts the given caps only.
void expect_offers(const char* element, const Properties& properties, const char* downstream,
                   const std::vector<const char*>& possible,
                   const std::vector<const char*>& impossible);

/// An element, the caps that it gets, and those of its output.
struct OutputCaps {
  Properties properties;
  const char* in;    ///< after "video/x-raw, "
  const char* sink;  ///< caps downstream, after "video/x-raw"
  std::string out;   ///< after "video/x-raw, "
};
void expect_output_caps(const char* element, const OutputCaps& expected);

}  // namespace check
