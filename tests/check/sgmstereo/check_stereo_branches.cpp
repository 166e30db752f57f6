// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests source pads of cudasgmstereo that come, go, end or fail while other pads continue.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "tests/check/common/streams/padsharness.h"

using namespace check;

// Pads may be added and removed while the element plays. The other pads miss nothing.
TEST(test_pads_come_and_go) {
  PadsHarness stereo;
  stereo.accept_gray();
  GstClockTime time = 0;
  const auto step = [&] { return stereo.process_all(time += 40 * ms); };
  step();
  for (int i = 0; i < 5; ++i) {
    stereo.open("depth");
    std::vector<Map> maps = step();
    fail_unless_equals_int(maps.size(), 2);
    fail_unless(!maps[0].discont());
    fail_unless(maps[1].discont(), "a new pad must begin with DISCONT");
    stereo.open("confidence");
    fail_unless_equals_int(step().size(), 3);
    stereo.close("depth");
    maps = step();
    fail_unless_equals_int(maps.size(), 2);
    fail_unless(!maps[0].discont() && !maps[1].discont());
    stereo.close("confidence");
    fail_unless_equals_int(step().size(), 1);
  }
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_pads_come_and_go_at_full_speed) {
  PadsHarness stereo;
  gst_harness_set_drop_buffers(stereo.left(), TRUE);
  stereo.accept_gray();
  std::atomic<bool> stop{false};
  const auto push_all = [&](GstHarness* harness) {
    for (guint n = 0; !stop; ++n)
      if (gst_harness_push(harness, small_frame({n * 40 * ms})) != GST_FLOW_OK)
        return;
  };
  std::thread left(push_all, stereo.left()), right(push_all, stereo.right());
  for (int i = 0; i < 60; ++i) {
    GstHarness* depth = stereo.open("depth");
    if (i % 3 == 0)
      pull_from(depth);
    stereo.open("confidence");
    g_usleep(static_cast<gulong>(i % 7) * 500);
    stereo.close("depth");
    stereo.close("confidence");
  }
  stop = true;
  gst_element_set_state(stereo.element(), GST_STATE_READY);
  left.join();
  right.join();
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// A branch that ends does not stop other branches. After the last branch, the cameras get EOS.
TEST(test_branches_end_early) {
  static std::set<GstPad*> ended;
  static std::mutex mutex;
  const auto chain = +[](GstPad* pad, GstObject*, GstBuffer* buffer) -> GstFlowReturn {
    gst_buffer_unref(buffer);
    const std::lock_guard lock(mutex);
    return ended.insert(pad).second ? GST_FLOW_EOS : GST_FLOW_ERROR;  // no buffer may follow EOS
  };
  for (bool src_first : {true, false}) {
    PadsHarness stereo;
    GstHarness* depth = stereo.open("depth");
    ended.clear();
    GstHarness* first = src_first ? stereo.left() : depth;
    GstHarness* second = src_first ? depth : stereo.left();
    gst_pad_set_chain_function(first->sinkpad, chain);
    stereo.accept_gray();
    for (GstClockTime time : {0 * ms, 40 * ms, 80 * ms}) {
      stereo.push_pair(time);
      fail_unless_equals_uint64(pull_from(second).pts(), time);
    }
    gst_pad_set_chain_function(second->sinkpad, chain);
    stereo.push_pair(120 * ms);
    fail_unless_equals_int(stereo.flow_in_the_end(160 * ms), GST_FLOW_EOS);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
    const std::lock_guard lock(mutex);
    fail_unless_equals_int(ended.size(), 2);
  }
}

TEST(test_flush_after_early_end) {
  std::atomic<int> arrived{0};
  PadsHarness stereo;
  GstPad* const sink = stereo.open("depth")->sinkpad;
  answer_buffers(sink, GST_FLOW_EOS);
  on_buffers(sink, [&](GstBuffer*) { ++arrived; });
  stereo.accept_gray();
  stereo.process_at(0);
  stereo.process_at(40 * ms);
  fail_unless_equals_int(arrived, 1);
  answer_buffers(sink);
  stereo.flush();
  stereo.process_at(0);
  wait_until([&] { return arrived == 2; }, "the branch to get a frame after the flush");
}

// A branch's flow return reaches the cameras if no other pad wants maps. Errors always reach them.
TEST(test_flow_returns) {
  for (const auto& [branch, flow] :
       {std::pair{"src", GST_FLOW_EOS}, std::pair{"src", GST_FLOW_NOT_LINKED},
        std::pair{"src", GST_FLOW_ERROR}, std::pair{"confidence", GST_FLOW_ERROR},
        std::pair{"confidence", GST_FLOW_NOT_NEGOTIATED}}) {
    PadsHarness stereo;
    GstHarness* outlet = branch == std::string("src") ? stereo.left() : stereo.open(branch);
    answer_buffers(outlet->sinkpad, flow);
    stereo.accept_gray();
    stereo.push_pair(0);
    const GstFlowReturn got = stereo.flow_in_the_end(40 * ms);
    fail_unless(got == flow, "%s became %s", gst_flow_get_name(flow), gst_flow_get_name(got));
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

// Unlinked request pads change nothing; without any linked pad, the cameras get NOT_LINKED.
TEST(test_nothing_linked) {
  PadsHarness stereo;
  const Owned<GstPad> depth(gst_element_request_pad_simple(stereo.element(), "depth"));
  stereo.accept_gray();
  stereo.process_at(0);
  stereo.unlink_src();
  fail_unless_equals_int(stereo.flow_in_the_end(40 * ms), GST_FLOW_NOT_LINKED);
  gst_element_release_request_pad(stereo.element(), depth);
}

TEST(test_src_is_linked_again) {
  PadsHarness stereo;
  stereo.open("depth");
  stereo.accept_gray();
  fail_unless_equals_int(stereo.process_all(0).size(), 2);
  stereo.unlink_src();
  fail_unless_equals_int(stereo.process_all(40 * ms).size(), 1);
  const Owned<GstPad> src = pad_of(stereo.element(), "src");
  fail_unless_equals_int(gst_pad_link(src, stereo.left()->sinkpad), GST_PAD_LINK_OK);
  const std::vector<Map> maps = stereo.process_all(80 * ms);
  fail_unless_equals_int(maps.size(), 2);
  fail_unless(maps[0].discont(), "src has missed a frame");
  fail_unless(!maps[1].discont());
  fail_unless(!stereo.process_all(120 * ms)[0].discont());
}

TEST(test_one_pad_per_template) {
  PadsHarness stereo;
  for (const char* name : {"depth", "confidence", "points"}) {
    const Owned<GstPad> pad(gst_element_request_pad_simple(stereo.element(), name));
    fail_unless(pad != nullptr);
    fail_unless_equals_string(GST_PAD_NAME(pad.get()), name);
    GstPadTemplate* pad_template =
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(stereo.element()), name);
    fail_unless(gst_element_request_pad(stereo.element(), pad_template, nullptr, nullptr) ==
                nullptr);
    gst_element_release_request_pad(stereo.element(), pad);
    const Owned<GstPad> again(gst_element_request_pad_simple(stereo.element(), name));
    fail_unless(again != nullptr);
    gst_element_release_request_pad(stereo.element(), again);
  }
  fail_unless(gst_element_request_pad_simple(stereo.element(), "sink_middle") == nullptr);
}

// The element restarts from each state, even if a frame is waiting for its partner.
TEST(test_starts_again) {
  PadsHarness stereo;
  stereo.open_all();
  for (GstState low : {GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
    stereo.accept_gray();
    for (GstClockTime time : {0 * ms, 40 * ms})
      stereo.process_all(time);
    gst_harness_push(stereo.left(), small_frame({80 * ms}));
    stereo.restart(low);
    if (low == GST_STATE_PAUSED) {
      gst_harness_push(stereo.right(), small_frame({80 * ms}));
      for (GstHarness* harness : stereo.outlets())
        fail_unless_equals_uint64(pull_from(harness).pts(), 80 * ms);
    }
  }
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

TEST(test_short_frame) {
  for (bool left_short : {true, false}) {
    PlayingStereo stereo;
    gst_harness_push(left_short ? stereo.left() : stereo.right(),
                     at(40 * ms, gst_buffer_new_allocate(nullptr, 100, nullptr)));
    gst_harness_push(left_short ? stereo.right() : stereo.left(), small_frame({40 * ms}));
    stereo.expect_error();
    stereo.messages().expect_one(GST_MESSAGE_ERROR, {"too small"});
    fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
  }
}

// A flushing seek reaches the element through every sink, and all sinks preroll again.
TEST(test_pipeline_seeks) {
  const Owned<GstElement> pipeline = new_pipeline(
      "cudasgmstereo name=e focal-length=50 baseline=10 num-disparities=32  "
      "videotestsrc pattern=ball ! video/x-raw,format=GRAY8,width=64,height=48 ! tee name=t  "
      "t. ! queue ! e.sink_left  t. ! queue ! e.sink_right  e.src ! queue ! fakesink  "
      "e.depth ! queue ! fakesink  e.confidence ! queue ! fakesink  e.points ! queue ! fakesink");
  const Owned<GstElement> stereo = element_in(pipeline, "e");
  set_property(stereo, "backend", test_backend());
  fail_unless(gst_element_set_state(pipeline, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  const auto wait_for_preroll = [&] {
    fail_unless_equals_int(gst_element_get_state(pipeline, nullptr, nullptr, watchdog),
                           GST_STATE_CHANGE_SUCCESS);
  };
  wait_for_preroll();
  for (guint i = 0; i < 10; ++i) {
    fail_unless(gst_element_seek_simple(
        pipeline, GST_FORMAT_TIME,
        static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE), i * GST_SECOND));
    wait_for_preroll();
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}
