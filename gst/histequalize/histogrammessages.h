// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>

#include "cuda/core/frame.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/noise/state.h"
#include "gst/base/devicemessages.h"

namespace cudavision {

/// The measured noise of a frame's channels, on the device, and which of the channels make up the
/// luminance. Nothing has been measured if states is nullptr.
struct LuminanceNoise {
  const noise::State* states = nullptr;
  std::array<bool, FrameLayout::max_channels> counted{};
};

/// Carries luminance histograms from the device to the bus.
///
/// The structure of the element message is named "cudahistequalize" and has the fields
///   timestamp, stream-time, running-time, duration (guint64, as in the level element),
///   mean, stddev, entropy (double; the last in bits), minimum, maximum (guint),
///   percentile-1, percentile-5, percentile-50, percentile-95, percentile-99 (guint: the smallest
///   value that at least this percentage of the pixels does not exceed),
///   scene-cut (boolean: an average over time has begun anew at a scene cut, with this frame or one
///   since the last message),
///   noise (double; only if the frame tells it): standard deviation of the noise of the luminance,
///   in levels of 8 bits; of RGB, the root of the mean of the variances of red, green and blue,
///   bin-count (guint: the number of possible luminances, 2^bits),
///   bins (G_TYPE_BYTES: bin-count guint64 in native byte order, how often each luminance occurs).
class HistogramMessages final : public DeviceMessages {
 public:
  using DeviceMessages::DeviceMessages;

  /// Frees a slot for a histogram of 2^bits bins. If all are pending, waits for the oldest and
  /// posts it, so no context may be current. bits may differ from the last call's only after
  /// release().
  void reserve(int bits);

  // The next two are called in the session's context, after reserve().
  /// Returns the memory on the device for the next histogram.
  View<std::uint32_t> bins() const;
  /// Enqueues the read-back, once the work that fills bins() is enqueued. status is that of the
  /// frame's average, or nullptr if it has none. After another average than that of the last
  /// message with one, a message tells only of a scene cut at its own frame.
  void read_back(const FrameTimes& times, const histogramaverage::Status* status,
                 const LuminanceNoise& noise = {});

 private:
  struct Slot {
    Buffer device;
    Buffer host;
    Buffer host_status, host_noise;
    const histogramaverage::Status* status = nullptr;  ///< on the device; tells averages apart
    LuminanceNoise noise;
  };

  void allocate() override;
  void free_slots() override { slots_ = {}; }
  Structure describe(std::size_t slot, const FrameTimes& times) override;
  void discarded() override { counted_ = nullptr; }
  bool shows_cut(const Slot& slot);

  int bits_ = 8;
  std::array<Slot, slot_count> slots_;

  // Under the mutex of DeviceMessages.
  const histogramaverage::Status* counted_ = nullptr;  ///< whose cuts_ are known; none if discarded
  std::uint32_t cuts_ = 0;                             ///< before the last message
};

}  // namespace cudavision
