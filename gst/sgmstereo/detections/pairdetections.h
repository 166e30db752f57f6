// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cuda/regions/regions.h"
#include "cuda/sgm/distances/distances.h"
#include "gst/base/regions/framedetections.h"
#include "gst/base/regions/selectedmask.h"
#include "gst/core/frameinfo.h"
#include "gst/core/scoped.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/rectification/rectification.h"

/// The distances of the objects that a detector has found in left frames.
namespace cudavision {

/// The detections of one left frame.
struct PairDetections {
  explicit PairDetections(const FrameTimes& frame_times) : times(frame_times) {}

  /// Reads the metas of the left frame. `picture` is the size of the left picture and of the map.
  /// `camera` is nullptr if left pictures are not rectified.
  void find(GstBuffer* left, const FramePacking& packing, const PictureSize& picture,
            const RectifiedCamera* camera);

  FrameTimes times;
  std::vector<Detection> detections;  ///< the first Distances::max_boxes, in the order of the metas
  /// For each detection, its box in the map, clipped to the map; empty if nothing is visible.
  std::vector<regions::Box> visible;
  /// Empty, or one entry per detection, which has no picture if the detection has no usable mask.
  /// Masks refer to the left picture before rectification.
  std::vector<SelectedMask> masks;
  std::size_t left_out = 0;  ///< number of detections beyond max_boxes, which are ignored

  /// One result for each detection, complete when the work on the pair is complete.
  const sgm::BoxDisparity* results = nullptr;
  sgm::DisparityScale scale{};
  std::optional<sgm::Reprojection> reprojection;  ///< unset without focal length and baseline
};

/// Returns the element message `detections`. docs/elements/stereo-detections.md lists its fields.
Structure detections_message(const PairDetections& pair);

/// Adds the result of each measured detection to the copy of its meta in an output: the parameter
/// `distance` to a GstVideoRegionOfInterestMeta, a related classification to an object detection.
void add_distances(const PairDetections& pair, GstBuffer* output);

}  // namespace cudavision
