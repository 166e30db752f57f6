// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the thread that pushes frames in flight: which frames it counts, what other threads may do
// meanwhile, and the wait for the device or for new frames.
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "gst/flight/completionwait.h"
#include "gst/flight/framepusher.h"
#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"
#include "tests/check/common/waiting.h"

using namespace check;
using namespace cudavision;

namespace {

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

/// Fake device work that is complete once any thread has called finish().
class FakeWork {
 public:
  bool done() {
    ++done_calls;
    return done_;
  }
  void when_done(std::function<void()> call) {
    if (fails)
      throw Error(Error::Kind::device, "the device has failed");
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
    asked = true;
  }
  void finish() {
    done_ = true;
    while (!asked)
      std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    call_();
  }

  std::atomic<int> done_calls{0};
  std::atomic<bool> asked{false};
  bool fails = false;

 private:
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::function<void()> call_;
};

struct Frames {
  std::atomic<bool> here{false};
  std::atomic<int> ready_calls{0};

  std::function<bool()> ready() {
    return [this] {
      ++ready_calls;
      return here.load();
    };
  }
};

/// Sends the frames once the waiting thread has asked for the device's notification.
std::thread send_frames_when_asked(const FakeWork& work, Frames& frames, CompletionWait& wait) {
  return std::thread([&] {
    while (!work.asked)
      std::this_thread::yield();
    frames.here = true;
    wait.notify();
  });
}

}  // namespace

// A streaming thread that is late must not restart the pusher after a stop.
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

// stop() may return after the pusher was reopened. The pusher must not forget frames added after
// open(), because idle() would then return true while memory is still in use.
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

// After a flush in the pusher's thread, the streaming thread does not wait for the flushed push.
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

TEST(test_frames_that_are_here) {
  CompletionWait wait;
  FakeWork work;
  fail_unless(wait.wait(work, [] { return true; }));
  fail_unless_equals_int(work.done_calls, 0);
}

TEST(test_work_that_is_done) {
  CompletionWait wait;
  FakeWork work;
  work.asked = true;
  std::thread([&] {
    work.when_done([] {});
    work.finish();
  }).join();
  work.asked = false;
  fail_unless(!wait.wait(work, [] { return false; }));
  fail_unless(!work.asked, "there is nothing to wait for");
}

// The waiting thread sleeps, and does not poll.
TEST(test_the_device_wakes) {
  CompletionWait wait;
  FakeWork work;
  Frames frames;
  std::thread device([&] {
    while (!work.asked)
      std::this_thread::yield();
    g_usleep(50000);
    work.finish();
  });
  fail_unless(!wait.wait(work, frames.ready()));
  device.join();
  fail_unless_equals_int(work.done_calls, 1);
  fail_unless(frames.ready_calls <= 8, "looked for frames %d times", frames.ready_calls.load());
}

TEST(test_frames_wake) {
  CompletionWait wait;
  FakeWork work;
  Frames frames;
  std::thread upstream([&] {
    while (!work.asked)
      std::this_thread::yield();
    wait.notify();  // only one pad has a frame
    g_usleep(50000);
    frames.here = true;
    wait.notify();
  });
  fail_unless(wait.wait(work, frames.ready()));
  upstream.join();
  fail_unless_equals_int(work.done_calls, 1);
  fail_unless(frames.ready_calls <= 8, "looked for frames %d times", frames.ready_calls.load());
}

// The notification of earlier work arrives while the thread already waits for later work.
TEST(test_a_late_answer_is_not_the_next_one) {
  CompletionWait wait;
  FakeWork first, second;
  Frames frames;
  std::thread upstream = send_frames_when_asked(first, frames, wait);
  fail_unless(wait.wait(first, frames.ready()));
  upstream.join();
  frames.here = false;
  std::atomic<bool> second_done{false};
  std::thread device([&] {
    while (!second.asked)
      std::this_thread::yield();
    first.finish();
    g_usleep(50000);
    second_done = true;
    second.finish();
  });
  fail_unless(!wait.wait(second, frames.ready()));
  fail_unless(second_done, "woken by the notification of the previous pair");
  device.join();
}

TEST(test_a_device_that_fails_is_not_waited_for) {
  CompletionWait wait;
  FakeWork work;
  work.fails = true;
  fail_unless(!wait.wait(work, [] { return false; }));
}

// The element may be gone when the driver's notification arrives.
TEST(test_an_answer_that_nobody_awaits) {
  FakeWork work;
  {
    CompletionWait wait;
    Frames frames;
    std::thread upstream = send_frames_when_asked(work, frames, wait);
    fail_unless(wait.wait(work, frames.ready()));
    upstream.join();
  }
  work.finish();
}
