// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/outputcaps.h"

#include "tests/check/common/pipelines.h"

namespace check {

void expect_output_caps(FilterHarness& filter, const std::string& expected) {
  const Owned<GstCaps> got = current_caps(filter.sink_pad()), right = caps_from(expected);
  fail_unless(gst_caps_is_equal(got, right), "%" GST_PTR_FORMAT " instead of %" GST_PTR_FORMAT,
              got.get(), right.get());
}

bool offers(FilterHarness& filter, const char* text) {
  const Owned<GstCaps> offered(gst_pad_peer_query_caps(filter.source_pad(), nullptr));
  return gst_caps_can_intersect(offered, caps_from(text).get());
}

void expect_offers(const char* element, const Properties& properties, const char* downstream,
                   const std::vector<const char*>& possible,
                   const std::vector<const char*>& impossible) {
  FilterHarness filter(element, properties);
  filter.accept_downstream(downstream);
  for (const char* text : possible)
    fail_unless(offers(filter, text), "%s is not offered for %s", text, downstream);
  for (const char* text : impossible)
    fail_unless(!offers(filter, text), "%s is offered for %s", text, downstream);
}

void expect_output_caps(const char* element, const OutputCaps& expected) {
  FilterHarness filter(element, expected.properties);
  filter.accept_downstream(std::string("video/x-raw") + expected.sink);
  fail_unless(filter.send_caps(std::string("video/x-raw, ") + expected.in), "refused: %s",
              expected.in);
  expect_output_caps(filter, "video/x-raw, " + expected.out);
}

}  // namespace check
