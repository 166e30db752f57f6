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
  /// Sends EOS, after STREAM_START and SEGMENT if necessary. segment is the other pad's SEGMENT
  /// event, whose seqnum the EOS takes, or nullptr.
  void end(GstEvent* segment);
  /// Starts a new stream if the pad is at EOS.
  void resume();
  /// Repeats the other pad's FLUSH_START or FLUSH_STOP; GstAggregator waits for both pads.
  void flush(GstEvent* event);

 private:
  void start();

  GstPad* const pad_;
  bool started_ = false;
  bool ended_ = false;
};

/// Calls a function 5 s after set(), unless cancel() is called before.
class PadAlarm {
 public:
  enum class Kind {
    waiting,  ///< frames wait for partners, or a push blocks: a warning, once until cancel()
    ended,    ///< the other camera has ended, and its frames still wait: an error
  };

  /// report gets the pad.
  PadAlarm(Kind kind, GstClockCallback report) : kind_(kind), report_(report) {}
  ~PadAlarm() { cancel(); }
  /// If the alarm is already set, postpones an error, but not a warning.
  void set(GstPad* pad);
  void cancel();

 private:
  void forget();

  const Kind kind_;
  const GstClockCallback report_;
  std::mutex mutex_;
  GstClockID id_ = nullptr;
};

/// Throws ElementError if the pad is linked. The frames on sink_left hold both pictures.
void require_unlinked(GstPad* sink_right);

}  // namespace cudavision
