// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <mutex>

namespace cudavision {

/// The stream of a sink pad that nothing is linked to. A GstAggregator waits for each of its pads;
/// where a pad is not needed, somebody has to tell it that nothing will come. All calls but reset()
/// come from the streaming thread of the pad whose events they follow.
class UnlinkedStream {
 public:
  explicit UnlinkedStream(GstPad* pad) : pad_(pad) {}

  /// The element starts: no stream yet.
  void reset() noexcept;
  /// Makes sure that the pad has a stream and is at its end. segment: the other pad's SEGMENT
  /// event, whose seqnum is to go downstream with the next EOS; nullptr where there was none.
  void end(GstEvent* segment);
  /// The pad is needed again: no longer at its end.
  void go_on();
  /// Hands the pad a FLUSH_START or FLUSH_STOP of the other one; the aggregator waits for both.
  void flush(GstEvent* event);

 private:
  void start();

  GstPad* const pad_;
  bool started_ = false;
  bool ended_ = false;
};

/// Warns of a pad that frames are waiting for although nothing is linked to it, once after 5 s.
class LinkAlarm {
 public:
  ~LinkAlarm() { cancel(); }
  /// Nothing where it is set already.
  void set(GstPad* pad);
  void cancel();

 private:
  std::mutex mutex_;
  GstClockID id_ = nullptr;
};

}  // namespace cudavision
