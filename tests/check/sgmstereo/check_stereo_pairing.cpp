// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the pairing of frames, first the pairing rule alone, and then in the element.
#include <optional>

#include "gst/sgmstereo/pairing/framepairing.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

using cudavision::frame_interval;
using cudavision::FrameStream;
using cudavision::max_skew_for;
using cudavision::next_step;
using cudavision::pairing_deadline;
using cudavision::PairingStep;

cudavision::WaitingFrame frame_at(std::optional<gint64> time) {
  return {time, false, 40};
}

FrameStream waiting(std::optional<gint64> time, bool ended = false) {
  return {frame_at(time), std::nullopt, ended};
}

FrameStream waiting_with_next(gint64 time, gint64 next) {
  return {frame_at(time), frame_at(next), false};
}

FrameStream waiting_gap(gint64 time) {
  return {cudavision::WaitingFrame{time, true, 40}, std::nullopt, false};
}

/// Returns the stream with frames of unknown interval.
FrameStream irregular(FrameStream stream) {
  for (auto* frame : {&stream.frame, &stream.next})
    if (*frame)
      (*frame)->interval = GST_CLOCK_TIME_NONE;
  return stream;
}

const FrameStream nothing_yet = {};
const FrameStream ended = {std::nullopt, std::nullopt, true};

void expect_step(const FrameStream& left, const FrameStream& right, PairingStep expected,
                 bool timed_out = false, GstClockTime skew = 20) {
  const PairingStep got = next_step(left, right, skew, timed_out);
  fail_unless(got == expected, "step %d instead of %d", static_cast<int>(got),
              static_cast<int>(expected));
}

void expect_dropped(const StereoHarness& stereo, guint64 left, guint64 right) {
  comes_true([&] {
    return stereo.number("dropped-left") >= left && stereo.number("dropped-right") >= right;
  });
  fail_unless_equals_uint64(stereo.number("dropped-left"), left);
  fail_unless_equals_uint64(stereo.number("dropped-right"), right);
}

}  // namespace

TEST(test_rule_by_time) {
  expect_step(waiting(100), waiting(100), PairingStep::pair);
  expect_step(waiting(100), waiting(120), PairingStep::pair);
  expect_step(waiting(120), waiting(100), PairingStep::pair);
  expect_step(waiting(100), waiting(121), PairingStep::drop_left);
  expect_step(waiting(121), waiting(100), PairingStep::drop_right);
  expect_step(waiting(100), waiting(101), PairingStep::drop_left, false, 0);
  expect_step(waiting(-10), waiting(10), PairingStep::pair);
  expect_step(waiting(-11), waiting(10), PairingStep::drop_left);
  expect_step(waiting(G_MININT64 + 1), waiting(G_MAXINT64), PairingStep::drop_left);
  expect_step(waiting(G_MAXINT64), waiting(G_MININT64 + 1), PairingStep::drop_right);
  expect_step(waiting(0, true), waiting(G_MAXINT64), PairingStep::pair, false, G_MAXINT64);
  // A timeout does not affect frames that pair at once.
  expect_step(waiting(100), waiting(110), PairingStep::pair, true);
}

TEST(test_rule_of_the_nearest) {
  constexpr GstClockTime skew = 100;
  const auto expect = [](const FrameStream& older, const FrameStream& newer, PairingStep as_left,
                         PairingStep as_right, bool timed_out = false) {
    expect_step(older, newer, as_left, timed_out, skew);
    expect_step(newer, older, as_right, timed_out, skew);
  };
  // If two frames are within half a frame duration, no other frame can be nearer.
  expect(waiting(100), waiting(120), PairingStep::pair, PairingStep::pair);
  expect(waiting(100), waiting(121), PairingStep::look_left, PairingStep::look_right);
  expect(waiting_with_next(100, 140), waiting(121), PairingStep::drop_left,
         PairingStep::drop_right);
  expect(waiting_with_next(100, 142), waiting(121), PairingStep::pair, PairingStep::pair);
  expect(waiting_with_next(100, 143), waiting(121), PairingStep::pair, PairingStep::pair);
  // The next frame but one may be nearer still.
  expect(waiting_with_next(40, 80), waiting(121), PairingStep::drop_left, PairingStep::drop_right);
  // The next frame is nearer to the other camera's next frame.
  expect(waiting_with_next(60, 130), waiting(100), PairingStep::pair, PairingStep::pair);
  expect(waiting_with_next(60, 120), waiting(100), PairingStep::drop_left, PairingStep::drop_right);
  // There is no next frame, or it is too late or has no time.
  expect(waiting(100, true), waiting(150), PairingStep::pair, PairingStep::pair);
  expect(waiting(100), waiting(150), PairingStep::pair, PairingStep::pair, true);
  expect({frame_at(100), frame_at(std::nullopt)}, waiting(150), PairingStep::pair,
         PairingStep::pair);
  // The frame interval is unknown.
  expect(irregular(waiting(100)), waiting(101), PairingStep::look_left, PairingStep::look_right);
  expect(irregular(waiting(100)), waiting(100), PairingStep::pair, PairingStep::pair);
  expect(irregular(waiting_with_next(60, 130)), irregular(waiting(100)), PairingStep::drop_left,
         PairingStep::drop_right);
}

TEST(test_rule_without_time) {
  expect_step(waiting(std::nullopt), waiting(std::nullopt), PairingStep::pair);
  expect_step(waiting(std::nullopt), waiting(100000), PairingStep::pair);
  expect_step(waiting(100000), waiting(std::nullopt), PairingStep::pair);
}

TEST(test_rule_of_gaps) {
  expect_step(waiting_gap(100), waiting(100), PairingStep::miss);
  expect_step(waiting(100), waiting_gap(110), PairingStep::miss);
  expect_step(waiting_gap(100), waiting_gap(100), PairingStep::miss);
  expect_step(waiting_gap(100), waiting(200), PairingStep::drop_left);
  expect_step(waiting(200), waiting_gap(100), PairingStep::drop_right);
}

TEST(test_rule_of_ends_and_patience) {
  expect_step(nothing_yet, nothing_yet, PairingStep::wait);
  expect_step(nothing_yet, nothing_yet, PairingStep::wait, true);
  expect_step(waiting(1), nothing_yet, PairingStep::wait);
  expect_step(nothing_yet, waiting(1), PairingStep::wait);
  expect_step(waiting(1), nothing_yet, PairingStep::drop_left, true);
  expect_step(nothing_yet, waiting(1), PairingStep::drop_right, true);
  expect_step(ended, nothing_yet, PairingStep::end);
  expect_step(nothing_yet, ended, PairingStep::end);
  expect_step(waiting(1), ended, PairingStep::end);
  expect_step(ended, waiting(1), PairingStep::end);
  expect_step(ended, ended, PairingStep::end);
  // The last frame before EOS can still be paired.
  expect_step(waiting(1, true), waiting(1), PairingStep::pair);
  expect_step(waiting(1, true), nothing_yet, PairingStep::wait);
}

TEST(test_patience) {
  fail_unless_equals_uint64(pairing_deadline(waiting(100), waiting(90), 20), 110);
  fail_unless_equals_uint64(pairing_deadline(waiting(100), nothing_yet, 20), 120);
  fail_unless_equals_uint64(pairing_deadline(nothing_yet, waiting(90), 20), 110);
  fail_unless_equals_uint64(pairing_deadline(waiting(-100), nothing_yet, 20), 20);
  fail_unless_equals_uint64(pairing_deadline(nothing_yet, nothing_yet, 20), GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64(pairing_deadline(waiting(std::nullopt), ended, 20),
                            GST_CLOCK_TIME_NONE);
  constexpr GstClockTime hour = 3600 * GST_SECOND;
  fail_unless_equals_uint64(pairing_deadline(waiting(1), ended, hour), hour + 1);
  fail_unless_equals_uint64(pairing_deadline(waiting(1), ended, hour + 1), GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64(pairing_deadline(waiting(1), ended, G_MAXINT64), GST_CLOCK_TIME_NONE);
}

// Adding base time and latency to a deadline does not overflow.
TEST(test_deadlines_do_not_overflow) {
  constexpr guint64 since_1970 = 60 * 365 * 24 * 3600 * GST_SECOND;
  for (gint64 time : {G_MAXINT64, G_MAXINT64 - 1, G_MAXINT64 / 2, G_MAXINT64 / 4, G_MAXINT64 / 5,
                      gint64{0}, gint64{-1}, G_MININT64 + 1})
    for (GstClockTime skew : {guint64{0}, guint64{20 * ms}, guint64{3600 * GST_SECOND},
                              guint64{G_MAXINT64}, guint64{G_MAXUINT64 - 1}}) {
      const GstClockTime deadline = pairing_deadline(waiting(time), nothing_yet, skew);
      fail_unless(deadline == GST_CLOCK_TIME_NONE || deadline < G_MAXINT64 - since_1970,
                  "deadline %" G_GUINT64_FORMAT, deadline);
    }
}

TEST(test_default_skew) {
  fail_unless_equals_uint64(max_skew_for(7, 40 * ms), 7);
  fail_unless_equals_uint64(max_skew_for(0, 40 * ms), 0);
  fail_unless_equals_uint64(max_skew_for(-1, 30 * ms), 15 * ms);
  fail_unless_equals_uint64(max_skew_for(-1, GST_CLOCK_TIME_NONE), 20 * ms);
  fail_unless_equals_uint64(frame_interval(30 * ms, 25, 1), 30 * ms);
  fail_unless_equals_uint64(frame_interval(GST_CLOCK_TIME_NONE, 25, 1), 40 * ms);
  fail_unless_equals_uint64(frame_interval(0, 50, 1), 20 * ms);
  fail_unless_equals_uint64(frame_interval(GST_CLOCK_TIME_NONE, 0, 1), GST_CLOCK_TIME_NONE);
}

TEST(test_unlikely_durations) {
  fail_unless_equals_uint64(frame_interval(10 * GST_SECOND, 25, 1), 10 * GST_SECOND);
  for (GstClockTime duration :
       {guint64{10 * GST_SECOND + 1}, guint64{G_MAXINT64}, guint64{G_MAXUINT64 - 33333332}}) {
    fail_unless_equals_uint64(frame_interval(duration, 25, 1), 40 * ms);
    fail_unless_equals_uint64(frame_interval(duration, 0, 1), GST_CLOCK_TIME_NONE);
  }
  fail_unless_equals_uint64(frame_interval(0, 1, G_MAXINT), G_MAXINT * GST_SECOND);
  fail_unless_equals_uint64(frame_interval(0, G_MAXINT, 1), 0);
}

TEST(test_running_times_far_apart) {
  fail_unless_equals_uint64(cudavision::time_between(-3, 4), 7);
  fail_unless_equals_uint64(cudavision::time_between(G_MAXINT64, G_MININT64), G_MAXUINT64);
}

// Running times may be at either end of their range.
TEST(test_extreme_running_times) {
  for (bool negative : {false, true}) {
    StereoHarness stereo(Properties{{"max-skew", "9223372036854775807"}});
    stereo.accept_gray();
    GstSegment segment = new_segment();
    segment.start = negative ? G_MAXUINT64 - 1 : 0;
    for (GstHarness* harness : stereo.harnesses())
      gst_harness_push_event(harness, gst_event_new_segment(&segment));
    for (GstClockTime time :
         {guint64{0}, guint64{G_MAXINT64}, guint64{1}, guint64{G_MAXUINT64 - 2}})
      for (GstHarness* harness : stereo.harnesses())
        fail_unless_equals_int(gst_harness_push(harness, small_frame({time})), GST_FLOW_OK);
    stereo.send_to_all(gst_event_new_eos);
    while (GstBuffer* buffer = wait_for_buffer_or_eos(stereo.left()))
      gst_buffer_unref(buffer);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

// Each of N pairs gives one map with the left frame's time.
TEST(test_as_many_maps_as_pairs, .times(11)) {
  StereoHarness stereo;
  const StereoFrames frames = frames_from(0, index);
  const std::vector<Map> maps = stereo.run(frames, frames);
  fail_unless_equals_int(maps.size(), index);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    fail_unless_equals_uint64(maps[i].pts(), frames[i].pts);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(maps[i]), 40 * ms);
    fail_unless_equals_int(maps[i].discont(), i == 0);
  }
  expect_dropped(stereo, 0, 0);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_skew) {
  struct Case {
    GstClockTime left, right;
    const char* max_skew;
    bool pairs;
  };
  for (const Case& c : {Case{1000, 1000, "-1", true}, Case{1000, 1020, "-1", true},
                        Case{1020, 1000, "-1", true}, Case{1000, 1010, "10000000", true},
                        Case{1000, 1011, "10000000", false}, Case{1011, 1000, "10000000", false},
                        Case{1000, 1000, "0", true}, Case{1000, 1001, "0", false}}) {
    StereoHarness stereo(Properties{{"max-skew", c.max_skew}});
    const std::vector<Map> maps =
        stereo.run(frames_from(c.left * ms, 5), frames_from(c.right * ms, 5));
    fail_unless_equals_int(maps.size(), c.pairs ? 5 : 0);
    for (std::size_t i = 0; i < maps.size(); ++i)
      fail_unless_equals_uint64(maps[i].pts(), (c.left + 40 * i) * ms);
    if (c.pairs)
      expect_dropped(stereo, 0, 0);
    else
      fail_unless(stereo.number("dropped-left") + stereo.number("dropped-right") >= 8);
  }
}

// With a large max-skew, frames do not pair with a farther partner that came first.
TEST(test_nearest_partner) {
  constexpr int pairs = 10;
  for (guint offset : {0U, 7U, 20U, 21U, 33U, 40U, 80U, 115U, 250U})
    for (bool left_first : {true, false}) {
      StereoHarness stereo(Properties{{"max-skew", "300000000"}});
      const StereoFrames early = frames_from(GST_SECOND, pairs);
      const StereoFrames late = frames_from(GST_SECOND + offset * ms, pairs);
      const std::vector<Map> maps = left_first ? stereo.run(early, late) : stereo.run(late, early);
      // The partner is the nearest frame; of two equally near frames, it is the earlier one.
      const guint skipped = offset / 40 + (offset % 40 > 20 ? 1 : 0);
      fail_unless_equals_int(maps.size(), pairs - skipped);
      for (guint i = 0; i < maps.size(); ++i)
        fail_unless_equals_uint64(maps[i].pts(), left_first ? early[skipped + i].pts : late[i].pts);
      expect_dropped(stereo, skipped, skipped);
      fail_unless_equals_int(stereo.messages().complaints(), 0);
    }
}

// A frame without a partner is dropped; it never takes another frame's partner.
TEST(test_frames_without_partners) {
  StereoFrames left = frames_from(0, 10), right = frames_from(0, 10);
  left.erase(left.begin() + 3);
  right.erase(right.begin() + 6, right.begin() + 8);
  StereoHarness stereo;
  const std::vector<Map> maps = stereo.run(left, right);
  const std::vector<GstClockTime> expected = {0,        40 * ms,  80 * ms, 160 * ms,
                                              200 * ms, 320 * ms, 360 * ms};
  fail_unless(times_of(maps) == expected, "%d maps", static_cast<int>(maps.size()));
  for (const Map& map : maps)
    fail_unless_equals_int(map.discont(),
                           map.pts() == 0 || map.pts() == 160 * ms || map.pts() == 320 * ms);
  expect_dropped(stereo, 2, 1);
}

TEST(test_without_timestamps) {
  const StereoFrames untimed(6, StereoFrame{GST_CLOCK_TIME_NONE, false, GST_CLOCK_TIME_NONE});
  StereoHarness stereo;
  const std::vector<Map> maps = stereo.run(untimed, untimed);
  fail_unless_equals_int(maps.size(), 6);
  for (const Map& map : maps)
    fail_unless(!GST_CLOCK_TIME_IS_VALID(map.pts()));
  expect_dropped(stereo, 0, 0);
}

// A camera that ends, or sends no more frames, must not block the other camera.
TEST(test_end_beside_a_silent_camera) {
  for (bool left_ends : {true, false})
    for (int pairs : {0, 1, 3}) {
      StereoHarness stereo;
      stereo.accept_gray();
      for (const StereoFrame& frame : frames_from(0, pairs))
        stereo.process(small_frame(frame), small_frame(frame));
      GstHarness* ending = left_ends ? stereo.left() : stereo.right();
      GstHarness* silent = left_ends ? stereo.right() : stereo.left();
      gst_harness_push_event(ending, gst_event_new_eos());
      stereo.expect_end();
      // None of the later frames has a partner.
      GstFlowReturn flow = GST_FLOW_OK;
      for (int i = pairs; i < pairs + 50 && flow == GST_FLOW_OK; ++i)
        flow = gst_harness_push(silent, small_frame({i * 40 * ms}));
      fail_unless_equals_int(flow, GST_FLOW_OK);
      const char* counter = left_ends ? "dropped-right" : "dropped-left";
      wait_until([&] { return stereo.number(counter) == 50; }, "all later frames are dropped");
      gst_harness_push_event(silent, gst_event_new_eos());
    }
}

// The partner of a missing frame is dropped, and a GAP event goes downstream.
TEST(test_gaps) {
  for (int who : {0, 1, 2}) {
    StereoFrames left = frames_from(0, 6), right = left;
    for (std::size_t gap : {std::size_t{0}, std::size_t{3}}) {
      left[gap].gap = who != 1;
      right[gap].gap = who != 0;
    }
    StereoHarness stereo;
    const std::vector<Map> maps = stereo.run(left, right);
    const std::vector<GstClockTime> expected = {40 * ms, 80 * ms, 160 * ms, 200 * ms};
    fail_unless(times_of(maps) == expected, "%d maps", static_cast<int>(maps.size()));
    fail_unless(maps[0].discont() && !maps[1].discont() && maps[2].discont());
    expect_dropped(stereo, who == 1 ? 2 : 0, who == 0 ? 2 : 0);
    const std::vector<Owned<GstEvent>> gaps = stereo.take_events(GST_EVENT_GAP);
    fail_unless_equals_int(gaps.size(), 2);
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      GstClockTime time = 0, duration = 0;
      gst_event_parse_gap(gaps[i], &time, &duration);
      fail_unless_equals_uint64(time, i * 120 * ms);
      fail_unless_equals_uint64(duration, 40 * ms);
    }
  }
}

// GAP events have the effect of missing frames, because GstAggregator turns them into gap buffers.
TEST(test_gap_events) {
  StereoHarness stereo;
  stereo.accept_gray();
  gst_harness_push(stereo.right(), small_frame({0}));
  gst_harness_push_event(stereo.left(), gst_event_new_gap(0, 40 * ms));
  gst_harness_push(stereo.left(), small_frame({40 * ms}));
  gst_harness_push(stereo.right(), small_frame({40 * ms}));
  fail_unless_equals_uint64(stereo.pull().pts(), 40 * ms);
  expect_dropped(stereo, 0, 1);
}

TEST(test_counts_restart) {
  StereoHarness stereo;
  stereo.run(frames_from(0, 5), frames_from(80 * ms, 3));
  expect_dropped(stereo, 2, 0);
  gst_element_set_state(stereo.element(), GST_STATE_READY);
  expect_dropped(stereo, 2, 0);
  gst_element_set_state(stereo.element(), GST_STATE_PLAYING);
  expect_dropped(stereo, 0, 0);
}

// At level LOG, the element's own debug category has one line per decision.
TEST(test_debug_log) {
  DebugLog log("cudasgmstereo");
  StereoFrames right = frames_from(0, 3);
  right.erase(right.begin() + 1);
  {
    StereoHarness stereo;
    fail_unless_equals_int(stereo.run(frames_from(0, 3), right).size(), 2);
  }
  const std::vector<std::string> lines = log.lines();
  fail_unless(lines.size() >= 3 && lines.size() <= 4, "%d lines", static_cast<int>(lines.size()));
  expect_words(lines[0], {"left +0:00:00.000000000", "right +0:00:00.000000000", "a pair"});
  expect_words(lines[1], {"left +0:00:00.040000000", "right +0:00:00.080000000", "drop the left"});
  expect_words(lines[2], {"left +0:00:00.080000000", "right +0:00:00.080000000", "a pair"});
}
