// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests packed frames, which hold both pictures, on sink_left.
#include <gst/video/video.h>

#include <atomic>

#include "tests/check/common/pipelines.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 40, height = 24;

struct Arrangement {
  const char* property;  ///< the value of frame-packing
  bool side_by_side;
};
constexpr Arrangement arrangements[] = {{"side-by-side", true}, {"top-bottom", false}};

std::string packed_caps(const FormatSpec& format, const Arrangement& how,
                        const std::string& more = "") {
  return caps_of(format, how.side_by_side ? 2 * width : width,
                 how.side_by_side ? height : 2 * height, more);
}

/// Returns a caps field with these GstVideoMultiviewFlags, whose mask has all flags.
std::string flags_in_caps(int flags) {
  const Owned<gchar> text(
      g_strdup_printf(", multiview-flags=(GstVideoMultiviewFlagsSet)%x:ffffffff", flags));
  return text.get();
}

std::string mode_in_caps(const Arrangement& how) {
  return std::string(", multiview-mode=") + how.property;
}

Picture left_picture(const FormatSpec& format = gray()) {
  return noise_picture(format, width, height, 3);
}

Picture map_by_two_pads(const Picture& left, const Picture& right) {
  StereoHarness stereo;
  stereo.accept_caps(caps_of(*left.format, left.width, left.height));
  return stereo.match(left, right);
}

void expect_end(StereoHarness& stereo) {
  fail_unless(gst_harness_push_event(stereo.left(), gst_event_new_eos()));
  stereo.expect_end();
}

}  // namespace

// Packed frames, declared by property or caps, give the same map as two cameras.
TEST(test_halves, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const Picture left = left_picture(format), right = shifted(left, 5);
  const Picture expected = map_by_two_pads(left, right);
  for (const Arrangement& how : arrangements)
    for (bool by_caps : {false, true})
      for (const Layout& layout : {packed_layout, padded_layout, odd_layout}) {
        StereoHarness stereo(by_caps ? Properties{} : Properties{{"frame-packing", how.property}},
                             false);
        stereo.accept_caps(packed_caps(format, how, by_caps ? mode_in_caps(how) : ""));
        expect_picture(
            stereo.match(to_buffer(packed(left, right, how.side_by_side), layout), nullptr),
            expected, std::string(format.name) + " " + how.property);
        expect_end(stereo);
        fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
      }
}

// Each half may have an odd width and height, also in formats with subsampled chroma.
TEST(test_odd_halves) {
  for (const char* name : {"I420", "NV12", "YUY2", "UYVY", "P010_10LE", "RGB", "GBR"}) {
    const FormatSpec& format = format_named(name);
    const Picture left = noise_picture(format, 37, 19, 3), right = shifted(left, 4);
    StereoHarness two;
    two.accept_caps(caps_of(format, 37, 19));
    const Picture expected = two.match(left, right);
    for (const Arrangement& how : arrangements) {
      StereoHarness stereo({{"frame-packing", how.property}}, false);
      fail_unless(stereo.send_caps(
          stereo.left(), caps_of(format, how.side_by_side ? 74 : 37, how.side_by_side ? 19 : 38)));
      expect_picture(stereo.match(to_buffer(packed(left, right, how.side_by_side)), nullptr),
                     expected, name);
    }
  }
}

TEST(test_right_view_first) {
  const Picture left = left_picture(), right = shifted(left, 5);
  for (const Arrangement& how : arrangements) {
    StereoHarness stereo({}, false);
    stereo.accept_caps(
        packed_caps(gray(), how,
                    mode_in_caps(how) + flags_in_caps(GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST)));
    expect_picture(stereo.match(to_buffer(packed(right, left, how.side_by_side)), nullptr),
                   map_by_two_pads(left, right), how.property);
  }
}

TEST(test_caps_of_maps) {
  struct Case {
    Arrangement how;
    int flags;
    const char* par;
    int expected_n, expected_d;
  };
  constexpr int half = GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT;
  for (const Case& c :
       {Case{arrangements[0], 0, "1/1", 1, 1}, Case{arrangements[0], half, "1/1", 2, 1},
        Case{arrangements[1], half, "1/1", 1, 2}, Case{arrangements[0], half, "3/4", 3, 2},
        Case{arrangements[1], half, "4/3", 2, 3}, Case{arrangements[1], 0, "4/3", 4, 3}}) {
    StereoHarness stereo({}, false);
    fail_unless(
        stereo.send_caps(stereo.left(), packed_caps(gray(), c.how,
                                                    mode_in_caps(c.how) + flags_in_caps(c.flags) +
                                                        ", pixel-aspect-ratio=" + c.par)));
    const Picture left = left_picture();
    stereo.process(to_buffer(packed(left, left, c.how.side_by_side)), nullptr);
    const Owned<GstCaps> caps = current_caps(stereo.left()->sinkpad);
    GstVideoInfo info;
    fail_unless(gst_video_info_from_caps(&info, caps));
    fail_unless_equals_int(info.width, width);
    fail_unless_equals_int(info.height, height);
    fail_unless_equals_int(info.fps_n, 25);
    fail_unless_equals_int(info.par_n, c.expected_n);
    fail_unless_equals_int(info.par_d, c.expected_d);
    fail_unless_equals_int(GST_VIDEO_INFO_MULTIVIEW_MODE(&info), GST_VIDEO_MULTIVIEW_MODE_MONO);
    fail_unless_equals_int(GST_VIDEO_INFO_MULTIVIEW_FLAGS(&info), 0);
    fail_unless(!gst_structure_has_field(gst_caps_get_structure(caps, 0), "multiview-flags"));
  }
}

TEST(test_not_negotiated) {
  struct Case {
    const char* property;
    int width, height;
    std::string more;
    std::string reason = "";
  };
  const auto turned = [](int flags) {
    return ", multiview-mode=side-by-side" + flags_in_caps(flags);
  };
  for (const Case& c :
       {Case{"side-by-side", 41, 24, ""}, Case{"top-bottom", 40, 25, ""},
        Case{"none", 41, 24, ", multiview-mode=side-by-side"},
        Case{"none", 40, 25, ", multiview-mode=top-bottom"},
        Case{"none", 40, 24, ", multiview-mode=checkerboard"},
        Case{"none", 40, 24, ", multiview-mode=row-interleaved"},
        Case{"none", 40, 24, ", multiview-mode=column-interleaved"},
        Case{"none", 40, 24, ", multiview-mode=side-by-side-quincunx"},
        Case{"none", 40, 24, ", multiview-mode=frame-by-frame"},
        Case{"none", 40, 24, turned(GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLIPPED), "_LEFT_FLIPPED)"},
        Case{"none", 40, 24, turned(GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLOPPED), "_RIGHT_FLOPPED)"},
        Case{"none", 40, 24, turned(GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO)},
        Case{"checkerboard", 40, 24, ""}, Case{"row-interleaved", 40, 24, ""}}) {
    StereoHarness stereo({{"frame-packing", c.property}}, false);
    fail_unless(!stereo.send_caps(stereo.left(), caps_of(gray(), c.width, c.height, c.more)),
                "the element accepts %s%s", c.property, c.more.c_str());
    fail_unless_equals_int(stereo.messages().complaints(), 1);
    const std::string error = stereo.messages().text(GST_MESSAGE_ERROR);
    fail_unless(error.size() > 30, "no reason is given");
    expect_words(error, {c.reason});
    const Picture picture(gray(), c.width, c.height);
    fail_unless_equals_int(gst_harness_push(stereo.left(), to_buffer(picture)),
                           GST_FLOW_NOT_NEGOTIATED);
  }
}

// The property overrides the caps; here it declares the frames to be mono.
TEST(test_property_against_caps) {
  const Picture left = left_picture();
  StereoHarness stereo(Properties{{"frame-packing", "mono"}});
  stereo.accept_caps(caps_of(gray(), width, height, ", multiview-mode=side-by-side"));
  expect_picture(stereo.match(left, shifted(left, 5)), map_by_two_pads(left, shifted(left, 5)),
                 "mono");
}

TEST(test_both_pads_linked) {
  for (bool by_caps : {false, true}) {
    StereoHarness stereo(by_caps ? Properties{} : Properties{{"frame-packing", "side-by-side"}});
    stereo.accept_caps(
        packed_caps(gray(), arrangements[0], by_caps ? mode_in_caps(arrangements[0]) : ""));
    const Picture left = left_picture();
    for (GstHarness* camera : stereo.harnesses())
      gst_harness_push(camera, to_buffer(packed(left, left, true)));
    stereo.expect_error();
    fail_unless_equals_int(stereo.flow_after_stop(), GST_FLOW_NOT_NEGOTIATED);
    const std::vector<Owned<GstMessage>> errors = stereo.messages().take(GST_MESSAGE_ERROR);
    fail_unless_equals_int(errors.size(), 1);
    GError* error = nullptr;
    gst_message_parse_error(errors[0], &error, nullptr);
    fail_unless(g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE), "%s",
                error->message);
    g_error_free(error);
  }
}

TEST(test_as_many_maps_as_frames, .times(11)) {
  StereoHarness stereo({{"frame-packing", "side-by-side"}}, false);
  const StereoFrames frames = frames_from(0, index);
  const std::vector<Map> maps = stereo.run(frames, {});
  fail_unless_equals_int(maps.size(), index);
  for (std::size_t i = 0; i < maps.size(); ++i)
    fail_unless_equals_uint64(maps[i].pts(), frames[i].pts);
}

TEST(test_gap) {
  StereoHarness stereo({{"frame-packing", "side-by-side"}}, false);
  StereoFrames frames = frames_from(0, 5);
  frames[2].gap = true;
  const std::vector<Map> maps = stereo.run(frames, {});
  fail_unless_equals_int(maps.size(), 4);
  fail_unless(maps[2].discont() && !maps[3].discont());
  fail_unless_equals_int(stereo.take_events(GST_EVENT_GAP).size(), 1);
}

// Flushes of sink_left are forwarded with their seqnum, and later frames are processed.
TEST(test_flushes) {
  for (const Arrangement& how : arrangements) {
    const Picture left = left_picture(), right = shifted(left, 5);
    const Picture expected = map_by_two_pads(left, right);
    const auto frame = [&] { return to_buffer(packed(left, right, how.side_by_side)); };
    StereoHarness stereo({}, false);
    stereo.accept_caps(packed_caps(gray(), how, mode_in_caps(how)));
    for (int i = 0; i < 10; ++i) {
      stereo.process(frame(), nullptr);
      if (i % 2 == 1)  // tests a flush after EOS, too
        expect_end(stereo);
      stereo.take_events(GST_EVENT_FLUSH_STOP);
      GstEvent* start = gst_event_new_flush_start();
      const guint32 seqnum = gst_event_get_seqnum(start);
      GstEvent* stop = gst_event_new_flush_stop(TRUE);
      gst_event_set_seqnum(stop, seqnum);
      fail_unless(gst_harness_push_event(stereo.left(), start));
      fail_unless_equals_int(gst_harness_push(stereo.left(), frame()), GST_FLOW_FLUSHING);
      fail_unless(gst_harness_push_event(stereo.left(), stop));
      const std::vector<Owned<GstEvent>> stops = stereo.take_events(GST_EVENT_FLUSH_STOP);
      fail_unless_equals_int(stops.size(), 1);
      fail_unless_equals_int(gst_event_get_seqnum(stops[0]), seqnum);
      const GstSegment segment = new_segment();
      gst_harness_push_event(stereo.left(), gst_event_new_segment(&segment));
      const Map map = stereo.process(frame(), nullptr);
      expect_picture(picture_at(stereo.left()->sinkpad, map), expected, "after a flush");
      fail_unless(map.discont(), "no DISCONT after a flush");
    }
    expect_end(stereo);
  }
}

TEST(test_seqnum_of_the_end) {
  StereoHarness stereo({{"frame-packing", "side-by-side"}}, false);
  const Owned<GstCaps> caps = caps_from(packed_caps(gray(), arrangements[0]));
  gst_pad_push_event(stereo.left()->srcpad, gst_event_new_caps(caps));
  GstSegment segment = new_segment();
  GstEvent* event = gst_event_new_segment(&segment);
  const guint32 seqnum = gst_event_get_seqnum(event);
  gst_pad_push_event(stereo.left()->srcpad, event);
  const Picture left = left_picture();
  stereo.process(to_buffer(packed(left, left, true)), nullptr);
  expect_end(stereo);
  const std::vector<Owned<GstEvent>> sent = stereo.take_events(GST_EVENT_EOS);
  for (const Owned<GstEvent>& eos : sent)
    fail_unless_equals_int(gst_event_get_seqnum(eos), seqnum);
  fail_unless(sent.size() <= 1);
}

TEST(test_other_caps_in_between) {
  const Picture left = left_picture(), right = shifted(left, 5);
  const Picture expected = map_by_two_pads(left, right);
  StereoHarness stereo({}, false);
  for (int i = 0; i < 6; ++i) {
    const Arrangement& how = arrangements[i % 2];
    stereo.accept_caps(packed_caps(gray(), how, mode_in_caps(how)));
    expect_picture(stereo.match(to_buffer(packed(left, right, how.side_by_side)), nullptr),
                   expected, how.property);
  }
}

// A flushing seek must work although nothing is linked to sink_right.
TEST(test_seek_in_a_pipeline) {
  std::atomic<int> maps{0};
  run_pipeline(
      "videotestsrc num-buffers=40 ! video/x-raw,width=64,height=24,framerate=20/1 ! "
      "cudasgmstereo name=e frame-packing=side-by-side ! fakesink name=sink sync=true",
      [&](GstElement* pipeline) {
        on_buffers_at(pipeline, "sink", [&](GstBuffer*) { ++maps; });
        gst_element_set_state(pipeline, GST_STATE_PLAYING);
        gst_element_get_state(pipeline, nullptr, nullptr, watchdog);
        for (int i = 0; i < 3; ++i) {
          const int before = maps;
          fail_unless(gst_element_seek_simple(
              pipeline, GST_FORMAT_TIME,
              static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
              static_cast<gint64>(i * 100 * GST_MSECOND)));
          wait_until([&] { return maps >= before + 3; }, "frames after a seek");
        }
      },
      [](GstElement*) {});
}
