// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>

#include "cuda/core/frame.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/noise/state.h"
#include "gst/base/devicemessages.h"

namespace cudavision {

/// Noise of the channels on the device (nullptr: not measured); channels that form the luminance.
struct LuminanceNoise {
  const noise::State* states = nullptr;
  std::array<bool, FrameLayout::max_channels> counted{};
};

/// Reads luminance histograms back from the device, and posts them.
///
/// The message's structure is named "cudahistequalize" and has the fields
///   timestamp, stream-time, running-time, duration (guint64, as in the level element),
///   mean, stddev (double), entropy (double, in bits), minimum, maximum (guint),
///   percentile-1, percentile-5, percentile-50, percentile-95, percentile-99 (guint: the smallest
///     value that at least this percentage of the pixels does not exceed),
///   scene-cut (boolean: since the last message, an average over time restarted at a scene cut),
///   noise (double; only if measured): standard deviation of the luminance noise, in levels of
///     8 bits; for RGB, the root of the mean variance of red, green and blue,
///   bin-count (guint: the number of possible luminances, 2^bits),
///   bins (G_TYPE_BYTES: bin-count guint64 in native byte order, the count of each luminance).
class HistogramMessages final : public DeviceMessages {
 public:
  using DeviceMessages::DeviceMessages;

  /// Frees a slot for 2^bits bins. If all are pending, waits for the oldest and posts it, so no
  /// context may be current. Only after release() may bits change.
  void reserve(int bits);

  // Call the next two in the session's context, after reserve().
  /// Returns memory on the device for the next histogram.
  View<std::uint32_t> bins() const;
  /// Enqueues the read-back. Enqueue the work that fills bins() first. status is the average's, or
  /// nullptr. If it differs from the last message's, earlier scene cuts are ignored.
  void read_back(const FrameTimes& times, const histogramaverage::Status* status,
                 const LuminanceNoise& noise = {});

 private:
  struct Slot {
    Buffer device;
    Buffer host;
    Buffer host_status, host_noise;
    const histogramaverage::Status* status = nullptr;  ///< on the device; identifies the average
    LuminanceNoise noise;
  };

  void allocate() override;
  void free_slots() override { slots_ = {}; }
  Structure describe(std::size_t slot, const FrameTimes& times) override;
  void discarded() override { counted_ = nullptr; }
  bool shows_cut(const Slot& slot);

  int bits_ = 8;
  std::array<Slot, slot_count> slots_;

  // Under the mutex of DeviceMessages:
  const histogramaverage::Status* counted_ = nullptr;  ///< cuts_ is this average's
  std::uint32_t cuts_ = 0;                             ///< at the last message
};

}  // namespace cudavision
