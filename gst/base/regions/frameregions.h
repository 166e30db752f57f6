// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/regions/regionblend.h"
#include "gst/base/devicesession.h"
#include "gst/base/regions/framemasks.h"
#include "gst/base/regions/regionfinder.h"
#include "gst/core/frameinfo.h"
#include "gst/memory/deviceframe.h"

namespace cudavision {

/// Limits an operation to regions of its frames. Memory is allocated when a frame needs it. All
/// calls, including the destructor, need the session's context.
class FrameRegions {
 public:
  FrameRegions(const DeviceSession& session, const FrameLayout& layout,
               const RegionSettings& settings, RegionFinder& finder)
      : device_(session.device()),
        context_(session.context()),
        layout_(layout),
        settings_(settings),
        finder_(finder) {}

  /// Takes effect with the next frame.
  void set_settings(const RegionSettings& settings) { settings_ = settings; }

  /// Finds the regions of a frame, and enqueues the computation of the distances from its masks.
  /// Returns false if no pixel is selected. Throws ElementError if there are too many regions, or
  /// if a mask cannot be read.
  bool select(const FrameInfo& frame) {
    finder_.find(frame, settings_, parameters_);
    limited_ = parameters_.count > 0 || parameters_.mask_count > 0;
    distances_ = {};
    if (!limited_)
      return parameters_.invert;
    if (blend_)
      blend_->set_parameters(parameters_);
    else
      blend_.emplace(device_, layout_, parameters_);
    if (blend_->identity())
      return false;
    if (parameters_.mask_count > 0) {
      if (!masks_) {
        masks_.emplace(device_, context_);
        mask_distances_.emplace(device_, layout_.width, layout_.height);
      }
      masks_->run(finder_.masks(), FrameMasks::Unreadable::refuse,
                  [&](std::span<const regions::Mask> masks) {
                    mask_distances_->run(masks, parameters_.mask_radius());
                  });
      distances_ = mask_distances_->distances();
    }
    return true;
  }

  /// Returns the regions of the frame. If there are none, `invert` selects the whole frame.
  const regions::Parameters& parameters() const noexcept { return parameters_; }
  /// Returns the distances from the masks of the frame, or an empty view without masks.
  View<const std::uint8_t> distances() const noexcept { return distances_; }

  /// Processes the selected frame. process(in, out, active) runs the operation. Its result is
  /// needed only in the active cells or, if active is nullptr, everywhere.
  template <class Process>
  void run(const ConstFrame& in, const Frame& out, const Process& process) {
    if (!limited_) {
      process(in, out, static_cast<const regions::ActiveCells*>(nullptr));
      return;
    }
    const Frame& processed = processed_.allocated(device_, layout_);
    process(in, processed, blend_->active());
    blend_->run(in, processed, out, distances_);
  }

 private:
  Device& device_;
  const CudaContext context_;
  const FrameLayout layout_;
  RegionSettings settings_;
  RegionFinder& finder_;
  regions::Parameters parameters_;  // regions of the current frame
  bool limited_ = false;            // the frame is not processed as a whole
  std::optional<regions::RegionBlend> blend_;
  std::optional<FrameMasks> masks_;
  std::optional<regions::MaskDistances> mask_distances_;
  View<const std::uint8_t> distances_;
  DeviceFrame processed_;
};

}  // namespace cudavision
