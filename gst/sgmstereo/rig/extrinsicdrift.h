// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "gst/sgmstereo/rig/geometry/pairfigures.h"
#include "gst/sgmstereo/rig/seenpoints.h"

namespace cudavision {

/// The optics of the matched pictures, in pixels.
struct RectifiedOptics {
  int width = 0, height = 0;
  double focal_length = 1;
  double center_x = 0, center_y = 0;  ///< the principal point
  bool focal_is_known = false;        ///< false: focal_length is a guess

  /// Returns true if only the scale differs: positions divided by the focal length nearly agree.
  bool matches(const RectifiedOptics& other) const;
};

struct ExtrinsicEstimate {
  bool known = false;  ///< enough points in this pair and in total; if false, the rest is invalid
  bool sure = false;   ///< at least two pairs agree
  bool moved = false;  ///< the cameras have moved: only the last `pairs_to_forget` pairs are used
  rig::MountFit fit;
  double yaw = 0, yaw_error = 0;  ///< fitted to rows; fit.turn.yaw differs if rows show no change
  double rows_off = 0, rows_error = 0;  ///< rig::RowsApart with the current correction, in pixels
};

/// Estimates the rotation of the right camera in its mount from the last inspected pairs. A yaw
/// hardly moves rows, so add() keeps the yaw of the correction unless rows clearly show a change.
class ExtrinsicDrift {
 public:
  /// The cameras have moved if the fit to all pairs does not explain this many successive pairs.
  static constexpr int pairs_to_forget = 2;

  /// Adds a pair that was matched with the right camera corrected by `corrected`. `known_yaw` is a
  /// new yaw in radians that was not estimated from rows.
  ExtrinsicEstimate add(const rig::PairFigures& figures, const RectifiedOptics& optics,
                        const rig::RigRotation& corrected, std::optional<double> known_yaw = {});

 private:
  void add_points(const rig::PairFigures& figures, const rig::RigRotation& corrected);
  void forget_before(int pair);
  bool explains_last_pair(const rig::MountFit& fit) const;
  rig::MountFit fit_with(double yaw_deviation, double yaw) const;
  bool is_sure(const rig::MountFit& fit) const;

  RectifiedOptics optics_;
  SeenPoints seen_;
  int oldest_ = 0;       ///< oldest pair in use
  int unexplained_ = 0;  ///< successive pairs that the fit does not explain
};

}  // namespace cudavision
