// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "gst/sgmstereo/rectification/rectification.h"
#include "gst/sgmstereo/rig/extrinsicdrift.h"
#include "gst/sgmstereo/rig/geometry/camerapairfit.h"
#include "gst/sgmstereo/rig/geometry/pairinspector.h"
#include "gst/sgmstereo/rig/seenpoints.h"
#include "gst/sgmstereo/rig/stereomounts.h"

namespace cudavision {

/// A calibration that the element has found itself.
struct SelfCalibrated {
  rig::CameraPairFit fit;
  int points = 0;    ///< that it is fitted to
  double noise = 0;  ///< of their rows, in pixels
  /// How far apart the rows lie by it while pictures are rectified as they were before, in pixels:
  /// root mean square over the picture, and its standard error.
  double rows_off = 0, rows_error = 0;
  StereoCalibration calibration;
  Rectification rectification;  ///< without maps if it brings rows no nearer to each other
};

/// The pictures of two cameras that are calibrated while they play.
struct UncalibratedOptics {
  int width = 0, height = 0;
  double focal_length = 1;  ///< of both cameras in pixels, known or guessed
  double alpha = 0;         ///< of make_rectification()

  friend bool operator==(const UncalibratedOptics&, const UncalibratedOptics&) = default;
};

/// Calibrates two cameras that were mounted roughly parallel from the matched blocks of inspected
/// pairs, as far as rows show it. What is seen again at the same place counts once. Each time when
/// half as many points again are known, a thread of its own fits the cameras to them and makes the
/// maps. These take effect some pairs later, but only if they bring rows nearer to each other,
/// without doubt.
class SelfCalibration {
 public:
  /// Maps are made anew, for pictures with these optics. Returns the calibration that counts, or
  /// nullptr if there is none. It remains for larger or smaller pictures that show the same;
  /// otherwise, all is forgotten.
  const SelfCalibrated* begin_work(const UncalibratedOptics& optics);

  /// The calibration that counts; there must be one.
  const SelfCalibrated& current() const noexcept { return *current_; }
  /// Returns true if a calibration counts, or if the rows of the pictures need none.
  bool is_settled() const noexcept { return current_ || needs_none_; }
  /// Returns true if it is too early to say that the cameras cannot be calibrated so.
  bool is_patient() const noexcept { return !is_settled() && inspections_ < patience; }
  /// Returns how many calibrations have taken effect.
  unsigned count() const noexcept { return count_; }

  /// Adds an inspected pair, which was matched while the right camera was corrected by a turn.
  void add(const rig::PairFigures& figures, const rig::RigRotation& corrected);

  /// The cameras have got a blow: what was seen before the last pairs no longer holds.
  void forget_before_last(int pairs);
  /// No more calibrations: this one is to stay.
  void stop();

  /// Call this before each pair. Returns true if the thread's work is due.
  bool is_due() noexcept { return pending_.is_due(); }
  /// Lets it take effect. Returns false if pictures stay as they are. Waits for the thread, and
  /// throws what it has thrown.
  bool take();

 private:
  std::vector<rig::MatchedPoint> as_cameras_see(const std::vector<rig::MatchedBlock>& blocks,
                                                const rig::RigRotation& corrected) const;
  void begin(const rig::RigRotation& corrected);

  UncalibratedOptics optics_;
  RectifiedCamera left_camera_, right_camera_;  ///< without a turn
  SeenPoints seen_;
  std::size_t next_fit_ = min_points;
  int inspections_ = 0;  ///< so far, also of pairs that show nothing
  bool stopped_ = false;
  bool needs_none_ = false;
  std::optional<SelfCalibrated> current_;
  unsigned count_ = 0;
  DelayedResult<std::optional<SelfCalibrated>> pending_;

  static constexpr std::size_t min_points = 40, max_points = 1500;
  static constexpr int patience = 30;
};

}  // namespace cudavision
