// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the thread that pushes the frames in flight of the filters: which frames count, and what
// other threads may do to it meanwhile.
#include <atomic>
#include <functional>
#include <thread>

#include "gst/flight/framepusher.h"
#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"
#include "tests/check/common/waiting.h"

using namespace check;
using namespace cudavision;

namespace {

/// A pusher whose frames arrive at a function, which sees them in the thread that pushes.
class Stream {
 public:
  explicit Stream(std::function<void()> on_arrival = [] {}) : on_arrival_(std::move(on_arrival)) {
    sink_->chaindata = this;
    gst_pad_set_chain_function_full(sink_, arrive, this, nullptr);
    gst_pad_set_active(sink_, TRUE);
    gst_pad_set_active(source_, TRUE);
    gst_pad_link(source_, sink_);
    gst_pad_push_event(source_, gst_event_new_stream_start("one"));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source_, gst_event_new_segment(&segment));
  }
  ~Stream() {
    pusher->stop();
    fail_unless_equals_int(buffers_.alive(), 0);
  }

  void add() { pusher->add({OwnedBuffer(buffers_.track(gst_buffer_new())), PendingGpuWork()}); }
  int arrived() const { return arrived_; }
  std::thread::id thread() const { return thread_; }

 private:
  static GstFlowReturn arrive(GstPad* pad, GstObject*, GstBuffer* buffer) {
    gst_buffer_unref(buffer);
    auto* self = static_cast<Stream*>(pad->chaindata);
    self->thread_ = std::this_thread::get_id();
    ++self->arrived_;
    self->on_arrival_();
    return GST_FLOW_OK;
  }

  const std::function<void()> on_arrival_;
  BufferCount buffers_;
  std::atomic<std::thread::id> thread_{};
  std::atomic<int> arrived_{0};
  const Owned<GstPad> source_{gst_pad_new("src", GST_PAD_SRC)},
      sink_{gst_pad_new("sink", GST_PAD_SINK)};

 public:
  const std::shared_ptr<FramePusher> pusher = std::make_shared<FramePusher>(
      source_.get(), [](FramePusher::Frame frame) { return std::move(frame.buffer); });
};

}  // namespace

// The streaming thread may come late: it must not start what the stop has ended.
TEST(test_nothing_starts_after_a_stop) {
  Stream stream;
  fail_unless_equals_int(stream.pusher->set_limit(4), 0);
  stream.pusher->open();
  fail_unless_equals_int(stream.pusher->set_limit(4), 4);
  stream.add();
  stream.pusher->drain();
  fail_unless_equals_int(stream.arrived(), 1);

  stream.pusher->stop();
  fail_unless_equals_int(stream.pusher->set_limit(4), 0);
  fail_unless(!stream.pusher->started());
  fail_unless_equals_int(stream.pusher->wait_for_room(), GST_FLOW_FLUSHING);
  stream.add();
  fail_unless(stream.pusher->idle());
  fail_unless_equals_int(stream.arrived(), 1);

  stream.pusher->open();
  fail_unless_equals_int(stream.pusher->set_limit(2), 2);
  stream.add();
  stream.pusher->drain();
  fail_unless_equals_int(stream.arrived(), 2);
}

// A thread that stops the pusher may be held up until the pusher has been opened again. The frames
// since then count on: while they are in flight, nothing that they use may be freed.
TEST(test_a_late_stop_forgets_no_frame) {
  std::atomic<int> let_go{0};
  std::atomic<int> arrivals{0};
  Stream stream([&] {
    const int number = ++arrivals;
    wait_until([&] { return let_go >= number; }, "the test");
  });
  stream.pusher->open();
  stream.pusher->set_limit(2);
  stream.add();
  wait_until([&] { return stream.arrived() == 1; }, "the first frame");
  std::thread stopper([&] { stream.pusher->stop(); });
  wait_until([&] { return !stream.pusher->started(); }, "the stop");

  stream.pusher->open();
  fail_unless_equals_int(stream.pusher->set_limit(2), 2);
  stream.add();
  let_go = 1;
  stopper.join();
  wait_until([&] { return stream.arrived() == 2; }, "the second frame");
  fail_unless(!stream.pusher->idle());
  fail_unless_equals_int(stream.pusher->wait_for_room(), GST_FLOW_OK);
  let_go = 2;
  stream.pusher->drain();
  fail_unless(stream.pusher->idle());
}

// After a flush in the pusher's thread, the streaming thread goes on while the push of the void
// frame has not returned, which may in turn wait for the streaming thread.
TEST(test_new_limits_wait_for_no_push) {
  std::atomic<Stream*> flushed{nullptr};
  std::atomic<bool> goes_on{false};
  Stream stream([&] {
    if (Stream* const self = flushed.exchange(nullptr)) {
      self->pusher->flush();
      wait_until([&] { return goes_on.load(); }, "the streaming thread");
    }
  });
  flushed = &stream;
  stream.pusher->open();
  stream.pusher->set_limit(2);
  stream.add();
  wait_until([&] { return flushed == nullptr && stream.pusher->idle(); }, "the flush");
  fail_unless_equals_int(stream.pusher->take_flow(), GST_FLOW_FLUSHING);
  for (std::size_t limit : {3, 0, 8})
    fail_unless_equals_int(stream.pusher->set_limit(limit), limit);
  const std::thread::id thread = stream.thread();
  stream.add();
  fail_unless(!stream.pusher->idle());
  goes_on = true;
  stream.pusher->drain();
  fail_unless_equals_int(stream.arrived(), 2);
  fail_unless(stream.thread() == thread, "one thread serves all limits");
}
