// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/noise/state.h"
#include "gst/base/devicemessages.h"

namespace cudavision {

/// Posts messages with the measured noise. gstcudadenoise.cpp documents the message.
class NoiseMessages final : public DeviceMessages {
 public:
  using DeviceMessages::DeviceMessages;
  using DeviceMessages::reserve;

  /// Enqueues the download of the states. Call reserve() first. Needs the session's context.
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
