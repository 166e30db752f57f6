// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>

#include "cuda/core/frame.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/noise/state.h"
#include "gst/base/devicemessages.h"

namespace cudavision {

struct LuminanceNoise {
  const noise::State* states = nullptr;  ///< per channel, in device memory; nullptr if unknown
  std::array<bool, FrameLayout::max_channels> counted{};  ///< true for channels of the luminance
};

/// Posts luminance histograms. gstcudahistequalize.cpp documents the message.
class HistogramMessages final : public DeviceMessages {
 public:
  using DeviceMessages::DeviceMessages;

  /// See DeviceMessages::reserve(). A slot has 2^bits bins; bits may change only after release().
  void reserve(int bits);

  // Call the next two functions in the session's context, after reserve().
  /// Returns device memory for the next histogram.
  View<std::uint32_t> bins() const;
  /// Enqueues the downloads. Enqueue the work that fills bins() first. `status` is the average's
  /// status, or nullptr. If it is of another average than before, ignores earlier scene cuts.
  void read_back(const FrameTimes& times, const histogramaverage::Status* status,
                 const LuminanceNoise& noise = {});

 private:
  struct Slot {
    Buffer device;
    Buffer host;
    Buffer host_status, host_noise;
    const histogramaverage::Status* status = nullptr;  ///< in device memory; identifies the average
    LuminanceNoise noise;
  };

  void allocate() override;
  void free_slots() override { slots_ = {}; }
  Structure describe(std::size_t slot, const FrameTimes& times) override;
  void discarded() override { average_ = nullptr; }
  bool shows_cut(const Slot& slot);

  int bits_ = 8;
  std::array<Slot, slot_count> slots_;

  // The mutex of DeviceMessages guards the next two members.
  const histogramaverage::Status* average_ = nullptr;  ///< the average that cuts_ belongs to
  std::uint32_t cuts_ = 0;                             ///< Status::cuts at the last message
};

}  // namespace cudavision
