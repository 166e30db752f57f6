// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "gst/base/devicesession.h"
#include "gst/base/frameinfo.h"

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
class HistogramMessages {
 public:
  /// The constructor and the destructor are called in the session's context.
  HistogramMessages(GstElement* element, const DeviceSession& session, const char* name, int bits);

  // The next three post messages, so no context may be current.
  /// Frees a slot for a histogram. If all are pending, waits for the oldest and posts it.
  void reserve();
  /// Posts the histograms that have arrived on the host.
  void post_arrived();
  /// Waits for all pending histograms and posts them.
  void drain();

  // The next two are called in the session's context, after reserve().
  /// Returns the memory on the device for the next histogram.
  View<std::uint32_t> bins() const;
  /// Enqueues the read-back, once the work that fills bins() is enqueued. status is that of the
  /// frame's average, or nullptr if it has none. After another average than that of the last
  /// message with one, a message tells only of a scene cut at its own frame.
  void read_back(const FrameTimes& times, const histogramaverage::Status* status);

  /// Drops the pending histograms.
  void discard() {
    pending_ = 0;
    counted_ = nullptr;
  }

 private:
  struct Slot {
    Buffer device;
    Buffer host;
    Buffer host_status;
    const histogramaverage::Status* status = nullptr;  ///< on the device; tells averages apart
    std::unique_ptr<Event> arrived;
    FrameTimes times;
  };
  static constexpr std::size_t slot_count = 4;

  std::size_t bin_count() const { return std::size_t{1} << bits_; }
  Slot& oldest() { return slots_[(next_ + slot_count - pending_) % slot_count]; }
  void download(const void* device, const Buffer& host) const;
  bool oldest_arrived(bool wait);
  bool shows_cut(const Slot& slot);
  void post_oldest();

  GstElement* const element_;
  const DeviceSession& session_;
  const char* const name_;
  const int bits_;
  std::array<Slot, slot_count> slots_;
  std::size_t next_ = 0;
  std::size_t pending_ = 0;
  const histogramaverage::Status* counted_ = nullptr;  ///< whose cuts_ are known; none if discarded
  std::uint32_t cuts_ = 0;                             ///< before the last message
};

}  // namespace cudavision
