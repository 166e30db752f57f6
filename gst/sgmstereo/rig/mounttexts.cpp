// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/mounttexts.h"

#include <glib.h>

#include "gst/core/numbertext.h"

namespace cudavision {
namespace {

constexpr double degrees = 180 / G_PI;

enum Unknown { pitch, yaw, roll, zoom, k1 };

std::string with_error(double number, double error, int decimals) {
  return number_text(number, decimals) + " ± " + number_text(error, decimals);
}

/// The angles are radians.
std::string angle_text(double angle, double error) {
  return with_error(degrees * angle, degrees * error, 2) + "°";
}

}  // namespace

std::string turn_text(const ExtrinsicEstimate& estimate) {
  const rig::MountFit& fit = estimate.fit;
  return "by " + angle_text(fit.turn.pitch, fit.error(pitch)) + " in pitch, " +
         angle_text(estimate.yaw, estimate.yaw_error) + " in yaw and " +
         angle_text(fit.turn.roll, fit.error(roll)) + " in roll, and its focal length is " +
         with_error(fit.turn.zoom, fit.error(zoom), 4) + " times the left one's";
}

std::string calibration_text(const SelfCalibrated& found) {
  const rig::CameraPairFit& fit = found.fit;
  const rig::CameraPair& pair = fit.pair;
  return "The rows of both pictures were " + with_error(found.rows_off, found.rows_error, 2) +
         " pixels apart, as " + std::to_string(found.points) +
         " places show that both cameras see. Against the left camera, the right one has turned "
         "by " +
         angle_text(pair.pitch, fit.error(pitch)) + " in pitch, " +
         angle_text(pair.yaw, fit.error(yaw)) + " in yaw and " +
         angle_text(pair.roll, fit.error(roll)) + " in roll, its focal length is " +
         with_error(pair.zoom, fit.error(zoom), 4) +
         " times the left one's, and the lenses distort by k1 = " +
         with_error(pair.k1, fit.error(k1), 3) +
         ": both pictures are rectified accordingly from this pair on. Rows show no lengths: "
         "distances are as true as focal-length and baseline, or known-distance.";
}

std::string correction_text(const MountReport& report) {
  const std::string reason =
      report.distance.yaw
          ? "The disparity at known-distance was off by " +
                number_text(*report.distance.offset, 2) +
                " pixels, because the right camera has turned by " +
                number_text(degrees * *report.distance.yaw, 2) + "° in yaw"
          : "The rows of both pictures were " +
                with_error(report.estimate.rows_off, report.estimate.rows_error, 2) +
                " pixels apart, because the right camera has turned " + turn_text(report.estimate);
  return reason + ": its pictures are rectified accordingly, from " +
         std::to_string(pairs_to_wait) + " pairs after this one on.";
}

}  // namespace cudavision
