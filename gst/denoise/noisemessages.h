// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/noise/state.h"
#include "gst/base/devicemessages.h"

namespace cudavision {

/// Carries the noise of frames from the device to the bus.
///
/// The structure of the element message is named "cudadenoise" and has the fields
///   timestamp, stream-time, running-time, duration (guint64, as in the level element),
///   noise (GST_TYPE_ARRAY of double): standard deviations of the noise, in levels of 8 bits, as
///     this frame shows it, or the last one that told anything,
///   noise-used (likewise): those that an automatic strength follows,
///   strength (likewise): those with which the frame was denoised,
///   uncertain (GST_TYPE_ARRAY of boolean): whether too little of that frame was smooth, so that
///     `noise` may be texture.
/// Arrays have an element for each of Y, U and V, or of R, G and B.
class NoiseMessages final : public DeviceMessages {
 public:
  using DeviceMessages::DeviceMessages;
  using DeviceMessages::reserve;

  /// Enqueues the read-back of the states, which are those of the layout's channels on the device.
  /// Called in the session's context, after reserve().
  void read_back(const FrameTimes& times, const FrameLayout& layout,
                 const nlmeans::Parameters& parameters, const noise::State* states);

 private:
  struct Slot {
    Buffer host;
    FrameLayout layout;
    nlmeans::Parameters parameters;
  };

  void allocate() override;
  void free_slots() override { slots_ = {}; }
  Structure describe(std::size_t slot, const FrameTimes& times) override;

  std::array<Slot, slot_count> slots_;
};

}  // namespace cudavision
