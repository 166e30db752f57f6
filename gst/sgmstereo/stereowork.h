// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>

#include "cuda/sgm/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/base/devicesession.h"
#include "gst/memory/framemapper.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/rectifier.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// The operations behind cudasgmstereo for frames of known formats: maps the buffers of a pair and
/// of the output, and computes the output. All calls are made in the session's context.
class StereoWork {
 public:
  /// right is ignored if frames are packed. Without a rectification, frames count as rectified.
  StereoWork(const DeviceSession& session, const FrameFormat& left, const FrameFormat& right,
             const FramePacking& packing, const FrameFormat& out, const StereoSettings& settings,
             const std::optional<Rectification>& rectification);

  /// Applies settings without a validation_error(). Never allocates.
  void apply(const StereoSettings& settings);

  /// The next pair does not continue those before; see sgm::SgmStereo::restart().
  void restart() noexcept { stereo_.restart(); }

  /// right is nullptr if frames are packed. out is complete when this returns.
  void run(GstBuffer* left, GstBuffer* right, GstBuffer* out);

 private:
  void compute(const ConstFrame& left, const ConstFrame& right, const Frame& out);
  void match(const ConstFrame& left, const ConstFrame& right, const Frame& out);

  Device& device_;
  const FramePacking packing_;
  const StereoOutput output_;
  sgm::Parameters sgm_parameters_;
  sgm::PictureParameters picture_parameters_;
  Colormap colormap_;

  FrameMapper left_;
  std::optional<FrameMapper> right_;
  FrameMapper out_;
  std::optional<Rectifier> left_rectifier_, right_rectifier_;  ///< both or neither
  sgm::SgmStereo stereo_;
  std::unique_ptr<sgm::DisparityPicture> picture_;  ///< unless the output is the map itself
  Buffer memory_;
  View<std::uint8_t> map_;  ///< disparities, in memory_, unless they go straight to the output
};

}  // namespace cudavision
