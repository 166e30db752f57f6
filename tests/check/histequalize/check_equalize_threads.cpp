// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the order and the sync handlers of cudahistequalize's messages if one thread counts pixels
// and another posts. The counts are made on the CPU, so there is no pending GPU work to wait for.
#include <atomic>
#include <future>
#include <thread>

#include "gst/base/devicesession.h"
#include "gst/histequalize/histogrammessages.h"
#include "tests/check/common/fakes/sessionelement.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"
#include "tests/check/common/waiting.h"

using namespace check;

namespace {

using cudavision::DeviceSession;
using cudavision::FrameTimes;
using cudavision::HistogramMessages;

/// Owns HistogramMessages, and records the messages that a sync handler gets.
class Posting {
 public:
  using Handler = std::function<void(guint64 timestamp)>;

  explicit Posting(const Handler& handler)
      : handler_(handler), element_(new_element_with_session()), bus_(gst_bus_new()) {
    gst_bus_set_sync_handler(bus_, on_message, this, nullptr);
    gst_element_set_bus(element_, bus_);
    session_.start();
  }
  ~Posting() {
    messages_.release();
    gst_element_set_bus(element_, nullptr);
    gst_bus_set_sync_handler(bus_, nullptr, nullptr, nullptr);
  }

  HistogramMessages& messages() { return messages_; }

  /// Adds the histogram of a one-pixel frame, whose luminance is the low byte of its timestamp.
  void count(guint64 timestamp) {
    messages_.reserve(8);
    const cudavision::View<std::uint32_t> bins = messages_.bins();
    std::fill_n(bins.data, bins.width, 0u);
    bins.data[timestamp % 256] = 1;
    FrameTimes times;
    times.timestamp = timestamp;
    messages_.read_back(times, nullptr);
  }

  std::vector<guint64> posted() {
    const std::lock_guard lock(mutex_);
    return posted_;
  }

 private:
  static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer self) {
    auto* posting = static_cast<Posting*>(self);
    guint64 timestamp = 0;
    gdouble mean = -1;
    fail_unless(gst_structure_get(gst_message_get_structure(message), "timestamp", G_TYPE_UINT64,
                                  &timestamp, "mean", G_TYPE_DOUBLE, &mean, nullptr));
    fail_unless_equals_float(mean, static_cast<double>(timestamp % 256));
    posting->handler_(timestamp);
    const std::lock_guard lock(posting->mutex_);
    posting->posted_.push_back(timestamp);
    gst_message_unref(message);
    return GST_BUS_DROP;
  }

  const Handler handler_;
  const Owned<GstElement> element_;
  const Owned<GstBus> bus_;
  const cudavision::DeviceSettings settings_{.backend = cudavision::DeviceSettings::Backend::cpu};
  DeviceSession session_{element_, settings_};
  HistogramMessages messages_{element_, session_};
  std::mutex mutex_;
  std::vector<guint64> posted_;
};

std::vector<guint64> timestamps(guint64 count) {
  std::vector<guint64> all(count);
  for (guint64 i = 0; i < count; ++i)
    all[i] = i;
  return all;
}

}  // namespace

TEST(test_order) {
  constexpr guint64 frames = 5000;
  Posting posting([](guint64 timestamp) {
    if (timestamp % 7 == 0)
      std::this_thread::yield();
  });
  std::atomic<bool> ended{false};
  std::thread other([&] {
    while (!ended)
      posting.messages().post_arrived();
  });
  for (guint64 i = 0; i < frames; ++i) {
    posting.count(i);
    if (i % 3 == 0)
      posting.messages().post_arrived();
  }
  posting.messages().drain();
  const std::vector<guint64> posted = posting.posted();
  ended = true;
  other.join();
  fail_unless(posted == timestamps(frames), "%zu messages", posted.size());
}

// While a handler waits for the streaming thread, that thread continues counting.
TEST(test_handler_that_waits) {
  std::promise<void> waiting, counted;
  Posting posting([&](guint64 timestamp) {
    if (timestamp != 0)
      return;
    waiting.set_value();
    counted.get_future().wait();
  });
  posting.count(0);
  std::thread other([&] { posting.messages().post_arrived(); });
  waiting.get_future().wait();
  for (guint64 i = 1; i < 20; ++i)
    posting.count(i);
  counted.set_value();
  posting.messages().drain();
  fail_unless(posting.posted() == timestamps(20));
  other.join();
}

// An event such as EOS must not overtake a message that another thread is posting.
TEST(test_drain_waits_for_the_other_thread) {
  std::promise<void> posting_now;
  Posting posting([&](guint64) {
    posting_now.set_value();
    let_time_pass(50);  // drain() must not return meanwhile
  });
  posting.count(0);
  std::thread other([&] { posting.messages().post_arrived(); });
  posting_now.get_future().wait();
  posting.messages().drain();
  fail_unless(posting.posted() == timestamps(1));
  other.join();
}

TEST(test_handler_that_flushes) {
  Posting* posted = nullptr;
  Posting posting([&](guint64) { posted->messages().discard(); });
  posted = &posting;
  for (guint64 i = 0; i < 3; ++i)
    posting.count(i);
  posting.messages().drain();
  fail_unless(posting.posted() == timestamps(1));
}

// A handler may drain the messages itself, for example if it sends EOS.
TEST(test_handler_that_drains) {
  Posting* posted = nullptr;
  std::vector<guint64> begun;
  Posting posting([&](guint64 timestamp) {
    begun.push_back(timestamp);
    posted->messages().drain();
  });
  posted = &posting;
  for (guint64 i = 0; i < 3; ++i)
    posting.count(i);
  posting.messages().post_arrived();
  fail_unless(begun == timestamps(3));
}
