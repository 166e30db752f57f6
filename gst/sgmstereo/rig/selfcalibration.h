// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "gst/sgmstereo/rectification/rectification.h"
#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/rig/geometry/camerapairfit.h"
#include "gst/sgmstereo/rig/geometry/pairfigures.h"
#include "gst/sgmstereo/rig/seenpoints.h"
#include "gst/sgmstereo/rig/stereomounts.h"

namespace cudavision {

struct SelfCalibrated {
  rig::CameraPairFit fit;
  int points = 0;  ///< number of fitted points
  /// Distance of matching rows before this calibration, in pixels: RMS value and standard error.
  double rows_off = 0, rows_error = 0;
  StereoCalibration calibration;
  Rectification rectification;  ///< without maps if rows need no correction
};

struct UncalibratedOptics {
  int width = 0, height = 0;
  double focal_length = 1;  ///< focal length of both cameras in pixels, known or guessed
  double alpha = 0;         ///< argument of make_rectification()

  friend bool operator==(const UncalibratedOptics&, const UncalibratedOptics&) = default;
};

/// Calibrates two roughly parallel cameras from the rows of matched blocks. At 40 points, and each
/// time their number has grown by a quarter, up to 1500, a thread fits the cameras and makes maps.
/// The maps take effect some pairs later if they clearly reduce the distance of matching rows.
class SelfCalibration {
 public:
  /// Call this before maps are made for these optics. Returns the calibration in use, or nullptr.
  /// Resets everything unless the pictures were only scaled.
  const SelfCalibrated* begin_work(const UncalibratedOptics& optics);

  /// A calibration must be in use.
  const SelfCalibrated& current() const noexcept { return *current_; }
  /// Returns true if a calibration is in use or unnecessary.
  bool is_calibrated() const noexcept { return current_ || needs_none_; }
  /// Returns true if it is too early to report a failure.
  bool is_patient() const noexcept { return !is_calibrated() && inspections_ < patience; }
  unsigned count() const noexcept { return count_; }

  /// Adds a pair that was matched with the right camera corrected by `corrected`.
  void add(const rig::PairFigures& figures, const rig::RigRotation& corrected);

  /// Call this if the cameras have moved. Keeps only the last pairs' points. Cancels a pending fit.
  void forget_before_last(int pairs);
  void stop();

  /// Call this before each pair.
  bool is_due() noexcept { return pending_.is_due(); }
  /// Waits for the thread, and rethrows its exception. Returns true if there are new maps.
  bool take();

 private:
  std::vector<rig::MatchedPoint> as_cameras_see(const std::vector<rig::MatchedBlock>& blocks,
                                                const rig::RigRotation& corrected) const;
  void begin(const rig::RigRotation& corrected);

  UncalibratedOptics optics_;
  RectifiedCamera left_camera_, right_camera_;  ///< cameras without mount corrections
  SeenPoints seen_;
  std::size_t next_fit_ = min_points;
  int inspections_ = 0;  ///< number of inspected pairs, including pairs without points
  bool stopped_ = false;
  bool needs_none_ = false;
  std::optional<SelfCalibrated> current_;
  unsigned count_ = 0;
  DelayedResult<std::optional<SelfCalibrated>> pending_;

  static constexpr std::size_t min_points = 40, max_points = 1500;
  static constexpr int patience = 30;
};

}  // namespace cudavision
