// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/pictures/random.h"

namespace fuzz {

/// A source: a thread that sends good and hostile frames, events and queries, and follows seeks.
class Upstream : private check::Random {
 public:
  /// All sources send mostly the same frame size, as pairs need. `errors` counts ERROR messages.
  Upstream(unsigned seed, check::BufferCount& buffers, GstElement* element, const char* pad,
           const std::atomic<unsigned>& errors);
  ~Upstream();

  /// Begins a stream after the element has started. `live`: the source is live.
  void start(bool live);
  /// Ends the thread, with a flush. The element may be in any state.
  void stop();

  /// Waits until the thread has left the element, and keeps it outside while the lock is held. The
  /// element's pad must already refuse all data.
  std::unique_lock<std::recursive_mutex> hold();
  /// The next item sent begins a new stream. Call this while the thread is held.
  void begin_again() { begun_ = false; }

  bool relink();

 private:
  static gboolean handle_event(GstPad* pad, GstObject*, GstEvent* event);
  static gboolean handle_query(GstPad* pad, GstObject* parent, GstQuery* query);

  void run();
  void seek(bool flush);
  void begin_stream();

  void good_frame();
  void hostile_frame();
  void new_caps();
  void new_segment();
  void gap();
  void tags();
  void custom_event();
  bool may_query() const;
  void allocation_query();
  void take_pool(GstQuery* query);
  void leave_pool();
  void drain_query();
  void custom_query();
  void end();
  void rest();

  GstBuffer* new_frame();
  GstBuffer* pooled_frame();
  void push(GstBuffer* buffer);
  void expect_error_message(GstFlowReturn flow);

  check::BufferCount& buffers_;
  const check::Owned<GstElement> element_;
  const check::Owned<GstPad> sink_;
  const check::Owned<GstPad> pad_;
  const std::atomic<unsigned>& errors_;
  bool accepts_ = true;               ///< a frame was accepted since the last failed frame
  unsigned errors_before_ = 0;        ///< number of errors before the frame that set accepts_
  check::Owned<GstBufferPool> pool_;  ///< pool that the element offers; nullptr if none is in use
  std::atomic<bool> stopping_{false}, live_{false}, begun_{false}, in_segment_{false};
  std::recursive_mutex stream_;  ///< held while the thread may be inside the element
  std::atomic<int> waiting_{0};  ///< number of threads that wait for stream_; they have precedence
  std::atomic<bool> hostile_{false};  ///< some buffers and CAPS answers are invalid
  check::Owned<GstCaps> caps_;
  GstVideoInfo info_;
  GstClockTime time_ = 0;
  std::thread thread_;
};

}  // namespace fuzz
