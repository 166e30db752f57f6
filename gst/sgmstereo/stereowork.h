// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>

#include "cuda/sgm/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/base/devicesession.h"
#include "gst/memory/framemapper.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// The operation behind cudasgmstereo, for frames whose formats are known: from the buffers of a
/// pair to the buffer of what comes out. All calls are in the session's context.
class StereoWork {
 public:
  /// right: not looked at where frames are packed.
  StereoWork(const DeviceSession& session, const FrameFormat& left, const FrameFormat& right,
             const FramePacking& packing, const FrameFormat& out, const StereoSettings& settings);

  /// Takes over settings that validation_error() has nothing against. Never allocates.
  void apply(const StereoSettings& settings);

  /// right: nullptr where frames are packed. out is complete when this returns.
  void run(GstBuffer* left, GstBuffer* right, GstBuffer* out);

 private:
  void compute(const ConstFrame& left, const ConstFrame& right, const Frame& out);

  Device& device_;
  const FramePacking packing_;
  const StereoOutput output_;
  sgm::Parameters sgm_parameters_;
  sgm::PictureParameters picture_parameters_;
  Colormap colormap_;

  FrameMapper left_;
  std::optional<FrameMapper> right_;
  FrameMapper out_;
  sgm::SgmStereo stereo_;
  std::unique_ptr<sgm::DisparityPicture> picture_;  ///< where the map itself is not what comes out
  Buffer memory_;
  View<std::uint8_t> map_;  ///< of disparities, in memory_
};

}  // namespace cudavision
