// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>

#include "cuda/sgm/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/base/devicesession.h"
#include "gst/memory/framemapper.h"
#include "gst/sgmstereo/packedframes.h"
#include "gst/sgmstereo/pairsnapshot.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// The operations behind cudasgmstereo for frames of known formats: maps the buffers of a pair and
/// of the output, and computes the output. All calls are made in the session's context.
class StereoWork {
 public:
  /// right is ignored if frames are packed.
  StereoWork(const DeviceSession& session, const FrameFormat& left, const FrameFormat& right,
             const FramePacking& packing, const FrameFormat& out, const StereoSettings& settings);

  /// Applies settings without a validation_error(). Never allocates.
  void apply(const StereoSettings& settings);

  /// right is nullptr if frames are packed. out is complete when this returns, and so is
  /// snapshot(), if the pair is to be inspected.
  void run(GstBuffer* left, GstBuffer* right, GstBuffer* out, bool inspect);

  /// Returns the last pair that was to be inspected; there must have been one.
  PairSnapshot& snapshot() { return *snapshot_; }
  /// Returns the settings in force.
  const StereoSettings& settings() const { return settings_; }

 private:
  void compute(const ConstFrame& left, const ConstFrame& right, const Frame& out, bool inspect);

  Device& device_;
  const FramePacking packing_;
  const StereoOutput output_;
  StereoSettings settings_;
  sgm::PictureParameters picture_parameters_;

  FrameMapper left_;
  std::optional<FrameMapper> right_;
  FrameMapper out_;
  sgm::SgmStereo stereo_;
  std::unique_ptr<sgm::DisparityPicture> picture_;  ///< unless the output is the map itself
  Buffer memory_;
  View<std::uint8_t> map_;  ///< disparities, in memory_, unless they go straight to the output
  std::optional<PairSnapshot> snapshot_;  ///< made for the first pair that is inspected
};

}  // namespace cudavision
