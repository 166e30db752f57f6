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
  int points = 0;    ///< that it is fitted to
  double noise = 0;  ///< of their rows, in pixels
  /// By this fit, how far apart rows were before, in pixels: root mean square and standard error.
  double rows_off = 0, rows_error = 0;
  StereoCalibration calibration;
  Rectification rectification;  ///< without maps if it does not bring rows nearer
};

struct UncalibratedOptics {
  int width = 0, height = 0;
  double focal_length = 1;  ///< of both cameras in pixels, known or guessed
  double alpha = 0;         ///< of make_rectification()

  friend bool operator==(const UncalibratedOptics&, const UncalibratedOptics&) = default;
};

/// Calibrates two roughly parallel cameras from the matched blocks of inspected pairs, as far as
/// rows show it. Points seen again at the same place count once. When there are a quarter more
/// points, a thread fits the cameras and makes maps. They take effect some pairs later, if they
/// clearly bring rows nearer to each other.
class SelfCalibration {
 public:
  /// Call this when maps are made for these optics. Returns the calibration in use, or nullptr. It
  /// stays in use for scaled pictures; otherwise everything is reset.
  const SelfCalibrated* begin_work(const UncalibratedOptics& optics);

  /// There must be a calibration in use.
  const SelfCalibrated& current() const noexcept { return *current_; }
  /// Returns true if a calibration is in use, or if rows need none.
  bool is_settled() const noexcept { return current_ || needs_none_; }
  /// Returns true if it is too early to report that calibration fails.
  bool is_patient() const noexcept { return !is_settled() && inspections_ < patience; }
  unsigned count() const noexcept { return count_; }

  /// The pair was matched while the right camera was corrected by a rotation.
  void add(const rig::PairFigures& figures, const rig::RigRotation& corrected);

  /// Call this after a blow to the cameras: only the last pairs are valid.
  void forget_before_last(int pairs);
  void stop();

  /// Call this before each pair.
  bool is_due() noexcept { return pending_.is_due(); }
  /// Waits for the thread, and rethrows its exception. Returns false if pictures do not change.
  bool take();

 private:
  std::vector<rig::MatchedPoint> as_cameras_see(const std::vector<rig::MatchedBlock>& blocks,
                                                const rig::RigRotation& corrected) const;
  void begin(const rig::RigRotation& corrected);

  UncalibratedOptics optics_;
  RectifiedCamera left_camera_, right_camera_;  ///< without a turn
  SeenPoints seen_;
  std::size_t next_fit_ = min_points;
  int inspections_ = 0;  ///< including pairs without points
  bool stopped_ = false;
  bool needs_none_ = false;
  std::optional<SelfCalibrated> current_;
  unsigned count_ = 0;
  DelayedResult<std::optional<SelfCalibrated>> pending_;

  static constexpr std::size_t min_points = 40, max_points = 1500;
  static constexpr int patience = 30;
};

}  // namespace cudavision
