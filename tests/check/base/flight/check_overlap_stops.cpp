// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests queries by other threads while a filter stops, and stops in the pusher's thread.
#include "tests/check/common/streams/overlap.h"

using namespace check;

namespace {

/// Races show up only in some rounds. Each round allocates CUDA memory, so the time is limited.
class Rounds : public RoundsInTime {
 public:
  Rounds() : RoundsInTime(full_run() ? 8000 : 250) {}
};

bool asks_for_pool(Overlap& overlap, const Owned<GstCaps>& caps) {
  const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
  return gst_pad_peer_query(overlap.filter().source_pad(), query);
}

/// ThreadSanitizer does not see GLib's reference counts, so it misreports the last release.
std::string unless_thread_sanitizer() {
#if defined(__SANITIZE_THREAD__)
  return "ThreadSanitizer does not see GLib's reference counts";
#else
  return {};
#endif
}

/// A filter between two pads. The test holds the only reference to the filter.
class LastReference {
 public:
  LastReference(const char* factory, const Properties& properties, int frames_in_flight) {
    element_ =
        make_element(factory,
                     joined(properties, {{"frames-in-flight", std::to_string(frames_in_flight)}}))
            .release();
    g_object_weak_ref(
        G_OBJECT(element_),
        +[](gpointer self, GObject*) { static_cast<LastReference*>(self)->released_ = true; },
        this);
    answer_buffers(sink_);
    gst_pad_set_active(source_, TRUE);
    gst_pad_set_active(sink_, TRUE);
    gst_pad_link(source_, GST_BASE_TRANSFORM_SINK_PAD(element_));
    gst_pad_link(GST_BASE_TRANSFORM_SRC_PAD(element_), sink_);
  }

  GstElement* element() const { return element_; }
  void release() {
    gst_element_set_state(element_, GST_STATE_NULL);
    gst_object_unref(element_);
  }
  void play() {
    gst_element_set_state(element_, GST_STATE_PLAYING);
    gst_pad_push_event(source_, gst_event_new_stream_start("one"));
    fail_unless(check::send_caps(source_, caps_of(gray(), 24, 16)));
    GstFlowReturn flow = GST_FLOW_OK;
    for (guint64 i = 0; flow == GST_FLOW_OK; ++i)
      flow = gst_pad_push(source_, at(i * frame_duration, to_buffer(Picture(gray(), 24, 16))));
    wait_until([&] { return released_.load(); }, "the end of the element");
    gst_task_cleanup_all();
  }

 private:
  const Owned<GstPad> source_{gst_pad_new("up", GST_PAD_SRC)};
  const Owned<GstPad> sink_{gst_pad_new("down", GST_PAD_SINK)};
  GstElement* element_;
  std::atomic<bool> released_{false};
};

struct EmptyPool {
  GstTaskPool parent;
};
struct EmptyPoolClass {
  GstTaskPoolClass parent;
};
G_DEFINE_TYPE(EmptyPool, empty_pool, GST_TYPE_TASK_POOL)

gpointer refuse_task(GstTaskPool*, GstTaskPoolFunction, gpointer, GError** error) {
  g_set_error(error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "no thread is left");
  return nullptr;
}

void empty_pool_class_init(EmptyPoolClass* klass) {
  klass->parent.push = refuse_task;
}

void empty_pool_init(EmptyPool*) {}

struct Status {
  GstStreamStatusType type;
  GstElement* owner;
  GstTask* task;
};

Status status_in(GstMessage* message) {
  Status status{};
  gst_message_parse_stream_status(message, &status.type, &status.owner);
  const GValue* task = gst_message_get_stream_status_object(message);
  fail_unless(task && G_VALUE_HOLDS(task, GST_TYPE_TASK));
  status.task = GST_TASK_CAST(g_value_get_object(task));
  return status;
}

}  // namespace

// Sources stop last, so they may ask for a pool while a filter stops and renegotiates.
TEST(test_query_beside_stop, .for_each_element().times(std::size(numbers_in_flight))) {
  Overlap overlap(numbers_in_flight[index]);
  const Owned<GstCaps> caps = current_caps(GST_BASE_TRANSFORM_SINK_PAD(overlap.filter().element()));
  for (Rounds rounds; rounds.next();) {
    overlap.push(0);
    std::atomic<bool> stop{false};
    std::thread asker([&] {
      while (!stop) {
        gst_pad_mark_reconfigure(src_of(overlap));
        asks_for_pool(overlap, caps);
      }
    });
    g_usleep(static_cast<gulong>(rounds.number() % 30) * 10);
    gst_element_set_state(overlap.filter().element(), GST_STATE_READY);
    stop = true;
    asker.join();
    gst_element_set_state(overlap.filter().element(), GST_STATE_PLAYING);
    overlap.begin();
  }
  // GstBaseTransform warns if it negotiates while only the source pad is inactive.
  fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ERROR), 0);
}

// Nothing is negotiated for an element that processes no frames.
TEST(test_query_without_stream, .for_each_element()) {
  Overlap overlap(2);
  const Owned<GstCaps> caps = current_caps(GST_BASE_TRANSFORM_SINK_PAD(overlap.filter().element()));
  fail_unless(asks_for_pool(overlap, caps));
  overlap.filter().send_event(gst_event_new_flush_start());
  fail_unless(!asks_for_pool(overlap, caps), "during a flush");
  overlap.filter().send_event(gst_event_new_flush_stop(TRUE));
  fail_unless(asks_for_pool(overlap, caps));
  gst_element_set_state(overlap.filter().element(), GST_STATE_READY);
  fail_unless(!asks_for_pool(overlap, caps), "in READY");
}

// FLUSH_STOP may arrive while the element stops and starts, because inactive pads accept it.
TEST(test_flush_stop_beside_stop, .times(std::size(numbers_in_flight))) {
  Overlap overlap(numbers_in_flight[index], {{"post-messages", "true"}});
  GstPad* const sink = GST_BASE_TRANSFORM_SINK_PAD(overlap.filter().element());
  for (Rounds rounds; rounds.next();) {
    overlap.push(0, 2);
    std::atomic<bool> stop{false};
    std::thread flusher([&] {
      while (!stop)
        gst_pad_send_event(sink, gst_event_new_flush_stop(FALSE));
    });
    g_usleep(static_cast<gulong>(rounds.number() % 30) * 10);
    gst_element_set_state(overlap.filter().element(), GST_STATE_READY);
    gst_element_set_state(overlap.filter().element(), GST_STATE_PLAYING);
    stop = true;
    flusher.join();
    overlap.begin();
  }
}

// A probe stops the element in the pushing thread, for which the streaming thread waits.
TEST(test_probe_stops, .for_each_element().times(std::size(overlaps))) {
  for (GstState low : {GST_STATE_READY, GST_STATE_NULL}) {
    for (guint64 at : {100, 101, 110}) {
      Overlap overlap(overlaps[index]);
      GstStateChangeReturn result = GST_STATE_CHANGE_FAILURE;
      std::atomic<Feeder*> feeder{nullptr};
      const AtFrame stopper(src_of(overlap), at, [&] {
        comes_true([&] { return feeder != nullptr; });
        feeder.load()->wait_until_blocked();
        result = gst_element_set_state(overlap.filter().element(), low);
      });
      Feeder frames(overlap.filter(), 100, 100, overlap.frames());
      feeder = &frames;
      fail_unless_equals_int(frames.finish(), GST_FLOW_FLUSHING);
      wait_until([&] { return stopper.done(); }, "the stop");
      fail_unless(stopper.thread() != frames.thread());
      fail_unless_equals_int(result, GST_STATE_CHANGE_SUCCESS);
      overlap.expect_new_stream();
      fail_unless_equals_int(overlap.filter().messages().complaints(), 0);
    }
  }
}

// Upstream may ignore the flow return and keep pushing until the element has stopped.
TEST(test_probe_stops_beside_stubborn_upstream, .times(std::size(overlaps))) {
  for (Rounds rounds; rounds.next();) {
    Overlap overlap(overlaps[index]);
    std::atomic<bool> stopped{false};
    const AtFrame stopper(src_of(overlap), 3, [&] {
      gst_element_set_state(overlap.filter().element(), GST_STATE_NULL);
      stopped = true;
    });
    for (guint64 number = 0; !stopped; ++number)
      overlap.filter().push(overlap.frame(number));
    wait_until([&] { return stopper.done(); }, "the stop");
    overlap.expect_new_stream();
  }
}

TEST(test_probe_restarts, .for_each_element().times(std::size(overlaps))) {
  const auto limit = static_cast<guint64>(overlaps[index]);
  for (guint64 at : {guint64{0}, limit - 1}) {
    Overlap overlap(overlaps[index]);
    std::atomic<bool> all_pushed{false};
    const AtFrame restarter(src_of(overlap), at, [&] {
      GstElement* const element = overlap.filter().element();
      wait_until([&] { return all_pushed.load(); }, "upstream");
      fail_unless_equals_int(gst_element_set_state(element, GST_STATE_NULL),
                             GST_STATE_CHANGE_SUCCESS);
      fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING),
                             GST_STATE_CHANGE_SUCCESS);
    });
    overlap.push(0, limit);
    all_pushed = true;
    wait_until([&] { return restarter.done(); }, "the new start");
    overlap.expect_new_stream();
  }
}

TEST(test_handler_of_messages_stops, .times(std::size(overlaps))) {
  Overlap overlap(overlaps[index], {{"post-messages", "true"}});
  std::atomic<Feeder*> feeder{nullptr};
  std::atomic<bool> stopped{false};
  overlap.filter().messages().on_message([&](GstMessage* message) {
    const Feeder* frames = feeder;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT || frames == nullptr ||
        frames->thread() == std::this_thread::get_id() || stopped)
      return;
    stopped = true;
    overlap.receiver().forget();
    gst_element_set_state(overlap.filter().element(), GST_STATE_NULL);
  });
  overlap.receiver().close();
  Feeder frames(overlap.filter(), 100, 100, overlap.frames());
  feeder = &frames;
  overlap.receiver().open();
  fail_unless_equals_int(frames.finish(), GST_FLOW_FLUSHING);
  fail_unless(stopped);
  overlap.expect("");
  overlap.expect_new_stream();
}

TEST(test_probe_releases,
     .for_each_element().times(std::size(overlaps)).unless(unless_thread_sanitizer())) {
  LastReference filter(tested().element, {}, overlaps[index]);
  const AtFrame releaser(GST_BASE_TRANSFORM_SRC_PAD(filter.element()), 3,
                         [&] { filter.release(); });
  filter.play();
  fail_unless(releaser.done());
}

TEST(test_handler_of_messages_releases,
     .times(std::size(overlaps)).unless(unless_thread_sanitizer())) {
  struct Releaser {
    LastReference filter;
    const std::thread::id streaming = std::this_thread::get_id();
    bool done = false;
  } releaser{{"cudahistequalize", {{"post-messages", "true"}}, overlaps[index]}};
  const Owned<GstBus> bus(gst_bus_new());
  gst_bus_set_sync_handler(
      bus,
      +[](GstBus*, GstMessage* message, gpointer data) {
        auto* self = static_cast<Releaser*>(data);
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT && !self->done &&
            self->streaming != std::this_thread::get_id()) {
          self->done = true;
          self->filter.release();
        }
        gst_message_unref(message);
        return GST_BUS_DROP;
      },
      &releaser, nullptr);
  gst_element_set_bus(releaser.filter.element(), bus);
  releaser.filter.play();
}

TEST(test_stream_status, .for_each_element().times(std::size(numbers_in_flight))) {
  FilterHarness filter{{"frames-in-flight", std::to_string(numbers_in_flight[index])}};
  gst_element_set_state(filter.element(), GST_STATE_NULL);
  filter.messages().clear();
  std::atomic<std::thread::id> entered{};
  filter.messages().on_message([&](GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_STREAM_STATUS &&
        status_in(message).type == GST_STREAM_STATUS_TYPE_ENTER)
      entered = std::this_thread::get_id();
  });
  for (int round = 0; round < 3; ++round) {
    gst_element_set_state(filter.element(), GST_STATE_PLAYING);
    gst_pad_push_event(filter.source_pad(), gst_event_new_stream_start("again"));
    fail_unless(filter.send_caps(caps_of(gray(), 32, 16)));
    if (numbers_in_flight[index] > 1)
      wait_until([&] { return filter.messages().count(GST_MESSAGE_STREAM_STATUS) == 2; }, "ENTER");
    gst_element_set_state(filter.element(), GST_STATE_READY);
    const std::vector<Owned<GstMessage>> messages =
        filter.messages().take(GST_MESSAGE_STREAM_STATUS);
    if (numbers_in_flight[index] == 1) {
      fail_unless_equals_int(messages.size(), 0);
      continue;
    }
    fail_unless_equals_int(messages.size(), 3);
    constexpr GstStreamStatusType types[] = {
        GST_STREAM_STATUS_TYPE_CREATE, GST_STREAM_STATUS_TYPE_ENTER, GST_STREAM_STATUS_TYPE_LEAVE};
    for (std::size_t i = 0; i < 3; ++i) {
      const Status status = status_in(messages[i]);
      fail_unless_equals_int(status.type, types[i]);
      fail_unless(status.owner == filter.element());
      fail_unless(status.task == status_in(messages[0]).task);
    }
    fail_unless(entered.load() != std::this_thread::get_id());
  }
}

// The application's task pool provides no thread. The element needs the thread only once it gets
// caps, so it refuses the caps.
TEST(test_no_thread, .for_each_element()) {
  FilterHarness filter{{"frames-in-flight", "2"}};
  const Owned<GstTaskPool> pool(
      static_cast<GstTaskPool*>(g_object_new(empty_pool_get_type(), nullptr)));
  filter.messages().on_message([&](GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_STREAM_STATUS)
      gst_task_set_pool(status_in(message).task, pool);
  });
  const std::string caps = caps_of(gray(), 32, 16);
  bool accepted = true;
  ASSERT_WARNING(accepted = filter.send_caps(caps));  // GstTask warns
  fail_unless(!accepted);
  filter.messages().expect_one(GST_MESSAGE_ERROR,
                               {"The system cannot start another thread", "frames-in-flight=1"});
  filter.messages().on_message(nullptr);
  filter.restart(GST_STATE_NULL);
  fail_unless(filter.send_caps(caps));
}
