// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the property frames in live pipelines, with new pools and peers, and after errors.
#include <gst/video/video.h>

#include <atomic>
#include <random>

#include "tests/check/common/pictures/random.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/denoise/film.h"

using namespace check;

// An unreadable frame ends the scene: delayed frames are pushed, and the next frame begins a scene.
TEST(test_unreadable_frames, .times(3)) {
  const auto pictures = film("GRAY8", 8);
  Film one(5, "GRAY8", {{"frames-in-flight", index == 2 ? "4" : "1"}});
  const int bad = index == 0 ? 0 : 4;
  one.push(pictures, 0, bad);
  GstBuffer* const too_short = to_buffer(pictures[0]);
  gst_buffer_set_size(too_short, 7);
  fail_unless_equals_int(one.filter.push(at(bad * frame_time, too_short)), GST_FLOW_ERROR);
  fail_unless_equals_int(one.filter.messages().count(GST_MESSAGE_ERROR), 1);
  one.push(pictures, bad, 8);
  one.filter.send_eos();
  one.expect(pictures, 5, 0, bad);
  one.expect(pictures, 5, bad, 8);
  one.expect_none();
}

// If reconfiguring fails, the frame fails, and later frames fail while the properties are invalid.
TEST(test_failed_reconfiguration) {
  const auto pictures = film("GRAY8", 6);
  Film one(3);
  one.push(pictures, 0, 2);
  // The application makes the properties invalid while delayed frames are pushed.
  on_buffers(one.filter.sink_pad(), [&](GstBuffer*) { one.filter.set("search-size", "4"); });
  one.filter.set("frames", "5");
  fail_unless_equals_int(one.push(pictures[2]), GST_FLOW_ERROR);
  fail_unless(one.filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  fail_unless_equals_int(one.push(pictures[3]), GST_FLOW_ERROR);
}

// The receiver of a frame may stop the element, even while the element reconfigures.
TEST(test_stop_during_reconfiguration) {
  const auto pictures = film("GRAY8", 3);
  Film one(3);
  one.push(pictures, 0, 2);
  on_buffers(one.filter.sink_pad(),
             [&](GstBuffer*) { gst_element_set_state(one.filter.element(), GST_STATE_READY); });
  one.filter.set("frames", "5");
  fail_if(one.push(pictures[2]) == GST_FLOW_OK);
  fail_unless_equals_int(one.filter.messages().count(GST_MESSAGE_ERROR), 0);
}

// A GAP event pushes the delayed frames while src is unlinked; later frames are accepted.
TEST(test_linked_again) {
  const auto pictures = film("GRAY8", 7);
  Film one(5);
  one.push(pictures, 0, 3);
  one.expect(expected(pictures, 0, 5, 0, 3), "frame 0");
  const Owned<GstPad> source = pad_of(one.filter.element(), "src");
  gst_pad_unlink(source, one.filter.sink_pad());
  one.filter.send_event(gst_event_new_gap(3 * frame_time, frame_time));
  fail_unless_equals_int(gst_pad_link(source, one.filter.sink_pad()), GST_PAD_LINK_OK);
  one.push(pictures, 3, 7);
  one.filter.send_eos();
  one.skip_outputs(2);
  one.expect(pictures, 5, 3, 7);
}

TEST(test_marks_of_discontinuity) {
  const auto pictures = film("GRAY8", 8);
  Film one(5);
  for (int i = 0; i < 8; ++i) {
    if (i == 5)
      one.filter.set("frames", "1");
    GstBuffer* const buffer = to_buffer(pictures[i]);
    if (i == 0 || i == 3)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int(one.push(buffer), GST_FLOW_OK);
  }
  one.filter.send_eos();
  for (int i = 0; i < 8; ++i)
    fail_unless_equals_int(GST_BUFFER_IS_DISCONT(one.filter.pull().get()), i == 0 || i == 3);
}

// QoS drops the first frame after a discontinuity. The following frames still must not search
// frames from before the discontinuity.
TEST(test_late_discontinuity) {
  auto pictures = film("GRAY8", 6);
  Film one(5);
  one.push(pictures, 0, 3);
  gst_harness_push_upstream_event(one.filter.harness(),
                                  gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 3 * frame_time));
  GstBuffer* const late = to_buffer(pictures[0]);
  GST_BUFFER_FLAG_SET(late, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int(one.push(late), GST_FLOW_OK);
  one.push(pictures, 3, 6);
  one.filter.send_eos();
  one.expect(pictures, 5, 0, 3);
  for (int i = 3; i < 6; ++i) {
    const Owned<GstBuffer> out = one.filter.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), (i + 1) * frame_time);
    fail_unless_equals_int(GST_BUFFER_IS_DISCONT(out.get()), i == 3);
    expect_picture(from_buffer(out, gray(), film_size.width, film_size.height),
                   expected(pictures, i, 5, 3, 6), "frame " + std::to_string(i));
  }
  one.expect_none();
}

// With frames > 1, the element releases its input at once, so upstream needs no additional buffers.
TEST(test_proposed_pool, .times(2)) {
  Film one(index == 0 ? 1 : 9, "GRAY8", {{"frames-in-flight", "4"}});
  const Owned<GstCaps> caps = current_caps(one.filter.source_pad());
  const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
  fail_unless(gst_pad_peer_query(one.filter.source_pad(), query));
  guint minimum = 0;
  gst_query_parse_nth_allocation_pool(query, 0, nullptr, nullptr, &minimum, nullptr);
  fail_unless_equals_int(static_cast<int>(minimum), index == 0 ? 4 : 0);
}

// A new pool, after a RECONFIGURE event and an ALLOCATION query, does not interrupt the video.
TEST(test_new_pool_in_a_film) {
  const auto pictures = film("GRAY8", 8);
  Film one(5);
  one.push(pictures, 0, 4);
  gst_harness_push_upstream_event(one.filter.harness(), gst_event_new_reconfigure());
  const Owned<GstCaps> caps = current_caps(one.filter.source_pad());
  const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
  fail_unless(gst_pad_peer_query(one.filter.source_pad(), query));
  one.push(pictures, 4, 8);
  one.filter.send_eos();
  one.expect(pictures, 5, 0, 8);
}

TEST(test_no_times) {
  const auto pictures = film("GRAY8", 6);
  for (const bool timed : {false, true}) {
    Film one(5);
    for (guint64 i = 0; i < 6; ++i) {
      GstBuffer* const buffer = to_buffer(pictures[i]);
      GST_BUFFER_PTS(buffer) = timed ? i * frame_time : GST_CLOCK_TIME_NONE;
      fail_unless_equals_int(one.filter.push(buffer), GST_FLOW_OK);
    }
    one.filter.send_eos();
    for (guint64 i = 0; i < 6; ++i) {
      const Owned<GstBuffer> out = one.filter.pull();
      fail_unless_equals_uint64(GST_BUFFER_PTS(out), timed ? i * frame_time : GST_CLOCK_TIME_NONE);
      fail_if(GST_BUFFER_DURATION_IS_VALID(out.get()));
      expect_picture(from_buffer(out, gray(), film_size.width, film_size.height),
                     expected(pictures, static_cast<int>(i), 5, 0, 6), "a frame");
    }
  }
}

// Each frame is denoised only in its own regions, but other frames are searched everywhere.
TEST(test_regions) {
  const auto pictures = film("GRAY8", 6);
  Film one(3, "GRAY8", {{"use-roi-meta", "true"}, {"region-feather", "0"}, {"region-margin", "0"}});
  for (guint i = 0; i < 6; ++i) {
    GstBuffer* const buffer = to_buffer(pictures[i]);
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", 3 * i, 2 * i, 6, 5);
    fail_unless_equals_int(one.push(buffer), GST_FLOW_OK);
  }
  one.filter.send_eos();
  for (int i = 0; i < 6; ++i) {
    Picture right = pictures[i];
    const Picture whole = expected(pictures, i, 3, 0, 6);
    for (int y = 2 * i; y < 2 * i + 5; ++y)
      for (int x = 3 * i; x < 3 * i + 6; ++x)
        right.set_sample(0, x, y, whole.sample(0, x, y));
    one.expect(right, "frame " + std::to_string(i));
  }
}

// Each frame enters the noise estimate once, even if a scene cut is detected late.
TEST(test_automatic_strength_across_a_cut, .times(2)) {
  Denoising how = denoising(-1, 5, 3);
  const Size size = {96, 80};
  std::mt19937 random(1);
  std::vector<Picture> pictures;
  for (int i = 0; i < 10; ++i) {
    const unsigned noise = i == 4 ? 60 : 4 + static_cast<unsigned>(i);
    pictures.push_back(picture_with(gray(), size.width, size.height, [&](int, int x, int) {
      return (i < 5 ? 2 * x : 40 + x / 4) + static_cast<int>(random() % noise);
    }));
    fail_unless_equals_int(i > 0 && begins_scene(pictures[i - 1], pictures[i]), i == 5);
  }
  Film one(3, "GRAY8", {{"strength", "-1"}, {"frames-in-flight", index == 0 ? "1" : "4"}}, size);
  one.push(pictures, 0, 10);
  one.filter.send_eos();
  AverageNoise noise;
  for (int i = 0; i < 10; ++i)
    one.expect(denoised(pictures[i], how, noise,
                        neighbours_of(pictures, i, 3, i < 5 ? 0 : 5, i < 5 ? 5 : 10)),
               "frame " + std::to_string(i));
}

// Sinks of live pipelines account for the delay; otherwise all frames would be 160 ms late.
TEST(test_live_pipeline) {
  std::atomic<int> captured{0}, shown{0};
  run_pipeline(
      "videotestsrc is-live=true num-buffers=40 ! video/x-raw, format=GRAY8, width=32, height=16, "
      "framerate=25/1 ! cudadenoise name=e frames=7 search-size=3 ! "
      "cudadenoise name=e2 frames=3 search-size=3 ! fakesink name=sink "
      "sync=true qos=true max-lateness=60000000 signal-handoffs=true",
      [&](GstElement* pipeline) {
        on_buffers_at(pipeline, "e",
                      [&](GstBuffer* frame) { captured += GST_BUFFER_PTS(frame) >= GST_SECOND; });
        g_signal_connect(element_in(pipeline, "sink").get(), "handoff",
                         G_CALLBACK(+[](GstElement*, GstBuffer* frame, GstPad*, gpointer count) {
                           if (GST_BUFFER_PTS(frame) >= GST_SECOND)
                             ++*static_cast<std::atomic<int>*>(count);
                         }),
                         &shown);
      },
      [&](GstElement*) {
        // On a busy machine, the first timestamp may be above 0.
        fail_unless(captured >= 15, "only %d frames", captured.load());
        fail_unless_equals_int(shown, captured);
      });
}
