// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <memory>

#include "cuda/core/device.h"
#include "gst/base/devicesession.h"
#include "gst/base/frameinfo.h"

namespace cudavision {

/// Which frames an interval of running time selects: the first one, then the first of each further
/// interval, without drift. A frame without a running time is always selected.
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

/// The way of luminance histograms from the device to the bus. A few of them may be under way; they
/// are read back behind the frame's other work, without waiting, and posted in the frames' order.
///
/// The structure of the element message has the name given here and the fields
///   timestamp, stream-time, running-time, duration (guint64, as the level element has them),
///   bins (GST_TYPE_ARRAY of guint64: how often each luminance occurs),
///   mean, stddev, entropy (double; the last in bits), minimum, maximum (guint),
///   percentile-1, percentile-5, percentile-50, percentile-95, percentile-99 (guint: the smallest
///   value that so many percent of the pixels do not exceed).
class HistogramMessages {
 public:
  /// In the session's context, like the destructor.
  HistogramMessages(GstElement* element, const DeviceSession& session, const char* name, int bits);

  // Without a current context, since they post:
  /// Makes sure that a histogram can be taken; waits for the oldest where all are under way.
  void reserve();
  /// Posts those that have arrived.
  void post_arrived();
  /// Waits for all and posts them.
  void drain();

  // In the session's context, after reserve():
  /// Where the next histogram goes, on the device.
  View<std::uint32_t> bins() const;
  /// The work that fills bins() is enqueued: reads them back.
  void take(const FrameTimes& times);

  /// Forgets those under way.
  void discard() { under_way_ = 0; }

 private:
  struct Slot {
    Buffer device;
    Buffer host;
    std::unique_ptr<Event> arrived;
    FrameTimes times;
  };
  static constexpr std::size_t slot_count = 4;

  std::size_t bin_count() const { return std::size_t{1} << bits_; }
  Slot& oldest() { return slots_[(next_ + slot_count - under_way_) % slot_count]; }
  bool oldest_arrived(bool wait);
  void post_oldest();

  GstElement* const element_;
  const DeviceSession& session_;
  const char* const name_;
  const int bits_;
  std::array<Slot, slot_count> slots_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace cudavision
