// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what ends or interrupts a stream with several frames in flight.
#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/streams/overlap.h"

namespace {

struct FiveBlocks {
  GstAllocator parent;
  int left;
};
struct FiveBlocksClass {
  GstAllocatorClass parent;
};
G_DEFINE_TYPE(FiveBlocks, five_blocks, GST_TYPE_ALLOCATOR)

GstMemory* alloc(GstAllocator* self, gsize size, GstAllocationParams* params) {
  return reinterpret_cast<FiveBlocks*>(self)->left-- > 0
             ? gst_allocator_alloc(nullptr, size, params)
             : nullptr;
}

void five_blocks_class_init(FiveBlocksClass* klass) {
  klass->parent.alloc = alloc;
}

void five_blocks_init(FiveBlocks* self) {
  self->left = 5;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

using namespace check;

/// Races show up only in some rounds.
const int rounds = full_run() ? 100 : 15;

void fill(Overlap& overlap, guint64 first, guint64 frames_in_flight) {
  overlap.receiver().close();
  overlap.push(first, frames_in_flight);
  wait_until([&] { return overlap.receiver().holds_frame(); }, "the first frame");
}

/// Sends a seek's flush and segment. Waits before FLUSH_STOP until the feeder has stopped.
void seek(Overlap& overlap, const Feeder* feeder = nullptr) {
  overlap.filter().send_event(gst_event_new_flush_start());
  comes_true([&] { return feeder == nullptr || feeder->ended(); });
  overlap.filter().send_event(gst_event_new_flush_stop(TRUE));
  overlap.filter().send_segment(new_segment());
}

void expect_seek(Overlap& overlap, Feeder& feeder) {
  fail_unless_equals_int(feeder.finish(), GST_FLOW_FLUSHING);
  const std::string sought = "flush-start flush-stop segment";
  overlap.expect(sought);
  overlap.push(0, 20);
  overlap.drain();
  overlap.expect(sought + " " + numbers(0, 20) + " drain");
  overlap.expect_pictures();
}

}  // namespace

// While downstream blocks, a flush drops the frames in flight; none arrives after the flush.
TEST(test_flush, .for_each_element().times(std::size(overlaps))) {
  const auto limit = static_cast<guint64>(overlaps[index]);
  Overlap overlap(overlaps[index]);
  BufferCount buffers;
  for (int round = 0; round < rounds; ++round) {
    overlap.receiver().forget();
    overlap.receiver().close();
    Feeder feeder(overlap.filter(), 100, 100,
                  [&](guint64 number) { return buffers.track(overlap.frame(number)); });
    wait_until([&] { return feeder.pushed() == limit && overlap.receiver().holds_frame(); },
               "full queues");
    overlap.filter().send_event(gst_event_new_flush_start());
    fail_unless_equals_int(feeder.finish(), GST_FLOW_FLUSHING);
    overlap.filter().send_event(gst_event_new_flush_stop(TRUE));
    fail_unless_equals_int(buffers.alive(), 0);
    overlap.receiver().open();
    overlap.filter().send_segment(new_segment());
    overlap.push(0, 10);
    overlap.drain();
    overlap.expect("flush-start flush-stop segment " + numbers(0, 10) + " drain");
    overlap.expect_pictures();
  }
  fail_unless_equals_int(overlap.filter().messages().complaints(), 0);
}

// A flush may also come while the stream is idle, or between two frames.
TEST(test_flush_of_a_stream, .for_each_element()) {
  Overlap overlap(3);
  for (int round = 0; round < rounds; ++round) {
    Feeder feeder(overlap.filter(), 100, 100, overlap.frames());
    g_usleep(static_cast<gulong>(round) * 100);
    overlap.filter().send_event(gst_event_new_flush_start());
    feeder.finish();
    overlap.filter().send_event(gst_event_new_flush_stop(TRUE));
    overlap.receiver().forget();
    overlap.filter().send_segment(new_segment());
    overlap.push(0, 5);
    overlap.drain();
    overlap.expect("segment " + numbers(0, 5) + " drain");
  }
}

// Downstream may seek in the pushing thread; for example, an appsink when it gets a frame.
TEST(test_downstream_seeks, .for_each_element().times(std::size(overlaps))) {
  for (const char* at : {"100", "101", "110"}) {
    Overlap overlap(overlaps[index]);
    std::atomic<Feeder*> feeder{nullptr};
    bool sought = false;
    overlap.receiver().on_arrival([&](const std::string& arrived) {
      if (arrived != at || std::exchange(sought, true))
        return;
      feeder.load()->wait_until_blocked();
      overlap.receiver().forget();
      seek(overlap, feeder);
    });
    overlap.receiver().close();
    Feeder frames(overlap.filter(), 100, 100, overlap.frames());
    feeder = &frames;
    overlap.receiver().open();
    expect_seek(overlap, frames);
  }
}

// A message handler may seek. The message's frame and all later ones are then dropped.
TEST(test_handler_of_messages_seeks, .times(std::size(overlaps))) {
  Overlap overlap(overlaps[index], {{"post-messages", "true"}});
  std::atomic<Feeder*> feeder{nullptr};
  bool sought = false;
  overlap.filter().messages().on_message([&](GstMessage* message) {
    // The streaming thread may also post messages, but it cannot wait for itself.
    const Feeder* frames = feeder;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT || frames == nullptr ||
        frames->thread() == std::this_thread::get_id() || std::exchange(sought, true))
      return;
    frames->wait_until_blocked();
    overlap.receiver().forget();
    seek(overlap, frames);
  });
  overlap.receiver().close();
  Feeder frames(overlap.filter(), 100, 100, overlap.frames());
  feeder = &frames;
  overlap.receiver().open();
  expect_seek(overlap, frames);
}

TEST(test_stop, .for_each_element().times(std::size(overlaps))) {
  const auto limit = static_cast<guint64>(overlaps[index]);
  Overlap overlap(overlaps[index], tested().everything);
  BufferCount buffers;
  for (GstState low : {GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
    overlap.receiver().close();
    Feeder feeder(overlap.filter(), 100, 100,
                  [&](guint64 number) { return buffers.track(overlap.frame(number)); });
    wait_until([&] { return feeder.pushed() == limit && overlap.receiver().holds_frame(); },
               "full queues");
    // A pipeline stops its elements in this order, downstream first.
    overlap.receiver().stop();
    gst_element_set_state(overlap.filter().element(), low);
    fail_unless_equals_int(feeder.finish(), GST_FLOW_FLUSHING);
    fail_unless_equals_int(buffers.alive(), 0);
    overlap.receiver().open();
    overlap.receiver().start();
    gst_element_set_state(overlap.filter().element(), GST_STATE_PLAYING);
    overlap.receiver().forget();
    overlap.begin();
    overlap.push(0, 10);
    overlap.drain();
    overlap.expect("stream-start caps allocation segment " + numbers(0, 10) + " drain");
    overlap.expect_pictures();
  }
  fail_unless_equals_int(overlap.filter().messages().complaints(), 0);
}

// The element stops and restarts between two pushes, so upstream gets no FLUSHING.
TEST(test_stop_between_frames, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  fill(overlap, 100, static_cast<guint64>(overlaps[index]));
  overlap.receiver().stop();
  gst_element_set_state(overlap.filter().element(), GST_STATE_READY);
  overlap.receiver().open();
  overlap.receiver().start();
  gst_element_set_state(overlap.filter().element(), GST_STATE_PLAYING);
  overlap.receiver().forget();
  overlap.begin();
  overlap.push(0, 3);
  overlap.drain();
  overlap.expect("stream-start caps allocation segment 0 1 2 drain");
}

// Downstream's errors reach upstream with a later frame. After that, the next push or a flush
// continues the stream.
TEST(test_flow_returns, .for_each_element().times(std::size(overlaps))) {
  const auto limit = static_cast<guint64>(overlaps[index]);
  for (GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_ERROR,
                             GST_FLOW_NOT_NEGOTIATED, GST_FLOW_CUSTOM_ERROR}) {
    Overlap overlap(overlaps[index]);
    overlap.receiver().answer(0, flow);
    overlap.receiver().answer(201, flow);
    for (int round = 0; round < rounds; ++round) {
      overlap.receiver().forget();
      fill(overlap, 0, limit);
      overlap.receiver().open();
      const GstFlowReturn got = overlap.filter().push(overlap.frame(90));
      fail_unless(got == flow, "%s became %s", gst_flow_get_name(flow), gst_flow_get_name(got));
      overlap.expect("0");

      overlap.push(100, 3);
      overlap.drain();
      overlap.expect("0 100 101 102 drain");

      overlap.receiver().forget();
      overlap.push(200, 2);
      seek(overlap);
      overlap.push(300, 3);
      overlap.drain();
      // Downstream may be processing one of these frames when the flush starts.
      const std::string arrivals = overlap.receiver().arrivals();
      fail_unless(g_str_has_suffix(arrivals.c_str(), " flush-stop segment 300 301 302 drain"), "%s",
                  arrivals.c_str());
    }
    fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ERROR), 0);
  }
}

TEST(test_custom_success, .for_each_element()) {
  Overlap overlap(3);
  for (guint64 number : {1, 4})
    overlap.receiver().answer(number, GST_FLOW_CUSTOM_SUCCESS_1);
  overlap.push(0, 10);
  overlap.drain();
  overlap.expect(numbers(0, 10) + " drain");
}

// EOS from downstream ends only the current segment.
TEST(test_eos_ends_with_its_segment, .for_each_element()) {
  for (bool stream_start : {false, true}) {
    Overlap overlap(8);
    overlap.receiver().answer(0, GST_FLOW_EOS);
    fill(overlap, 0, 4);
    overlap.receiver().open();
    if (stream_start)
      overlap.filter().send_event(gst_event_new_stream_start("next"));
    overlap.filter().send_segment(new_segment());
    overlap.push(10, 3);
    overlap.drain();
    overlap.expect(std::string("0 ") + (stream_start ? "stream-start " : "") +
                   "segment 10 11 12 drain");
  }
}

// The frames before the bad one arrive, then one error and no more frames. A restart works.
TEST(test_error, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  std::string arrivals_before;
  overlap.filter().messages().on_message([&](GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      arrivals_before = overlap.receiver().arrivals();
  });
  for (GstState low : {GST_STATE_NULL, GST_STATE_READY, GST_STATE_NULL}) {
    overlap.filter().messages().clear();
    overlap.receiver().set_delay(3000);
    overlap.push(0, 5);
    GstBuffer* bad = overlap.frame(5);
    gst_buffer_set_size(bad, static_cast<gssize>(gst_buffer_get_size(bad) / 2));
    fail_unless_equals_int(overlap.filter().push(bad), GST_FLOW_ERROR);
    fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ERROR), 1);
    fail_unless(arrivals_before == "0 1 2 3 4", "before the error: %s", arrivals_before.c_str());
    overlap.expect("0 1 2 3 4");

    gst_element_set_state(overlap.filter().element(), low);
    overlap.expect_new_stream();
    overlap.receiver().forget();
    fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ERROR), 1);
  }
}

TEST(test_full_memory_of_downstream, .for_each_element().times(std::size(overlaps))) {
  FilterHarness filter{{"frames-in-flight", std::to_string(overlaps[index])}};
  gst_harness_set_propose_allocator(filter.harness(),
                                    static_cast<GstAllocator*>(gst_object_ref_sink(
                                        g_object_new(five_blocks_get_type(), nullptr))),
                                    nullptr);
  Receiver receiver(filter);
  receiver.set_delay(3000);
  std::string arrivals_before;
  filter.messages().on_message([&](GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      arrivals_before = receiver.arrivals();
  });
  filter.accept_caps(gray(), 24, 16);
  receiver.forget();
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint64 i = 0; i < 6; ++i) {
    fail_unless_equals_int(flow, GST_FLOW_OK);
    flow = filter.push(at(i * frame_duration, to_buffer(Picture(gray(), 24, 16))));
  }
  fail_unless_equals_int(flow, GST_FLOW_ERROR);
  filter.messages().expect_one(GST_MESSAGE_ERROR, {"no memory for another output frame"});
  fail_unless(arrivals_before == "0 1 2 3 4", "before the error: %s", arrivals_before.c_str());
}

TEST(test_relink, .for_each_element().times(std::size(overlaps))) {
  const auto limit = static_cast<guint64>(overlaps[index]);
  Overlap overlap(overlaps[index]);
  for (int round = 0; round < 10; ++round) {
    fill(overlap, 0, limit);
    fail_unless(gst_pad_unlink(src_of(overlap), overlap.filter().sink_pad()));
    const AtFrame unlinked(src_of(overlap), 1, [] {});
    overlap.receiver().forget();
    overlap.receiver().open();
    wait_until([&] { return unlinked.done(); }, "the second frame");
    wait_until([&] { return gst_pad_get_last_flow_return(src_of(overlap)) == GST_FLOW_NOT_LINKED; },
               "the push to return");
    fail_unless_equals_int(gst_pad_link(src_of(overlap), overlap.filter().sink_pad()),
                           GST_PAD_LINK_OK);
    overlap.push(limit, 5);
    overlap.drain();
    std::string frames;
    for (const Owned<GstBuffer>& frame : overlap.receiver().take_frames())
      frames += std::to_string(GST_BUFFER_PTS(frame.get()) / frame_duration) + " ";
    const std::string expected = "0 " + numbers(2, limit + 3) + " ";
    fail_unless(frames == expected, "%s instead of %s", frames.c_str(), expected.c_str());
  }
}

// Downstream may be linked again before the push that found no peer has returned.
TEST(test_relink_during_push, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  overlap.receiver().answer(1, GST_FLOW_NOT_LINKED);
  overlap.receiver().on_arrival([&](const std::string& what) {
    if (what == "1")
      gst_harness_push_upstream_event(overlap.filter().harness(), gst_event_new_reconfigure());
  });
  overlap.push(0, 10);
  overlap.drain();
  std::size_t frames = overlap.receiver().take_frames().size();
  fail_unless(frames == 9 || frames == 10, "%d frames", static_cast<int>(frames));
}

TEST(test_events_while_unlinked, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  fail_unless(gst_pad_unlink(src_of(overlap), overlap.filter().sink_pad()));
  overlap.filter().push(overlap.frame(0));
  overlap.filter().push(overlap.frame(1));
  overlap.filter().send_segment(new_segment());
  overlap.drain();
  fail_unless_equals_int(gst_pad_link(src_of(overlap), overlap.filter().sink_pad()),
                         GST_PAD_LINK_OK);
  overlap.push(3, 5);
}
