// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "cuda/regions/regions.h"
#include "gst/base/frameclock.h"
#include "gst/base/regions/framedetections.h"
#include "gst/base/regions/framemasks.h"
#include "gst/base/regions/regionsettings.h"
#include "gst/base/regions/regionwarning.h"
#include "gst/core/frameinfo.h"

namespace cudavision {

/// Finds the regions of each frame of a stream, and chooses the processed pixels of frames without
/// a known region. The element owns the RegionFinder, so the regions of earlier frames outlive a
/// change of the device.
///
/// Regions of a frame are known if at least one rectangle, with its margin, has a pixel in the
/// frame. With use-roi-meta, the rectangle must come from an accepted meta, because a detector may
/// miss objects; otherwise it comes from the property `regions`. Regions are also known if a
/// mask's box overlaps the frame, without the margin, and the mask lists an accepted id or no ids.
class RegionFinder {
 public:
  /// Clears all state when the element starts.
  void start();
  /// Clears the regions of earlier frames if the caps change.
  void set_video(const GstVideoInfo& video);
  /// Clears the regions of earlier frames, for a new segment.
  void forget();

  /// Finds the regions of a frame. Parameters without regions select the whole frame if `invert` is
  /// true, otherwise no pixel. Throws ElementError if there are too many regions.
  void find(const FrameInfo& frame, const RegionSettings& settings,
            regions::Parameters& parameters);

  /// Returns the frame's masks, in the order of Parameters::mask_boxes.
  const std::vector<SelectedMask>& masks() const noexcept { return masks_; }

  /// Returns the maximum of the shorter sides of the frame's regions, clamped to the frame, or 0.
  /// The margin does not count, except where recall() adds it. If in_regions(), but pixels outside
  /// of regions are processed, returns the maximum since the last caps, but at least a third of the
  /// frame's shorter side, because a detector may miss regions.
  int largest_side() const noexcept { return side_; }

  /// Call this at the end of a stream, so that a warning does not wait any longer.
  void end() { warning_.end(); }
  /// Posts the warning about the frames since the start. No context may be current.
  void post_warning(GstElement* element) { warning_.post(element); }

 private:
  void find_metas(const FrameInfo& frame, const RegionSettings& settings,
                  regions::Parameters& parameters);
  bool accepts(const RegionSettings& settings, GQuark label, double confidence);
  std::optional<SelectedMask> select(const DetectedMask& mask, std::size_t number,
                                     const RegionSettings& settings);
  void add(SelectedMask mask, regions::Parameters& parameters);
  void find_regions(const FrameInfo& frame, const RegionSettings& settings,
                    regions::Parameters& parameters);
  void measure(const RegionSettings& settings, const regions::Parameters& parameters);
  bool any_in_frame(const regions::Parameters& parameters, int first) const;
  void remember(const regions::Parameters& parameters, int first, const RegionSettings& settings);
  bool recall(const RegionSettings& settings, regions::Parameters& parameters);

  struct Found {
    regions::Box box;
    std::uint16_t angle;
  };

  std::optional<GstVideoInfo> video_;
  std::optional<FrameClock> clock_;
  FrameDetections detections_;       ///< detections in the current frame
  std::vector<bool> accepted_;       ///< whether each object of detections_ is accepted
  std::vector<SelectedMask> masks_;  ///< selected masks of the current frame
  int side_ = 0, widest_ = 0;        ///< largest_side(); largest region side since the last caps
  /// Regions and masks of the last frame with known regions, if region-persistence is set.
  std::vector<Found> last_;
  std::vector<SelectedMask> last_masks_;
  GstClockTime age_ = 0;  ///< time since the frame of last_
  RegionWarning warning_;
};

}  // namespace cudavision
