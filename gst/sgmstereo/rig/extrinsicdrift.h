// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/sgmstereo/rig/geometry/mountfit.h"
#include "gst/sgmstereo/rig/geometry/pairinspector.h"
#include "gst/sgmstereo/rig/seenpoints.h"

namespace cudavision {

/// The pictures that are matched, in pixels.
struct RectifiedOptics {
  int width = 0, height = 0;
  double focal_length = 1;
  double center_x = 0, center_y = 0;  ///< the principal point
  bool focal_is_known = false;        ///< else the focal length is a guess

  /// True if places in focal lengths mean the same in both: one picture may be the other one
  /// scaled.
  bool matches(const RectifiedOptics& other) const;
};

/// What is known of the right camera's mount after an inspected pair.
struct ExtrinsicEstimate {
  bool known = false;  ///< enough points were seen; all else is of no meaning without this
  /// Two pairs or more agree on one turn, so that it may be corrected, or warned of.
  bool sure = false;
  /// The cameras have got a blow: what was seen before the last `pairs_to_forget` pairs no longer
  /// holds.
  bool moved = false;
  rig::MountFit fit;
  /// The yaw as far as rows show it, which is less exact than what the fit takes for it, and its
  /// standard error.
  double yaw = 0, yaw_error = 0;
  double rows_off = 0, rows_error = 0;  ///< rig::RowsApart from what is corrected now, in pixels
};

/// Finds out how the right camera has turned in its mount, from the matched blocks of the last
/// inspected pairs. What is seen again at the same place counts once, so that a still scene does
/// not make the fit surer than one picture of it can.
///
/// A yaw moves rows by little and columns by much. So it counts as what is corrected already,
/// unless rows show without doubt that it has changed.
class ExtrinsicDrift {
 public:
  /// So many pairs in a row that nothing before them explains are the first ones after a blow.
  static constexpr int pairs_to_forget = 2;

  /// Adds a pair that was matched while the right camera was corrected by a turn. known_yaw: if it
  /// is known from something else than rows, and is not that of the turn.
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
  int oldest_ = 0;       ///< number of the oldest pair that counts
  int unexplained_ = 0;  ///< pairs in a row that the fit does not explain
};

}  // namespace cudavision
