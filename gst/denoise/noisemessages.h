// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/noise/state.h"
#include "gst/base/devicemessages.h"

namespace cudavision {

/// Reads the noise of frames back from the device, and posts it.
///
/// The message's structure is named "cudadenoise" and has the fields
///   timestamp, stream-time, running-time, duration (guint64, as in the level element),
///   noise (GST_TYPE_ARRAY of double): standard deviations of the noise, in levels of 8 bits,
///     in this frame or in the last frame where they could be measured,
///   noise-used (GST_TYPE_ARRAY of double): the deviations for an automatic strength,
///   strength (GST_TYPE_ARRAY of double): the strengths used for the frame,
///   uncertain (GST_TYPE_ARRAY of boolean): true if `noise` may be texture.
/// Arrays have an element for each of Y, U and V, or of R, G and B.
class NoiseMessages final : public DeviceMessages {
 public:
  using DeviceMessages::DeviceMessages;
  using DeviceMessages::reserve;

  /// Enqueues the read-back of all channels' states. In the session's context, after reserve().
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
