// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/diagnostics/mountreport.h"

#include <cstdio>

namespace cudavision {
namespace {

constexpr double degrees = 180 / G_PI;

enum Unknown { pitch, yaw, roll, zoom, k1 };

std::string formatted(const char* format, double number, double error) {
  char buffer[200];
  std::snprintf(buffer, sizeof buffer, format, number, error);
  return buffer;
}

}  // namespace

void add_mount_fields(GstStructure* structure, const MountReport& report) {
  if (report.calibrations)
    gst_structure_set(structure, "calibrations", G_TYPE_UINT, *report.calibrations, nullptr);
  if (report.mode == CalibrationDrift::off)
    return;
  const auto add = [&](const char* name, double value) {
    gst_structure_set(structure, name, G_TYPE_DOUBLE, value, nullptr);
  };
  if (const MountFinding& finding = report.finding; finding.known) {
    const sgm::MountFit& fit = finding.fit;
    add("rows-off", finding.rows_off);
    add("rows-off-error", finding.rows_error);
    add("pitch", degrees * fit.turn.pitch);
    add("pitch-error", degrees * fit.error(pitch));
    add("yaw", degrees * finding.yaw);
    add("yaw-error", degrees * finding.yaw_error);
    add("roll", degrees * fit.turn.roll);
    add("roll-error", degrees * fit.error(roll));
    add("zoom", fit.turn.zoom);
    add("zoom-error", fit.error(zoom));
  }
  if (report.mode != CalibrationDrift::correct)
    return;
  add("corrected-pitch", degrees * report.corrected.pitch);
  add("corrected-yaw", degrees * report.corrected.yaw);
  add("corrected-roll", degrees * report.corrected.roll);
  add("corrected-zoom", report.corrected.zoom);
  if (report.distance.offset)
    add("known-distance-offset", *report.distance.offset);
  gst_structure_set(structure, "corrections", G_TYPE_UINT, report.corrections, nullptr);
}

std::string turn_text(const MountFinding& finding) {
  const sgm::MountFit& fit = finding.fit;
  return formatted("by %.2f ± %.2f° in pitch, ", degrees * fit.turn.pitch,
                   degrees * fit.error(pitch)) +
         formatted("%.2f ± %.2f° in yaw and ", degrees * finding.yaw, degrees * finding.yaw_error) +
         formatted("%.2f ± %.2f° in roll, and its focal length is ", degrees * fit.turn.roll,
                   degrees * fit.error(roll)) +
         formatted("%.4f ± %.4f times the left one's", fit.turn.zoom, fit.error(zoom));
}

std::string calibration_text(const SelfCalibrated& found) {
  const sgm::CameraPairFit& fit = found.fit;
  const sgm::CameraPair& pair = fit.pair;
  return "The rows of both pictures were " +
         formatted("%.2f ± %.2f", found.rows_off, found.rows_error) + " pixels apart, as " +
         std::to_string(found.points) +
         " places show that both cameras see. Against the left camera, the right one has turned " +
         formatted("by %.2f ± %.2f° in pitch, ", degrees * pair.pitch, degrees * fit.error(pitch)) +
         formatted("%.2f ± %.2f° in yaw and ", degrees * pair.yaw, degrees * fit.error(yaw)) +
         formatted("%.2f ± %.2f° in roll, its focal length is ", degrees * pair.roll,
                   degrees * fit.error(roll)) +
         formatted("%.4f ± %.4f times the left one's, ", pair.zoom, fit.error(zoom)) +
         formatted("and the lenses distort by k1 = %.3f ± %.3f", pair.k1, fit.error(k1)) +
         ": both pictures are rectified accordingly from this pair on. Rows show no lengths: "
         "distances are as true as focal-length and baseline, or known-distance.";
}

std::string correction_text(const MountReport& report) {
  const std::string reason =
      report.distance.yaw
          ? formatted(
                "The disparity at known-distance was off by %.2f pixels, because the right camera "
                "has "
                "turned by %.2f° in yaw",
                *report.distance.offset, degrees * *report.distance.yaw)
          : "The rows of both pictures were " +
                formatted("%.2f ± %.2f", report.finding.rows_off, report.finding.rows_error) +
                " pixels apart, because the right camera has turned " + turn_text(report.finding);
  return reason + ": its pictures are rectified accordingly, from " +
         std::to_string(MountCorrection::pairs_to_wait) + " pairs after this one on.";
}

}  // namespace cudavision
