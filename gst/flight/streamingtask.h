// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <mutex>

#include "gst/core/scoped.h"

namespace cudavision {

/// A thread of an element for one of its source pads: a GstTask, as gst_pad_start_task() makes one.
/// Its STREAM_STATUS messages let applications choose its thread pool and its priority. Unlike the
/// task of a pad, it may be stopped in its own thread, for example by a probe on the pad.
class StreamingTask {
 public:
  explicit StreamingTask(GstPad* pad) : pad_(pad) {}
  StreamingTask(const StreamingTask&) = delete;
  StreamingTask& operator=(const StreamingTask&) = delete;

  /// Starts a thread that calls iterate() until that returns false. The thread may outlive this
  /// object if it is stopped in itself, so iterate() must own what it uses; it may use the pad.
  /// Throws ElementError.
  void start(std::function<bool()> iterate);

  struct Run;
  /// The thread of one start().
  struct Thread {
    std::shared_ptr<Run> run;
    ObjectPtr<GstTask> task;
  };
  /// Makes the current call of iterate() the last one. Returns the thread, for join().
  Thread request_stop() noexcept;
  /// Waits until the thread has ended, or lets it end by itself if this is called in it. Let
  /// iterate() return before. Several threads may join the same one.
  void join(const Thread& thread) noexcept;
  /// True in the thread.
  bool is_current() const noexcept;

 private:
  static void post_status(const Run& run, GstStreamStatusType type, GstTask* task);
  static void enter(GstTask* task, GThread* thread, gpointer run);
  static void leave(GstTask* task, GThread* thread, gpointer run);
  Thread current() const noexcept;

  GstPad* const pad_;
  mutable std::mutex mutex_;  ///< guards what follows
  Thread started_;
};

}  // namespace cudavision
