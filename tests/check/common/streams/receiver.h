// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/check/common/filterharness.h"

namespace check {

/// Frame n of these tests has the timestamp n · frame_duration.
constexpr GstClockTime frame_duration = 40 * GST_MSECOND;

/// Records a filter's output and can hold frames back. The destructor stops the filter.
class Receiver {
 public:
  explicit Receiver(FilterHarness& filter);
  ~Receiver();

  void close();
  void open();
  /// Sets the time that each push to the receiver takes.
  void set_delay(gulong microseconds);
  /// Sets the flow return for a frame.
  void answer(guint64 number, GstFlowReturn flow);
  using Look = std::function<void(const std::string& what)>;
  void on_arrival(Look look);
  void keep_no_frames();

  /// stop() and start() together act like an element that goes to READY and back.
  void stop();
  void start();

  /// Returns the arrivals in order, such as "stream-start caps allocation segment 0 1 eos". A frame
  /// without a timestamp is "-".
  std::string arrivals();
  std::size_t frame_count();
  bool holds_frame();
  std::vector<Owned<GstBuffer>> take_frames();
  void forget();

 private:
  GstFlowReturn receive(Owned<GstBuffer> buffer);
  void note(const std::string& what);
  void set_flushing(bool flushing);

  FilterHarness& filter_;
  gulong probe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false, flushing_ = false, keeps_frames_ = true, holds_frame_ = false;
  gulong delay_ = 0;
  std::map<guint64, GstFlowReturn> answers_;
  Look look_;
  std::string arrivals_;
  std::size_t frame_count_ = 0;
  std::vector<Owned<GstBuffer>> frames_;
};

/// Pushes `count` numbered frames from its own thread. Stops early if a push does not return OK.
class Feeder {
 public:
  using MakeFrame = std::function<GstBuffer*(guint64 number)>;
  Feeder(FilterHarness& filter, guint64 first, guint64 count, const MakeFrame& make_frame);
  ~Feeder() { finish(); }

  guint64 pushed() const { return pushed_; }
  std::thread::id thread() const { return id_; }
  /// Waits until the thread is blocked in a push.
  void wait_until_blocked() const { check::wait_until_blocked(kernel_id_.get()); }
  bool ended() const { return ended_; }
  /// Waits for the last push. Returns its flow return.
  GstFlowReturn finish();

 private:
  std::atomic<guint64> pushed_{0};
  std::atomic<GstFlowReturn> flow_{GST_FLOW_OK};
  std::atomic<bool> ended_{false};
  std::promise<pid_t> kernel_id_promise_;
  const std::shared_future<pid_t> kernel_id_{kernel_id_promise_.get_future()};
  std::thread thread_;
  const std::thread::id id_{thread_.get_id()};
};

}  // namespace check
