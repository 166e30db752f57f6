// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What tests of the stereo element's events and times do step by step, with frames of 32×16.

#include "tests/check/common/stereoharness.h"

namespace check {

constexpr GstClockTime ms = GST_MSECOND;

inline void start(StereoHarness& stereo) {
  stereo.accept_gray(32, 16);
}

inline Output process_at(StereoHarness& stereo, GstClockTime time) {
  return stereo.process(small_frame({time}), small_frame({time}));
}

inline void push_pair(StereoHarness& stereo, GstClockTime time) {
  fail_unless_equals_int(gst_harness_push(stereo.left(), small_frame({time})), GST_FLOW_OK);
  fail_unless_equals_int(gst_harness_push(stereo.right(), small_frame({time})), GST_FLOW_OK);
}

inline void send_segment(GstHarness* harness) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness, gst_event_new_segment(&segment));
}

template <class Condition>
inline void wait_until(Condition condition, const char* what) {
  for (int i = 0; i < 2000; ++i) {
    if (condition())
      return;
    g_usleep(2000);
  }
  fail("never: %s", what);
}

inline GstEvent* with_seqnum(GstEvent* event, guint32 seqnum) {
  gst_event_set_seqnum(event, seqnum);
  return event;
}

}  // namespace check
