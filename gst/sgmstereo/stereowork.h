// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/sgm/disparitypicture.h"
#include "cuda/sgm/points.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/base/devicesession.h"
#include "gst/core/scoped.h"
#include "gst/memory/cudastream.h"
#include "gst/memory/framemapper.h"
#include "gst/sgmstereo/calibration/rectifiedpicture.h"
#include "gst/sgmstereo/calibration/rectifier.h"
#include "gst/sgmstereo/diagnostics/pairsnapshot.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

class StereoWork;

/// A pair whose work is enqueued. It keeps the input buffers; whoever has the output buffers must
/// not touch them before the pair is complete. The destructor waits for the device as well. Both
/// are called in the session's context.
class PairInFlight {
 public:
  /// True if complete() would not wait, or would fail.
  bool done() noexcept;
  /// Calls call(), in another thread, once done() holds. Only for pairs on a CUDA device that are
  /// not done. Throws Error.
  void when_done(std::function<void()> call);
  /// Waits for the device and brings the outputs into their buffers. But if all memory is CUDA
  /// memory that carries a stream, the device may still be at the pair (see FrameMapper), unless
  /// the pair is inspected. Throws Error.
  void complete();

 private:
  friend class StereoWork;
  using Outputs = PerSourcePad<std::optional<FrameMapper::Output>>;

  PairInFlight(StereoWork& work, GstBuffer* left, GstBuffer* right);
  template <class Visit>
  void for_each_mapped(Visit visit);
  bool can_be_handed_on();
  /// Call this when all work on the pair is enqueued.
  void end(bool inspected);

  StereoWork& work_;
  const OwnedBuffer kept_left_, kept_right_;
  std::optional<FrameMapper::Input> left_, right_;
  Outputs outputs_;
  bool waits_ = true;
};

/// The operations behind cudasgmstereo for frames of known formats: maps the buffers of a pair and
/// of its outputs, matches the pair once, and computes every output from that. Up to `most` pairs
/// may be in flight; with more than one, transfers and kernels of successive pairs overlap. All
/// calls, the destructor included, are made in the session's context.
class StereoWork {
 public:
  /// right is ignored if frames are packed. Without a rectification, frames count as rectified.
  StereoWork(const DeviceSession& session, const FrameFormat& left, const FrameFormat& right,
             const FramePacking& packing, const StereoSettings& settings,
             const std::optional<Rectification>& rectification, std::size_t most);

  /// Applies settings without a validation_error(). Never allocates.
  void apply(const StereoSettings& settings);

  /// The next pair does not continue those before; see sgm::SgmStereo::restart() and
  /// sgm::DisparityPicture::restart().
  void restart() noexcept;

  /// Prepares what a source pad puts out, in frames of this format.
  void prepare(SourcePad pad, StereoOutput output, const FrameFormat& format);
  bool is_prepared(SourcePad pad) const noexcept { return outputs_[index_of(pad)].has_value(); }
  /// Frees what was prepared for the pad. No pair may be in flight.
  void forget(SourcePad pad);

  /// A buffer for each source pad that is to get one, and nullptr for all others. These cost
  /// nothing.
  using Buffers = PerSourcePad<GstBuffer*>;

  /// Enqueues the work on a pair. right is nullptr if frames are packed. The pads of all buffers
  /// must be prepared, and the pair before the last `most` − 1 ones must be complete. seconds is
  /// the time since the pair before. If the pair is to be inspected, snapshot() is complete when
  /// the pair is.
  std::unique_ptr<PairInFlight> start(GstBuffer* left, GstBuffer* right, const Buffers& out,
                                      double seconds, bool inspect);
  /// Waits for pairs that were completed while the device was still at them. Throws Error.
  void finish();

  /// Returns the last pair that was to be inspected, once that is complete; there must have been
  /// one.
  PairSnapshot& snapshot() { return *snapshot_; }
  /// Returns true if depth in 16 bits is prepared for a source pad.
  bool measures_depth() const noexcept;
  /// Returns how many pairs may be in flight.
  std::size_t max_in_flight() const noexcept { return lanes_.size(); }
  /// Returns the settings in force.
  const StereoSettings& settings() const { return settings_; }

 private:
  friend class PairInFlight;
  /// A stream that only waits for others, so that notices hold back no work.
  struct Notices {
    SharedStream stream;
    std::unique_ptr<Device> device;
  };

  /// The operation that makes the output of one source pad, and the form of that output.
  struct Output {
    Output(StereoOutput output, const FrameFormat& frames) : kind(output), format(frames) {}

    /// True if the matching itself writes the output.
    bool is_direct() const noexcept { return !picture && !rectified && !points; }

    StereoOutput kind;
    FrameFormat format;
    // At most one of these, which makes the output: the first two from the map or from confidence.
    std::unique_ptr<sgm::DisparityPicture> picture;
    std::unique_ptr<sgm::Points> points;
    std::unique_ptr<RectifiedPicture> rectified;
  };
  using Frames = PairInFlight::Outputs;

  /// The mappers of one pair in flight: each carries one frame at a time.
  struct Lane {
    FrameMapper left;
    std::optional<FrameMapper> right;
    PerSourcePad<std::optional<FrameMapper>> out;
  };

  /// The frames of a pair on the device. left and right are the pictures' luma or RGB.
  struct Inputs {
    ConstFrame left, right;
    ConstFrame left_stored;  ///< the left frame as it lies in buffers, with all channels
  };

  void compute(const Inputs& in, const Frames& out, double seconds, bool inspect);
  void match(const Inputs& in, View<std::uint8_t> map, View<std::uint8_t> confidence, bool inspect);
  View<std::uint8_t> plane_for(StereoOutput kind, const Frames& out) const;
  View<std::uint8_t> own_map();
  View<std::uint8_t> own_confidence();
  bool shows_confidence(const Frames& out) const;
  const FrameFormat& left_format() const { return lanes_.front()->left.format(); }
  FrameLayout picture() const;
  sgm::Reprojection reprojection(const StereoSettings& settings) const;

  const DeviceSession& session_;
  const FrameQueues queues_;
  Device& device_;
  const FramePacking packing_;
  StereoSettings settings_;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t next_ = 0;                                       ///< lane
  std::optional<Rectifier> left_rectifier_, right_rectifier_;  ///< both or neither
  std::optional<std::array<double, 2>> center_;                ///< the calibration's, x and y
  std::optional<RectifiedCamera> left_camera_;                 ///< likewise
  sgm::SgmStereo stereo_;
  PerSourcePad<std::optional<Output>> outputs_;
  // For pairs that no output takes these of as they are.
  Buffer map_memory_, confidence_memory_;
  std::optional<PairSnapshot> snapshot_;  ///< made for the first pair that is inspected
  std::optional<Notices> notices_;        ///< made for the first one
  bool handed_on_ = false;                ///< the device may still be at pairs that are complete
};

}  // namespace cudavision
