// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/streams/padsharness.h"

namespace check {

const Properties stereo_cameras = {
    {"focal-length", "700"}, {"baseline", "120"}, {"depth-unit", "0.5"}};

std::vector<Owned<GstEvent>> take_events(GstHarness* harness) {
  std::vector<Owned<GstEvent>> events;
  while (Owned<GstEvent> event{gst_harness_try_pull_event(harness)})
    events.push_back(std::move(event));
  return events;
}

std::vector<Owned<GstEvent>> take_events(GstHarness* harness, GstEventType type) {
  std::vector<Owned<GstEvent>> events;
  for (Owned<GstEvent>& event : take_events(harness))
    if (GST_EVENT_TYPE(event) == type)
      events.push_back(std::move(event));
  return events;
}

std::vector<Owned<GstEvent>> events_until_end(GstHarness* harness) {
  std::vector<Owned<GstEvent>> events;
  do {
    events.emplace_back(wait_for_event(harness));
    fail_unless(events.back() != nullptr, "no EOS");
  } while (GST_EVENT_TYPE(events.back()) != GST_EVENT_EOS);
  return events;
}

Map pull_from(GstHarness* harness) {
  Map map(wait_for_buffer(harness));
  fail_unless(map != nullptr, "no buffer came out");
  return map;
}

void PadsHarness::open_all() {
  for (const char* pad : {"depth", "confidence", "rectified", "points"})
    open(pad);
}

std::vector<GstHarness*> PadsHarness::outlets() const {
  std::vector<GstHarness*> all;
  if (gst_pad_is_linked(left()->sinkpad))
    all.push_back(left());
  for (const auto& [name, harness] : opened())
    all.push_back(harness.get());
  return all;
}

void PadsHarness::unlink_src() const {
  const Owned<GstPad> src = pad_of(element(), "src");
  fail_unless(gst_pad_unlink(src, left()->sinkpad));
}

std::vector<Map> PadsHarness::process_all(GstClockTime time) {
  push_pair(time);
  std::vector<Map> maps;
  for (GstHarness* harness : outlets()) {
    maps.push_back(pull_from(harness));
    fail_unless_equals_uint64(maps.back().pts(), time);
  }
  return maps;
}

GstFlowReturn PadsHarness::flow_in_the_end(GstClockTime time) {
  for (guint i = 0; i < 1000; ++i) {
    const GstFlowReturn flow = gst_harness_push(left(), small_frame({time + i * 40 * ms}));
    if (flow != GST_FLOW_OK)
      return flow;
    gst_harness_push(right(), small_frame({time + i * 40 * ms}));
  }
  return GST_FLOW_OK;
}

}  // namespace check
