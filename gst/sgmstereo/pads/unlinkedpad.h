// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <mutex>

namespace cudavision {

/// Sends events to an unlinked sink pad, because GstAggregator waits for data or EOS on each pad.
/// Use it in the streaming thread of the other sink pad, except reset().
class UnlinkedStream {
 public:
  explicit UnlinkedStream(GstPad* pad) : pad_(pad) {}

  /// Call this when the element starts or stops.
  void reset() noexcept { started_ = ended_ = false; }
  /// Sends EOS, after STREAM_START and SEGMENT if necessary. `segment` is the other pad's SEGMENT
  /// event or nullptr. EOS gets its seqnum.
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
    waiting,  ///< for a warning that frames wait for partners or a push blocks; once until cancel()
    ended,    ///< for an error if the other camera has ended and its frames still wait
  };

  /// `report` gets the pad as user data.
  PadAlarm(Kind kind, GstClockCallback report) : kind_(kind), report_(report) {}
  ~PadAlarm() { cancel(); }
  /// If the alarm is already set, restarts the 5 s of Kind::ended, but not of Kind::waiting.
  void set(GstPad* pad);
  void cancel();

 private:
  void forget();

  const Kind kind_;
  const GstClockCallback report_;
  std::mutex mutex_;
  GstClockID id_ = nullptr;
};

/// For packed frames on sink_left. Throws ElementError if sink_right is linked.
void require_unlinked(GstPad* sink_right);

}  // namespace cudavision
