// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which caps the pads of cudasgmstereo offer, accept and choose.
#include <gst/video/video.h>

#include <set>

#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

bool fits(GstCaps* caps, const std::string& text) {
  return gst_caps_can_intersect(caps, caps_from(text).get());
}

const char* format_in(GstCaps* caps) {
  return gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
}

Owned<GstCaps> query_caps(const StereoHarness& stereo, const char* pad,
                          const std::string& filter = "") {
  const Owned<GstCaps> caps(filter.empty() ? nullptr : gst_caps_from_string(filter.c_str()));
  return Owned<GstCaps>(gst_pad_query_caps(pad_of(stereo.element(), pad).get(), caps.get()));
}

Owned<GstCaps> output_caps(const StereoHarness& stereo) {
  return current_caps(stereo.left()->sinkpad);
}

std::set<std::string> formats_in(GstCaps* caps) {
  std::set<std::string> names;
  for (const char* name : {"GRAY16_LE", "GRAY8", "RGB", "RGBA", "BGRx", "BGRA", "NV12", "I420"})
    if (fits(caps, std::string("video/x-raw, format=") + name))
      names.insert(name);
  return names;
}

}  // namespace

TEST(test_sink_offers) {
  StereoHarness stereo;
  for (const char* pad : {"sink_left", "sink_right"})
    for (const FormatSpec& format : formats())
      fail_unless(fits(query_caps(stereo, pad).get(), caps_of(format, 65535, 1)),
                  "%s does not take %s", pad, format.name);
}

// Once one pad has caps, the other pad offers the same size and depth if its peer can send them.
TEST(test_size_of_the_other_pad) {
  for (bool left_first : {true, false}) {
    for (const FormatSpec& format : formats()) {
      StereoHarness stereo;
      fail_unless(
          stereo.send_caps(left_first ? stereo.left() : stereo.right(), caps_of(format, 32, 16)));
      const char* other_pad = left_first ? "sink_right" : "sink_left";
      for (const FormatSpec& other : formats()) {
        const Owned<GstCaps> offered =
            query_caps(stereo, other_pad,
                       std::string("video/x-raw, width=[1, 100], height=[1, 100], format={") +
                           format.name + ", " + other.name + "}");
        fail_unless(fits(offered, caps_of(other, 32, 16)) == (other.bits == format.bits),
                    "%s with %s on the other pad", other.name, format.name);
        fail_unless(!fits(offered, caps_of(other, 33, 16)));
        fail_unless(!fits(offered, caps_of(other, 32, 15)));
        fail_unless(fits(offered,
                         "video/x-raw, framerate=7/1, pixel-aspect-ratio=2/1, "
                         "colorimetry=bt709"));
      }
    }
  }
}

// If the peer cannot send frames that match the other pad, mismatching caps are offered, because
// the other camera may be about to change, too.
TEST(test_another_size_than_the_other_pad) {
  for (bool left_first : {true, false}) {
    StereoHarness stereo;
    fail_unless(
        stereo.send_caps(left_first ? stereo.left() : stereo.right(), caps_of(gray(), 32, 16)));
    const char* other_pad = left_first ? "sink_right" : "sink_left";
    for (const char* other : {"video/x-raw, format=GRAY8, width=33, height=16",
                              "video/x-raw, format=GRAY8, width=32, height=[17, 100]",
                              "video/x-raw, format={GRAY16_LE, P010_10LE}, width=32, height=16"})
      fail_unless(fits(query_caps(stereo, other_pad, other).get(), other), "%s", other);
    // Link checks query without a filter. They get all caps, with the matching caps first.
    const Owned<GstCaps> all = query_caps(stereo, other_pad);
    fail_unless(fits(all, caps_of(gray(), 33, 16)));
    gint width = 0;
    fail_unless(gst_structure_get_int(gst_caps_get_structure(all, 0), "width", &width));
    fail_unless_equals_int(width, 32);
  }
}

// While a pad has no caps, the other pad prefers caps that the first pad's peer can send.
TEST(test_possible_sizes_of_the_other_pad) {
  for (bool left_first : {true, false}) {
    StereoHarness stereo;
    gst_harness_set_src_caps_str(left_first ? stereo.right() : stereo.left(),
                                 "video/x-raw, format=GRAY8, width=48, height=20");
    // The harness sends no caps before its first buffer, but answers queries.
    const char* pad = left_first ? "sink_left" : "sink_right";
    const Owned<GstCaps> offered = query_caps(
        stereo, pad, "video/x-raw, format={GRAY8, GRAY16_LE}, width=[1, 100], height=[1, 100]");
    fail_unless(fits(offered, caps_of(gray(), 48, 20)));
    fail_unless(!fits(offered, caps_of(gray(), 47, 20)));
    fail_unless(!fits(offered, caps_of(format_named("GRAY16_LE"), 48, 20)));
    const char* other = "video/x-raw, format=GRAY8, width=64, height=20";
    fail_unless(fits(query_caps(stereo, pad, other).get(), other));
  }
}

TEST(test_src_offers) {
  const std::set<std::string> maps = {"GRAY16_LE", "GRAY8", "RGB", "RGBA", "BGRx"};
  fail_unless(formats_in(query_caps(StereoHarness(), "src").get()) == maps);
  const Properties camera = {{"output", "depth"}, {"focal-length", "500"}, {"baseline", "100"}};
  fail_unless(formats_in(query_caps(StereoHarness(camera), "src").get()) == maps);
  const Properties confidence(1, {"output", "confidence"});
  StereoHarness stereo(confidence);
  fail_unless(formats_in(query_caps(stereo, "src").get()) ==
              std::set<std::string>({"GRAY8", "RGB", "RGBA", "BGRx"}));
  fail_unless(stereo.send_caps(stereo.left(), caps_of(gray(), 32, 16)));
  const Owned<GstCaps> offered = query_caps(stereo, "src");
  fail_unless(fits(offered, "video/x-raw, width=32, height=16, framerate=25/1"));
  for (const char* other : {"width=33", "height=15", "framerate=24/1"})
    fail_unless(!fits(offered, std::string("video/x-raw, ") + other), "%s", other);
}

// If downstream accepts several formats, the element prefers 16 bits to 8, and gray to colours.
TEST(test_choice_of_output) {
  struct Case {
    const char* downstream;
    const char* expected;
  };
  for (const Case& c :
       {Case{"ANY", "GRAY16_LE"}, Case{"video/x-raw", "GRAY16_LE"},
        Case{"video/x-raw(ANY)", "GRAY16_LE"},
        Case{"video/x-raw, format={RGB, GRAY8, GRAY16_LE}", "GRAY16_LE"},
        Case{"video/x-raw, format={RGB, GRAY8}", "GRAY8"},
        Case{"video/x-raw, format=RGB; video/x-raw, format=GRAY8", "GRAY8"},
        Case{"video/x-raw, format={RGBA, RGB}", "RGB"}, Case{"video/x-raw, format=RGBA", "RGBA"},
        Case{"video/x-raw, format={NV12, BGRx}", "BGRx"},
        Case{"video/x-raw, format=GRAY8, width=[1, 100]", "GRAY8"}}) {
    StereoHarness stereo;
    stereo.accept_downstream(c.downstream);
    stereo.accept_gray();
    stereo.process_at(0);
    const Owned<GstCaps> caps = output_caps(stereo);
    fail_unless_equals_string(format_in(caps), c.expected);
    fail_unless(!gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory"));
  }
}

TEST(test_nothing_for_downstream) {
  for (const char* downstream :
       {"video/x-raw, format=NV12", "video/x-raw, width=31", "audio/x-raw"}) {
    StereoHarness stereo;
    stereo.accept_downstream(downstream);
    stereo.accept_gray();
    stereo.push_pair(0);
    // A stream of one pair has no second frame whose flow return would report the error.
    stereo.expect_error({"pad src", "offered: video/x-raw", "format=(string)GRAY16_LE",
                         "width=(int)32", "videoconvert ! videoscale"});
    fail_unless_equals_int(stereo.flow_after_stop(), GST_FLOW_NOT_NEGOTIATED);
    fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
    fail_unless_equals_int(stereo.messages().complaints(), 1);
  }
}

TEST(test_nothing_for_downstream_in_cuda_memory,
     .unless(testing_cuda() ? "needs the CPU backend" : "")) {
  for (const char* pad : {"src", "depth"}) {
    StereoHarness stereo({{"focal-length", "500"}, {"baseline", "100"}});
    const bool always = std::string(pad) == "src";
    gst_harness_set_sink_caps_str(always ? stereo.left() : stereo.open(pad),
                                  "video/x-raw(memory:CUDAMemory), format=GRAY16_LE");
    stereo.accept_gray();
    stereo.push_pair(0);
    stereo.expect_error({"pad " + std::string(pad),
                         built_with_cuda() ? "set backend=cuda" : "videoconvert ! videoscale"});
    fail_unless_equals_int(stereo.messages().complaints(), 1);
  }
}

// In mid-stream, downstream asks for caps that src cannot produce.
TEST(test_nothing_for_downstream_any_more) {
  PlayingStereo stereo;
  stereo.accept_downstream("video/x-raw, format=NV12");
  gst_harness_push_upstream_event(stereo.left(), gst_event_new_reconfigure());
  stereo.push_pair(40 * ms);
  stereo.expect_error({"pad src", "videoconvert"});
  fail_unless_equals_int(stereo.flow_after_stop(), GST_FLOW_NOT_NEGOTIATED);
}

TEST(test_data_without_caps) {
  for (bool left : {true, false}) {
    StereoHarness stereo;
    GstHarness* harness = left ? stereo.left() : stereo.right();
    const GstSegment segment = new_segment();
    gst_harness_push_event(harness, gst_event_new_segment(&segment));
    // None of the buffers may wait for the other pad.
    for (int i = 0; i < 4; ++i)
      fail_unless_equals_int(
          gst_harness_push(harness, gst_buffer_new_allocate(nullptr, 64, nullptr)),
          GST_FLOW_NOT_NEGOTIATED);
    stereo.messages().expect_one(GST_MESSAGE_ERROR, {"without caps", "decodebin"});
  }
}

// Framerate and pixel aspect ratio come from the left caps; colorimetry and multiview-mode do not.
TEST(test_fields_of_the_left) {
  StereoHarness stereo;
  fail_unless(
      stereo.send_caps(stereo.left(),
                       "video/x-raw, format=NV12, width=32, height=16, framerate=24000/1001, "
                       "pixel-aspect-ratio=4/3, colorimetry=bt709, chroma-site=mpeg2, "
                       "interlace-mode=progressive, multiview-mode=left"));
  fail_unless(stereo.send_caps(stereo.right(),
                               "video/x-raw, format=RGB, width=32, height=16, framerate=30/1, "
                               "pixel-aspect-ratio=1/1, multiview-mode=right"));
  stereo.process(noise_picture(format_named("NV12"), 32, 16, 1),
                 noise_picture(format_named("RGB"), 32, 16, 1));
  const Owned<GstCaps> caps = output_caps(stereo);
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, caps));
  fail_unless_equals_int(info.fps_n, 24000);
  fail_unless_equals_int(info.fps_d, 1001);
  fail_unless_equals_int(info.par_n, 4);
  fail_unless_equals_int(info.par_d, 3);
  fail_unless_equals_int(GST_VIDEO_INFO_MULTIVIEW_MODE(&info), GST_VIDEO_MULTIVIEW_MODE_MONO);
  for (const char* field : {"colorimetry", "chroma-site"})
    fail_unless(!gst_structure_has_field(gst_caps_get_structure(caps, 0), field), "%s", field);
}

TEST(test_without_a_rate) {
  for (const char* downstream : {"ANY", "video/x-raw, framerate=[0/1, 100/1]"}) {
    StereoHarness stereo;
    stereo.accept_downstream(downstream);
    stereo.accept_caps("video/x-raw, format=GRAY8, width=32, height=16");
    stereo.process_at(0);
    gint n = 0, d = 1;
    const Owned<GstCaps> caps = output_caps(stereo);
    gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &n, &d);
    fail_unless_equals_int(n, 0);
  }
}

TEST(test_late_caps) {
  for (bool left_first : {true, false}) {
    StereoHarness stereo;
    GstHarness* const early = left_first ? stereo.left() : stereo.right();
    GstHarness* const late = left_first ? stereo.right() : stereo.left();
    fail_unless(stereo.send_caps(early, caps_of(gray(), 32, 16)));
    fail_unless_equals_int(gst_harness_push(early, small_frame({0})), GST_FLOW_OK);
    let_time_pass(50);  // no map may come meanwhile
    fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
    fail_unless(stereo.send_caps(late, caps_of(gray(), 32, 16)));
    let_time_pass(20);  // the caps alone must not stop the element
    fail_unless_equals_int(gst_harness_push(late, small_frame({0})), GST_FLOW_OK);
    stereo.pull();
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

TEST(test_unequal) {
  struct Case {
    const char* left;
    const char* right;
    std::vector<std::string> words;
  };
  for (const Case& c :
       {Case{
            "GRAY8, width=32, height=16", "GRAY8, width=34, height=16", {"32×16", "34×16", "size"}},
        Case{"RGB, width=32, height=16", "NV12, width=32, height=18", {"32×16", "32×18", "size"}},
        Case{"GRAY8, width=32, height=16",
             "GRAY16_LE, width=32, height=16",
             {"8 bits", "16 bits", "videoconvert"}},
        Case{"P010_10LE, width=32, height=16",
             "GRAY16_LE, width=32, height=16",
             {"10 bits", "16 bits"}}}) {
    StereoHarness stereo;
    const auto full = [](const char* format) {
      return std::string("video/x-raw, framerate=25/1, format=") + format;
    };
    fail_unless(stereo.send_caps(stereo.left(), full(c.left)));
    fail_unless(stereo.send_caps(stereo.right(), full(c.right)));
    for (GstHarness* harness : {stereo.left(), stereo.right()}) {
      const Owned<GstCaps> caps = current_caps(harness->srcpad);
      GstVideoInfo info;
      fail_unless(gst_video_info_from_caps(&info, caps));
      gst_harness_push(harness, gst_buffer_new_allocate(nullptr, info.size, nullptr));
      gst_harness_push_event(harness, gst_event_new_eos());
    }
    stereo.expect_error(c.words);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 1);
    fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
  }
}

TEST(test_same_caps_again) {
  StereoHarness stereo;
  for (int i = 0; i < 5; ++i) {
    stereo.accept_gray();
    stereo.process_at(0);
  }
  fail_unless_equals_int(stereo.take_events(GST_EVENT_CAPS).size(), 1);
}

TEST(test_refused_caps) {
  const std::string raw = "video/x-raw";
  for (const auto& [caps, word] :
       {std::pair{raw + ", format=BGRA64_LE, width=32, height=16", "BGRA64_LE"},
        std::pair{raw + ", format=GRAY8, width=32, height=0", "32×0"},
        std::pair{raw + ", format=AYUV, width=8, height=8", "AYUV"},
        std::pair{raw + "(memory:DMABuf), format=NV12, width=32, height=16", "DMABuf"},
        std::pair{raw + "(format:Interlaced), format=NV12, width=32, height=16, "
                        "interlace-mode=alternate",
                  "deinterlace"},
        std::pair{std::string("image/jpeg, width=8, height=8"), "decodebin"},
        std::pair{std::string("audio/x-raw, format=S16LE, rate=8000, channels=1"), "audio/x-raw"}})
    for (bool left : {true, false}) {
      StereoHarness stereo;
      for (int sent = 0; sent < 2; ++sent)
        fail_unless(!stereo.send_caps(left ? stereo.left() : stereo.right(), caps), "accepted: %s",
                    caps.c_str());
      stereo.messages().expect_one(GST_MESSAGE_ERROR, {word});
      stereo.accept_gray();
      stereo.process_at(0);
    }
}
