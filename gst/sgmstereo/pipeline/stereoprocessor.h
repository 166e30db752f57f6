// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>

#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/points/points.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/base/devicesession.h"
#include "gst/flight/frameslotpool.h"
#include "gst/sgmstereo/detections/detectiondistances.h"
#include "gst/sgmstereo/outputs/rectifiedpicture.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/pipeline/pairsnapshot.h"
#include "gst/sgmstereo/rectification/rectifier.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Maps the buffers of a pair and its outputs, matches the pair once, and computes all outputs. The
/// functions that use the device, also constructor and destructor, need the session's context.
class StereoProcessor {
 public:
  /// `right` is ignored if frames are packed. Without `rectification`, frames must be rectified.
  StereoProcessor(const DeviceSession& session, const FrameFormat& left, const FrameFormat& right,
                  const FramePacking& packing, const StereoSettings& settings,
                  const std::optional<Rectification>& rectification, std::size_t max_in_flight);

  /// Applies settings, which must have no validation_error(). Never allocates.
  void apply(const StereoSettings& settings);

  /// Resets all temporal state: see sgm::SgmStereo::restart(), sgm::DisparityPicture::restart().
  void restart() noexcept;

  /// Prepares the operations for a source pad's output.
  void prepare(SourcePad pad, StereoOutput output, const FrameFormat& format);
  bool is_prepared(SourcePad pad) const noexcept { return outputs_[index_of(pad)].has_value(); }
  /// Frees the operations of the pad. No pair may be in flight.
  void forget(SourcePad pad);

  /// Buffers by source pad, nullptr for pads that get no buffer.
  using Buffers = OutputFrames;
  static_assert(source_pad_count == max_outputs);

  /// Enqueues the work on a pair; see FrameSlotPool::map(). `right` is nullptr if frames are
  /// packed. The pads of all buffers must be prepared. `seconds` is the time since the previous
  /// pair. If `inspect` is set, snapshot() is complete when the pair is complete. `detections`
  /// receives the left frame's detections; it must be nullptr if settings().detections is off.
  PendingGpuWork start(GstBuffer* left, GstBuffer* right, const Buffers& out, double seconds,
                       bool inspect, PairDetections* detections);
  /// See FrameSlotPool::finish().
  void finish() { slots_.finish(); }

  /// Returns the right camera without any correction.
  const RectifiedCamera& right_camera() const noexcept { return right_camera_; }
  /// Replaces the right camera's map. There must be a rectification, and no pair in flight.
  void set_right_map(const RectifyingMap& map);

  /// Returns the last inspected pair, which must exist and be complete.
  PairSnapshot& snapshot() { return *snapshot_; }
  /// Returns true if depth in 16 bits is prepared for a source pad.
  bool measures_depth() const noexcept;
  std::size_t max_in_flight() const noexcept { return slots_.count(); }
  const StereoSettings& settings() const { return settings_; }

 private:
  struct Output {
    Output(StereoOutput output, const FrameFormat& frames) : kind(output), format(frames) {}

    /// Returns true if the matching can write the output directly.
    bool is_direct() const noexcept { return !picture && !rectified && !points; }

    StereoOutput kind;
    FrameFormat format;
    // At most one of these is set.
    std::unique_ptr<sgm::DisparityPicture> picture;
    std::unique_ptr<sgm::Points> points;
    std::unique_ptr<RectifiedPicture> rectified;
  };

  void compute(const PendingGpuWork& pair, double seconds, bool inspect,
               PairDetections* detections);
  View<std::uint8_t> plane_for(StereoOutput kind, const PendingGpuWork& pair) const;
  void mask_unseen();
  const FrameFormat& left_format() const { return slots_.input_format(0); }
  FrameLayout picture() const;
  sgm::Reprojection reprojection(const StereoSettings& settings) const;

  Device& device_;
  const FramePacking packing_;
  StereoSettings settings_;

  FrameSlotPool slots_;
  const FrameLayout right_layout_;
  std::unique_ptr<Rectifier> left_rectifier_, right_rectifier_;  ///< nullptr: not rectified
  std::optional<RectifiedCamera> left_camera_;                   ///< set if left_rectifier_ is set
  RectifiedCamera right_camera_;
  sgm::SgmStereo stereo_;
  PerSourcePad<std::optional<Output>> outputs_;
  // Used if no output frame holds the map or the confidence.
  Buffer map_memory_, confidence_memory_;
  std::optional<DetectionDistances> distances_;  ///< set if the property `detections` is on
  std::optional<PairSnapshot> snapshot_;         ///< created for the first inspected pair
};

}  // namespace cudavision
