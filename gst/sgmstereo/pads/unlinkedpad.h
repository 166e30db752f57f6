// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <mutex>

namespace cudavision {

/// Sends events to an unlinked sink pad, because GstAggregator waits for data or EOS on each pad.
/// Call end() and resume() only in the streaming thread of the other sink pad.
class UnlinkedStream {
 public:
  explicit UnlinkedStream(GstPad* pad) : pad_(pad) {}

  /// Call this when the element starts or stops.
  void reset() noexcept { started_ = ended_ = false; }
  /// Ends the stream unless it has ended: sends STREAM_START if necessary, `segment`, and EOS with
  /// its seqnum. `segment` is the other pad's SEGMENT event, or nullptr for a default segment.
  void end(GstEvent* segment);
  /// Starts a new stream if the pad is at EOS.
  void resume();
  /// Repeats the other pad's FLUSH_START or FLUSH_STOP, because GstAggregator waits for both pads.
  void flush(GstEvent* event);

 private:
  void start();

  GstPad* const pad_;
  bool started_ = false;
  bool ended_ = false;
};

/// Calls a function 5 s after set(), unless cancel() is called earlier.
class PadAlarm {
 public:
  enum class Kind {
    waiting,  ///< warns that frames wait for partners or that a push blocks
    ended,    ///< reports an error if the other camera has ended, but its frames still wait
  };

  /// `report` gets the pad as user data.
  PadAlarm(Kind kind, GstClockCallback report) : kind_(kind), report_(report) {}
  ~PadAlarm() { cancel(); }
  /// Starts the timeout. A running timeout is restarted for Kind::ended, but not for Kind::waiting.
  void set(GstPad* pad);
  void cancel();

 private:
  void forget();

  const Kind kind_;
  const GstClockCallback report_;
  std::mutex mutex_;
  GstClockID id_ = nullptr;
};

/// Call this for packed frames on sink_left. Throws ElementError if sink_right is linked.
void require_unlinked(GstPad* sink_right);

}  // namespace cudavision
