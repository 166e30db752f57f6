// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "gst/sgmstereo/rig/geometry/pairfigures.h"
#include "gst/sgmstereo/rig/seenpoints.h"

namespace cudavision {

/// In pixels of the matched pictures.
struct RectifiedOptics {
  int width = 0, height = 0;
  double focal_length = 1;
  double center_x = 0, center_y = 0;  ///< the principal point
  bool focal_is_known = false;        ///< else the focal length is a guess

  /// True if positions in focal lengths agree: one picture may be a scaled version of the other.
  bool matches(const RectifiedOptics& other) const;
};

struct ExtrinsicEstimate {
  bool known = false;  ///< enough points were seen; otherwise the rest is meaningless
  /// At least two pairs agree on a rotation, so it may be corrected or reported.
  bool sure = false;
  /// The cameras were hit: only the last `pairs_to_forget` pairs are valid.
  bool moved = false;
  rig::MountFit fit;
  /// The yaw that rows show, less exact than the yaw assumed by the fit, and its standard error.
  double yaw = 0, yaw_error = 0;
  double rows_off = 0, rows_error = 0;  ///< rig::RowsApart from the current correction, in pixels
};

/// Estimates how the right camera has turned in its mount, from the last inspected pairs. Points
/// seen again at the same place count once, because a still scene adds no certainty. A yaw moves
/// rows by little, so the corrected yaw is assumed unless rows clearly show a change.
class ExtrinsicDrift {
 public:
  /// After a blow, this many successive pairs are not explained by earlier pairs.
  static constexpr int pairs_to_forget = 2;

  /// The pair was matched while the right camera was corrected. known_yaw is a yaw that does not
  /// come from rows, if it differs from the corrected yaw.
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
  int unexplained_ = 0;  ///< pairs in a row that the fit does not explain
};

}  // namespace cudavision
