// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "gst/base/devicesession.h"
#include "gst/core/frameinfo.h"
#include "gst/core/scoped.h"

namespace cudavision {

/// Selects the frames for which a message is posted: the first one, then the first one of each
/// further interval of running time, without drift. A frame without a running time is always
/// selected.
class FrameInterval {
 public:
  bool selects(GstClockTime running_time, GstClockTime interval);
  void reset() { base_ = next_ = GST_CLOCK_TIME_NONE; }

 private:
  GstClockTime base_ = GST_CLOCK_TIME_NONE;  ///< running time of the first selected frame
  GstClockTime last_ = 0;
  GstClockTime next_ = GST_CLOCK_TIME_NONE;
  GstClockTime interval_ = 0;
};

/// Carries luminance histograms from the device to the bus. A histogram is read back after the
/// frame's other work, without waiting for it, so several may be pending. They are posted in the
/// order of the frames.
///
/// The structure of the element message has the given name and the fields
///   timestamp, stream-time, running-time, duration (guint64, as in the level element),
///   mean, stddev, entropy (double; the last in bits), minimum, maximum (guint),
///   percentile-1, percentile-5, percentile-50, percentile-95, percentile-99 (guint: the smallest
///   value that at least this percentage of the pixels does not exceed),
///   scene-cut (boolean: an average over time has begun anew at a scene cut, with this frame or one
///   since the last message),
///   bin-count (guint: the number of possible luminances, 2^bits),
///   bins (G_TYPE_BYTES: bin-count guint64 in native byte order, how often each luminance occurs).
///
/// Threads. All calls come from the streaming thread, or while there is none, except for
/// post_arrived() and discard(), which any thread may call at any time. One mutex guards what they
/// share. It is not held while a thread waits for the device, and not while a message is posted:
/// bus sync handlers then run in the posting thread, and may call the element, for example by a
/// flushing seek that ends in discard(), or wait for a thread that needs the mutex. The order of
/// the messages does not depend on it, because only one thread posts at a time. Others leave their
/// messages to that thread and go on, so that a slow handler does not stop them; only drain() waits
/// for it.
class HistogramMessages {
 public:
  /// name must be static.
  HistogramMessages(GstElement* element, const DeviceSession& session, const char* name);

  // The next three post messages, so no context may be current.
  /// Frees a slot for a histogram of 2^bits bins. If all are pending, waits for the oldest and
  /// posts it. The first call after release() allocates the slots; bits may differ then only.
  void reserve(int bits);
  /// Posts the histograms that have arrived on the host. May be called by any thread.
  void post_arrived();
  /// Waits for all pending histograms and posts them. Returns when no other thread is posting any
  /// more.
  void drain();

  // The next two are called in the session's context, after reserve().
  /// Returns the memory on the device for the next histogram.
  View<std::uint32_t> bins() const;
  /// Enqueues the read-back, once the work that fills bins() is enqueued. status is that of the
  /// frame's average, or nullptr if it has none. After another average than that of the last
  /// message with one, a message tells only of a scene cut at its own frame.
  void read_back(const FrameTimes& times, const histogramaverage::Status* status);

  /// Drops the pending histograms. A message that another thread is posting still arrives. May be
  /// called by any thread.
  void discard();
  /// Does the same, and frees the slots. Called in the session's context.
  void release();

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Slot {
    Buffer device;
    Buffer host;
    Buffer host_status;
    const histogramaverage::Status* status = nullptr;  ///< on the device; tells averages apart
    std::unique_ptr<Event> arrived;
    FrameTimes times;
  };
  static constexpr std::size_t slot_count = 4;

  Slot& oldest() { return slots_[(next_ + slot_count - pending_) % slot_count]; }
  void allocate(int bits);
  void download(const void* device, const Buffer& host) const;
  void wait_for_oldest(Lock& lock);
  bool oldest_arrived();
  bool shows_cut(const Slot& slot);
  void describe_oldest();
  void post_arrived(Lock& lock);
  void post_described(Lock& lock);

  GstElement* const element_;
  const DeviceSession& session_;
  const char* const name_;

  // The streaming thread writes these two. Others read only the slots that are pending.
  std::array<Slot, slot_count> slots_;
  std::size_t next_ = 0;  ///< the slot of the next histogram

  std::mutex mutex_;  ///< guards what follows
  std::size_t pending_ = 0;
  std::vector<Structure> described_;  ///< oldest first; the next messages to be posted
  std::thread::id poster_;            ///< the thread that is posting, if there is one
  std::condition_variable posted_;    ///< signals that none is posting any more
  const histogramaverage::Status* counted_ = nullptr;  ///< whose cuts_ are known; none if discarded
  std::uint32_t cuts_ = 0;                             ///< before the last message
};

}  // namespace cudavision
