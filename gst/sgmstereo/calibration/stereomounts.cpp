// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/calibration/stereomounts.h"

namespace cudavision {
namespace {

/// Rows may be off by so much, in pixels. Matching suffers little from a quarter of a pixel, and
/// rows are known to about a twentieth.
constexpr double tolerated = 0.15;
/// A correction must be so many times as large as its standard error.
constexpr double certainty = 3;

}  // namespace

const sgm::MountTurn& StereoMounts::begin_work(const RectifiedOptics& optics) {
  if (optics_.width > 0 && !optics_.matches(optics))
    reset();
  optics_ = optics;
  correction_.settle();
  return correction_.current();
}

MountReport StereoMounts::inspect(const sgm::PairFigures& figures, CalibrationDrift mode,
                                  const RectifiedCamera& camera, bool may_correct) {
  MountReport report;
  report.mode = mode;
  if (mode == CalibrationDrift::off)
    return report;
  report.corrected = correction_.current();
  report.finding = drift_.add(figures, optics_, report.corrected);
  const MountFinding& finding = report.finding;
  report.begins = mode == CalibrationDrift::correct && may_correct && finding.sure &&
                  !correction_.is_pending() && finding.rows_off > tolerated &&
                  finding.rows_off > certainty * finding.rows_error;
  if (report.begins)
    correction_.begin(finding.fit.turn, camera, optics_.width, optics_.height);
  report.corrections = correction_.count();
  return report;
}

}  // namespace cudavision
