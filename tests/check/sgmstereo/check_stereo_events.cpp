// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests events, queries and the metadata of pairs on all source pads of cudasgmstereo.
#include <gst/video/gstvideometa.h>

#include <set>

#include "tests/check/common/streams/padsharness.h"

using namespace check;

namespace {

struct AllPads : PadsHarness {
  explicit AllPads(bool src_linked = true) {
    open_all();
    if (!src_linked)
      unlink_src();
    accept_gray();
  }
};

void expect_segment(GstEvent* event, const GstSegment& segment) {
  GstSegment passed;
  gst_event_copy_segment(event, &passed);
  fail_unless(gst_segment_is_equal(&segment, &passed), "the segment changed");
}

}  // namespace

// All pads get the mandatory events once, in order, with the same segment and different stream ids.
TEST(test_order_of_events_on_all_pads) {
  for (bool src_linked : {true, false}) {
    AllPads stereo(src_linked);
    GstSegment segment = new_segment();
    segment.start = segment.time = segment.position = 2 * GST_SECOND;
    segment.base = 7 * GST_SECOND;
    const guint32 seqnum = stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
    stereo.process_all(2 * GST_SECOND);
    stereo.process_all(2 * GST_SECOND + 40 * ms);
    std::set<std::string> ids;
    for (GstHarness* harness : stereo.outlets()) {
      const std::vector<Owned<GstEvent>> events = take_events(harness);
      fail_unless_equals_int(events.size(), 3);
      fail_unless_equals_int(GST_EVENT_TYPE(events[0]), GST_EVENT_STREAM_START);
      fail_unless_equals_int(GST_EVENT_TYPE(events[1]), GST_EVENT_CAPS);
      fail_unless_equals_int(GST_EVENT_TYPE(events[2]), GST_EVENT_SEGMENT);
      const gchar* id = nullptr;
      gst_event_parse_stream_start(events[0], &id);
      fail_unless(ids.insert(id).second, "two pads have the same stream id");
      expect_segment(events[2], segment);
      fail_unless_equals_int(gst_event_get_seqnum(events[2]), seqnum);
    }
  }
}

// All source pads follow the segment of sink_left. The segment of sink_right only affects pairing.
TEST(test_segment_of_the_left) {
  AllPads stereo;
  for (guint64 i = 1; i <= 3; ++i) {
    GstSegment segment = new_segment();
    segment.start = segment.position = i * GST_SECOND;
    segment.base = i * 10 * GST_SECOND;
    gst_harness_push_event(stereo.left(), gst_event_new_segment(&segment));
    GstSegment other = segment;
    other.start = other.position = 0;  // same running times, other timestamps
    other.time = 5;
    gst_harness_push_event(stereo.right(), gst_event_new_segment(&other));
    gst_harness_push(stereo.left(), small_frame({segment.start + 40 * ms}));
    gst_harness_push(stereo.right(), small_frame({40 * ms}));
    for (GstHarness* harness : stereo.outlets()) {
      fail_unless_equals_uint64(pull_from(harness).pts(), segment.start + 40 * ms);
      const std::vector<Owned<GstEvent>> events = take_events(harness, GST_EVENT_SEGMENT);
      fail_unless_equals_int(events.size(), 1);
      expect_segment(events[0], segment);
    }
  }
}

TEST(test_pairs_by_running_time) {
  StereoHarness stereo;
  stereo.accept_gray();
  GstSegment segment = new_segment();
  segment.start = segment.time = 100 * GST_SECOND;
  gst_harness_push_event(stereo.right(), gst_event_new_segment(&segment));
  for (int i = 0; i < 4; ++i) {
    const auto time = i * 40 * ms;
    fail_unless_equals_uint64(
        stereo.process(small_frame({time}), small_frame({100 * GST_SECOND + time})).pts(), time);
  }
}

TEST(test_other_segment_formats) {
  StereoHarness stereo;
  stereo.accept_gray();
  const GstSegment segment = new_segment(GST_FORMAT_BYTES);
  stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
  stereo.process_at(0);
  // Frames pair in their order of arrival, regardless of their timestamps.
  stereo.process(small_frame({40 * ms}), small_frame({800 * ms}));
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_description) {
  AllPads stereo;
  GstBuffer* left = small_frame({GST_SECOND, false, 17 * ms});
  GstBuffer* right = small_frame({GST_SECOND + 2 * ms});
  GST_BUFFER_FLAG_SET(left, GST_BUFFER_FLAG_MARKER);
  GST_BUFFER_FLAG_SET(left, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
  GST_BUFFER_FLAG_SET(right, GST_BUFFER_FLAG_CORRUPTED);
  GST_BUFFER_OFFSET(left) = 77;
  gst_buffer_add_video_region_of_interest_meta(left, "face", 1, 2, 3, 4);
  gst_buffer_add_video_region_of_interest_meta(right, "hand", 1, 2, 3, 4);
  const Owned<GstCaps> reference(gst_caps_new_empty_simple("timestamp/x-test"));
  gst_buffer_add_reference_timestamp_meta(left, reference, 5, 6);
  gst_harness_push(stereo.left(), left);
  gst_harness_push(stereo.right(), right);
  for (GstHarness* harness : stereo.outlets()) {
    const Map map = pull_from(harness);
    fail_unless_equals_uint64(map.pts(), GST_SECOND);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(map), 17 * ms);
    fail_unless_equals_uint64(GST_BUFFER_OFFSET(map), 77);
    fail_unless(map.discont());
    fail_unless(GST_BUFFER_FLAG_IS_SET(map.get(), GST_BUFFER_FLAG_MARKER));
    fail_unless(!GST_BUFFER_FLAG_IS_SET(map.get(), GST_BUFFER_FLAG_CORRUPTED));
    fail_unless(!GST_BUFFER_FLAG_IS_SET(map.get(), GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW));
    fail_unless(gst_buffer_get_reference_timestamp_meta(map, nullptr) != nullptr);
    fail_unless_equals_int(
        gst_buffer_get_n_meta(map.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
  }
  for (const Map& map : stereo.process_all(2 * GST_SECOND))
    fail_unless(!map.discont());
}

TEST(test_flush_on_all_pads) {
  for (bool src_linked : {true, false}) {
    AllPads stereo(src_linked);
    for (int i = 0; i < 10; ++i) {
      stereo.process_all(0);
      for (const Map& map : stereo.process_all(40 * ms))
        fail_unless(!map.discont());
      for (GstHarness* harness : stereo.outlets())
        take_events(harness);
      const guint32 seqnum = stereo.send_to_all(gst_event_new_flush_start);
      for (GstHarness* harness : stereo.harnesses())
        fail_unless_equals_int(gst_harness_push(harness, small_frame({0})), GST_FLOW_FLUSHING);
      stereo.send_to_all([] { return gst_event_new_flush_stop(TRUE); }, seqnum);
      const GstSegment segment = new_segment();
      stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
      for (const Map& map : stereo.process_all(0))
        fail_unless(map.discont(), "no DISCONT after a flush");
      for (GstHarness* harness : stereo.outlets()) {
        const std::vector<Owned<GstEvent>> events = take_events(harness);
        fail_unless_equals_int(events.size(), 3);
        fail_unless_equals_int(GST_EVENT_TYPE(events[0]), GST_EVENT_FLUSH_START);
        fail_unless_equals_int(GST_EVENT_TYPE(events[1]), GST_EVENT_FLUSH_STOP);
        fail_unless_equals_int(GST_EVENT_TYPE(events[2]), GST_EVENT_SEGMENT);
        for (int n : {0, 1})
          fail_unless_equals_int(gst_event_get_seqnum(events[n]), seqnum);
      }
    }
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

TEST(test_flush_of_a_blocked_branch) {
  AllPads stereo;
  stereo.process_all(0);
  const Owned<GstPad> depth = pad_of(stereo.element(), "depth");
  const gulong probe = gst_pad_add_probe(
      depth, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
      +[](GstPad*, GstPadProbeInfo* info, gpointer) {
        return (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) != 0
                   ? GST_PAD_PROBE_OK
                   : GST_PAD_PROBE_PASS;
      },
      nullptr, nullptr);
  stereo.push_pair(40 * ms);
  wait_until([&] { return gst_pad_is_blocking(depth); }, "the pad to block");
  stereo.pull();
  stereo.flush();
  gst_pad_remove_probe(depth, probe);
  stereo.process_all(80 * ms);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// A flush discards waiting frames without counting them as dropped.
TEST(test_flush_of_waiting_frames) {
  PlayingStereo stereo;
  gst_harness_push(stereo.left(), small_frame({40 * ms}));
  stereo.flush();
  fail_unless_equals_uint64(stereo.process_at(80 * ms).pts(), 80 * ms);
  fail_unless_equals_uint64(stereo.number("dropped-left"), 0);
}

TEST(test_frames_after_the_end_and_a_flush) {
  StereoHarness stereo;
  stereo.run(frames_from(0, 2), frames_from(0, 2));
  for (GstHarness* harness : stereo.harnesses())
    fail_unless_equals_int(gst_harness_push(harness, small_frame({80 * ms})), GST_FLOW_EOS);
  stereo.flush();
  stereo.process_at(0);
}

// The element must not negotiate after EOS, because the negotiated caps would be lost.
TEST(test_caps_after_an_early_end) {
  StereoHarness stereo;
  stereo.accept_gray();
  gst_harness_push_event(stereo.left(), gst_event_new_eos());
  stereo.expect_end();
  gst_harness_push(stereo.right(), small_frame({0}));
  wait_until([&] { return stereo.number("dropped-right") == 1; }, "the right frame to be dropped");
  stereo.flush();
  stereo.process_at(0);
  fail_unless(gst_pad_has_current_caps(stereo.left()->sinkpad), "the map has no caps");
}

// A seek from any pad reaches both cameras once per seqnum.
TEST(test_seek_from_any_pad) {
  AllPads stereo;
  stereo.process_all(0);
  for (GstHarness* from : stereo.outlets()) {
    GstEvent* seek = gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET,
                                        GST_SECOND, GST_SEEK_TYPE_NONE, 0);
    const guint32 seqnum = gst_event_get_seqnum(seek);
    // A pipeline sends its seek to every sink.
    gst_harness_push_upstream_event(from, gst_event_ref(seek));
    for (GstHarness* other : stereo.outlets())
      gst_harness_push_upstream_event(other, gst_event_ref(seek));
    gst_event_unref(seek);
    for (GstHarness* harness : stereo.harnesses()) {
      int seeks = 0;
      while (Owned<GstEvent> event{gst_harness_try_pull_upstream_event(harness)})
        if (GST_EVENT_TYPE(event) == GST_EVENT_SEEK) {
          ++seeks;
          fail_unless_equals_int(gst_event_get_seqnum(event), seqnum);
        }
      fail_unless_equals_int(seeks, 1);
    }
  }
}

TEST(test_end_on_all_pads) {
  for (bool src_linked : {true, false}) {
    for (int frames : {2, 0}) {
      AllPads stereo(src_linked);
      for (int i = 0; i < frames; ++i)
        stereo.process_all(i * 40 * ms);
      const guint32 seqnum = stereo.send_to_all(gst_event_new_eos);
      for (GstHarness* harness : stereo.outlets()) {
        const std::vector<Owned<GstEvent>> events = events_until_end(harness);
        fail_unless(gst_harness_try_pull(harness) == nullptr);
        fail_unless_equals_int(GST_EVENT_TYPE(events.front()), GST_EVENT_STREAM_START);
        fail_unless_equals_int(gst_event_get_seqnum(events.back()), seqnum);
      }
      fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
    }
  }
}

TEST(test_end_by_the_application) {
  AllPads stereo;
  stereo.process_all(0);
  gst_element_send_event(stereo.element(), gst_event_new_eos());
  for (GstHarness* harness : stereo.outlets())
    events_until_end(harness);
}

// When another camera replaces one that has ended, a new stream begins on all pads.
TEST(test_new_stream_on_all_pads) {
  AllPads stereo;
  stereo.process_all(0);
  gst_harness_push_event(stereo.left(), gst_event_new_eos());
  for (GstHarness* harness : stereo.outlets())
    events_until_end(harness);
  gst_harness_push_event(stereo.left(), gst_event_new_stream_start("another"));
  fail_unless(stereo.send_caps(stereo.left(), caps_of(gray(), 32, 16)));
  for (const Map& map : stereo.process_all(0))
    fail_unless(map.discont());
  for (GstHarness* harness : stereo.outlets()) {
    const std::vector<Owned<GstEvent>> events = take_events(harness);
    fail_unless(events.size() >= 3);
    fail_unless_equals_int(GST_EVENT_TYPE(events[0]), GST_EVENT_STREAM_START);
    fail_unless_equals_int(GST_EVENT_TYPE(events[1]), GST_EVENT_CAPS);
    fail_unless_equals_int(GST_EVENT_TYPE(events.back()), GST_EVENT_SEGMENT);
  }
}

TEST(test_gap_on_all_pads) {
  AllPads stereo;
  stereo.process_all(0);
  gst_harness_push(stereo.left(), small_frame({40 * ms, true}));
  gst_harness_push(stereo.right(), small_frame({40 * ms}));
  stereo.process_all(80 * ms);
  for (GstHarness* harness : stereo.outlets()) {
    const std::vector<Owned<GstEvent>> gaps = take_events(harness, GST_EVENT_GAP);
    fail_unless_equals_int(gaps.size(), 1);
    GstClockTime time = 0, duration = 0;
    gst_event_parse_gap(gaps[0], &time, &duration);
    fail_unless_equals_uint64(time, 40 * ms);
    fail_unless_equals_uint64(duration, 40 * ms);
  }
}

// Sticky events on src reach all pads; custom events pass each pad once per camera.
TEST(test_tags_and_custom_events_on_all_pads) {
  AllPads stereo;
  stereo.process_all(0);
  const Owned<GstPad> src = pad_of(stereo.element(), "src");
  gst_pad_push_event(src, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "depth", nullptr)));
  gst_harness_push_event(stereo.left(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                             gst_structure_new_empty("test")));
  stereo.process_all(40 * ms);
  stereo.process_all(80 * ms);
  for (GstHarness* harness : stereo.outlets()) {
    int custom = 0;
    Owned<GstEvent> tags;
    for (Owned<GstEvent>& event : take_events(harness)) {
      custom += GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM;
      if (GST_EVENT_TYPE(event) == GST_EVENT_TAG)
        fail_if(std::exchange(tags, std::move(event)), "the tags come twice");
    }
    fail_unless_equals_int(custom, 1);
    fail_unless(tags != nullptr);
    GstTagList* list = nullptr;
    gst_event_parse_tag(tags, &list);
    gchar* title = nullptr;
    fail_unless(gst_tag_list_get_string(list, GST_TAG_TITLE, &title));
    fail_unless_equals_string(title, "depth");
    g_free(title);
  }
}

// Request pads answer queries as src does, but CAPS and ACCEPT_CAPS queries by their own caps.
TEST(test_queries_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  for (GstHarness* harness : stereo.harnesses())
    gst_harness_set_upstream_latency(harness, 30 * ms);
  stereo.accept_gray();
  stereo.process_all(0);
  for (const auto& [pad, format] :
       {std::pair{"depth", "GRAY16_LE"}, {"confidence", "GRAY8"}, {"rectified", "GRAY8"}}) {
    GstHarness* harness = stereo.at_pad(pad);
    fail_unless_equals_uint64(gst_harness_query_latency(harness),
                              gst_harness_query_latency(stereo.left()));
    fail_unless(gst_harness_query_latency(harness) >= 50 * ms);
    const Owned<GstCaps> caps(gst_pad_peer_query_caps(harness->sinkpad, nullptr));
    const GstStructure* structure = gst_caps_get_structure(caps, 0);
    fail_unless_equals_string(gst_structure_get_string(structure, "format"), format);
    int w = 0;
    fail_unless(gst_structure_get_int(structure, "width", &w) && w == 32);
    const Owned<GstCaps> first(gst_caps_copy_nth(caps, 0));
    fail_unless(gst_pad_peer_query_accept_caps(harness->sinkpad, first));
    const Owned<GstCaps> other = caps_from("video/x-raw, format=I420, width=32, height=16");
    fail_unless(!gst_pad_peer_query_accept_caps(harness->sinkpad, other));
    const Owned<GstQuery> seeking(gst_query_new_seeking(GST_FORMAT_TIME));
    fail_unless(gst_pad_peer_query(harness->sinkpad, seeking));
  }
}

TEST(test_allocation_queries) {
  PlayingStereo stereo;
  for (GstHarness* harness : {stereo.left(), stereo.right()}) {
    const Owned<GstCaps> caps = current_caps(harness->srcpad);
    const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    fail_unless(gst_pad_peer_query(harness->srcpad, query));
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  }
}

// Only QoS events on src cause frames to be skipped; other pads' QoS events have no effect.
TEST(test_qos) {
  AllPads stereo;
  stereo.process_all(0);
  const auto late = [] {
    return gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 0.5, 500 * ms, 40 * ms);
  };
  for (const auto& [pad, harness] : stereo.opened())
    gst_harness_push_upstream_event(harness, late());
  stereo.process_all(40 * ms);
  gst_harness_push_upstream_event(stereo.left(), late());
  stereo.push_pair(80 * ms);
  for (const Map& map : stereo.process_all(GST_SECOND))
    fail_unless(map.discont(), "the pair at 80 ms was not skipped");
}
