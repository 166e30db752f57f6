// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/filterharness.h"

namespace check {

void expect_output_caps(FilterHarness& filter, const std::string& expected);

bool offers(FilterHarness& filter, const char* text);

void expect_offers(const char* element, const Properties& properties, const char* downstream,
                   const std::vector<const char*>& possible,
                   const std::vector<const char*>& impossible);

struct OutputCaps {
  Properties properties;
  const char* in;    ///< input caps without "video/x-raw, "
  const char* sink;  ///< downstream's caps without "video/x-raw"
  std::string out;   ///< output caps without "video/x-raw, "
};
void expect_output_caps(const char* element, const OutputCaps& expected);

}  // namespace check
