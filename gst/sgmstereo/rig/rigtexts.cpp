// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "gst/core/text.h"
#include "gst/sgmstereo/rig/camerarig.h"

namespace cudavision {
namespace {

constexpr double degrees = 180 / G_PI;

enum Unknown { pitch, yaw, roll, zoom, k1 };

std::string with_error(double number, double error, int decimals) {
  return number_text(number, decimals) + " ± " + number_text(error, decimals);
}

std::string angle_text(double angle, double error) {
  return with_error(degrees * angle, degrees * error, 2) + "°";
}

/// Example: "by 0.50 ± 0.01° in pitch, …".
std::string turn_text(const ExtrinsicEstimate& estimate) {
  const rig::MountFit& fit = estimate.fit;
  return "by " + angle_text(fit.turn.pitch, fit.error(pitch)) + " in pitch, " +
         angle_text(estimate.yaw, estimate.yaw_error) + " in yaw and " +
         angle_text(fit.turn.roll, fit.error(roll)) + " in roll, and its focal length is " +
         with_error(fit.turn.zoom, fit.error(zoom), 4) + " times the left one's";
}

constexpr int max_disparities = 1024;

constexpr int enough_blocks = rig::PairFigures::enough_blocks;
/// Unrelated pictures stay below both shares. Pairs that match at all have several times as many.
constexpr double hardly_known = 0.1, hardly_matched = 0.2;

/// Warns if rows are this many pixels and standard errors apart. A row costs a tenth of all
/// disparities; good pictures have a tenth of a pixel.
constexpr double max_rows_off = 0.4, drift_certainty = 3;

/// The share of known pixels whose depth may exceed 16 bits, such as the sky.
constexpr double max_saturated = 0.05;
/// As a share of the width. Less is an angle of view above 150°, impossible for rectified pictures.
constexpr double min_focal_length = 1.0 / 8;
constexpr double min_baseline = 1;  // mm
/// Rectified pictures have almost the calibration's focal length; baselines are measured by rulers.
constexpr double max_contradiction = 0.02;
/// Shares of the pixels. Pictures of dark and of bright scenes stay below: at a third of its
/// brightness, 0.52 of tsukuba is black.
constexpr double max_black = 0.95, max_clipped = 0.4;
/// Of known pixels. OpenCV's chessboards have 0.07 to 0.27, natural scenes 0.02 at most.
constexpr double max_repeating = 0.05;

int disparity_count(int number) {
  return std::clamp((number + 31) / 32 * 32, 32, max_disparities);
}

/// Then all disparities are negative. Converging cameras also have positive disparities.
bool is_exchanged(const rig::PairFigures& figures) {
  return figures.is_swapped() ||
         (figures.exceeds_range() && figures.min_disparity < 0 && figures.largest_disparity <= 0);
}

std::string swapped_text(const rig::PairFigures& figures) {
  return "The pictures match far better if left and right are exchanged (" +
         std::to_string(std::lround(100 * figures.matched_if_swapped)) + " % of " +
         std::to_string(figures.blocks) + " places, instead of " +
         std::to_string(std::lround(100 * figures.matched)) +
         " %): link the left camera to sink_left and the right one to sink_right. For packed "
         "frames, set the flag right-view-first in the caps.";
}

std::string unrectified_text(const rig::PairFigures& figures, const StereoSettings& settings) {
  return "The pictures are not rectified: points of the scene must lie in the same row of both, "
         "but in the right picture they lie " +
         number_text(std::abs(figures.vertical_offset), 1) + " rows " +
         (figures.vertical_offset < 0 ? "higher" : "lower") +
         " than in the left one (median; the middle half of these offsets differ by " +
         number_text(figures.vertical_spread, 1) + " rows). " +
         (settings.calibration.automatic()
              ? "calibration=auto cannot tell how the cameras stand: show them something with "
                "texture in all parts of the pictures, at several distances, or calibrate them "
                "with "
                "pipelines/calibrate.py of the package gst-cudavision-tools."
          : settings.calibration.any()
              ? "The calibration does not fit the cameras: calibrate them again, or set "
                "calibration-drift=correct if they have only turned."
              : "Calibrate the cameras, for example with pipelines/calibrate.py of the package "
                "gst-cudavision-tools, and set "
                "calibration to the file, or rectify the pictures before the element.");
}

/// A correction needs several pairs before it takes effect.
bool is_being_corrected(const MountReport& mounts) {
  return mounts.calibrating || (mounts.mode == CalibrationDrift::correct && mounts.estimate.sure);
}

std::string drift_text(const MountReport& mounts) {
  const ExtrinsicEstimate& estimate = mounts.estimate;
  if (mounts.mode != CalibrationDrift::warn || !estimate.sure || estimate.rows_off < max_rows_off ||
      estimate.rows_off < drift_certainty * estimate.rows_error)
    return {};
  return "The rows of the pictures are " + number_text(estimate.rows_off, 2) + " ± " +
         number_text(estimate.rows_error, 2) +
         " pixels apart, because the right camera has turned " + turn_text(estimate) +
         ", which costs known and true disparities: set calibration-drift=correct, or calibrate "
         "the "
         "cameras again.";
}

std::string range_text(const rig::PairFigures& figures, const StereoSettings& settings) {
  const int largest = settings.minimum + settings.disparities - 1;
  const std::string searched =
      "from " + std::to_string(settings.minimum) + " to " + std::to_string(largest) + " pixels";
  if (figures.above_range + figures.below_range == 0)
    return "Of the known disparities, " + number_text(100 * figures.at_end, 0) +
           " % lie at the end of those that are searched, " + searched +
           ", so that nearer points are missing: set num-disparities=" +
           std::to_string(disparity_count(2 * settings.disparities)) + ".";
  const bool lower = figures.below_range > 0 && figures.min_disparity < settings.minimum;
  const int first = lower ? figures.min_disparity - 8 : settings.minimum;
  const int last = std::max(figures.largest_disparity + 8, lower ? largest : largest + 1);
  std::string remedy = lower ? "min-disparity=" + std::to_string(first) + " " : "";
  remedy += "num-disparities=" + std::to_string(disparity_count(last - first + 1));
  const std::string found = "There are disparities from " + std::to_string(figures.min_disparity) +
                            " to " + std::to_string(figures.largest_disparity) +
                            " pixels, but only those " + searched + " are searched";
  // Searching negative disparities would hide that the cameras are exchanged.
  if (first < 0)
    return found +
           ". Cameras in the right order have no negative ones once their pictures are rectified: "
           "check that the left camera is linked to sink_left, and calibrate them, for example "
           "with pipelines/calibrate.py of the package gst-cudavision-tools.";
  return found + ": set " + remedy + ".";
}

/// Only if the figures show no other cause.
std::string unmatched_text(const rig::PairFigures& figures, const StereoSettings& settings) {
  if (is_exchanged(figures) || figures.is_unrectified() || figures.exceeds_range() ||
      figures.blocks < enough_blocks || figures.known >= hardly_known ||
      figures.matched >= hardly_matched)
    return {};
  return "Hardly anything of the left picture is found in the right one: " +
         number_text(100 * figures.known, 0) + " % of the pixels are known, and " +
         number_text(100 * figures.matched, 0) + " % of " + std::to_string(figures.blocks) +
         " places match. Check that both cameras see the same scene at the same time, and that the "
         "left one is linked to sink_left" +
         (settings.calibration.any() && !settings.calibration.automatic()
              ? ", and that the calibration is that of these cameras, in this order."
              : ". Pictures that are not rectified need a calibration, for example by "
                "pipelines/calibrate.py of the package gst-cudavision-tools.");
}

std::string untextured_text(const rig::PairFigures& figures) {
  if (figures.places < 2 * enough_blocks || figures.blocks >= enough_blocks ||
      figures.known >= hardly_known)
    return {};
  return "Hardly anything is known, " + number_text(100 * figures.known, 0) +
         " % of the pixels, because the left picture has hardly any texture (in " +
         std::to_string(figures.blocks) + " of " + std::to_string(figures.places) +
         " places): focus the cameras, give the scene more light or project a pattern onto it.";
}

std::string repetition_text(const rig::Repetition& repetition) {
  const auto& [share, period] = repetition;
  if (share <= max_repeating)
    return {};
  std::string text = number_text(100 * share, 0) +
                     " % of the known pixels match as well at a second disparity, " +
                     std::to_string(period) +
                     " pixels away, because the scene repeats along the rows: whole areas may have "
                     "the disparity of another period, with any confidence. ";
  // In a range no larger than the period, only one disparity matches.
  if (const int fitting = period / sgm::Config::disparity_step * sgm::Config::disparity_step;
      fitting > 0)
    text += "Narrow the range so that only one period fits, by num-disparities=" +
            std::to_string(fitting) +
            " or less and a min-disparity just below the disparities of the scene; or turn";
  else
    text += "Turn";
  return text + " the pair of cameras against the pattern, or project texture onto it.";
}

std::string sides(bool left, bool right) {
  return std::string(left ? "left" : "") + (left && right ? " and " : "") + (right ? "right" : "");
}

std::string exposure_text(const rig::Exposure& left, const rig::Exposure& right, bool unequal) {
  const auto of_sides = [](const std::string& which) {
    return which.find(' ') == std::string::npos ? "The " + which + " picture is"
                                                : "The " + which + " pictures are";
  };
  if (const std::string black = sides(left.black > max_black, right.black > max_black);
      !black.empty())
    return of_sides(black) + " black (" + number_text(100 * std::max(left.black, right.black), 0) +
           " % of the pixels): take the caps off the lenses, give the scene more light, or raise "
           "the exposure or the gain of the cameras.";
  if (const std::string white = sides(left.saturated > max_clipped, right.saturated > max_clipped);
      !white.empty())
    return of_sides(white) + " saturated (" +
           number_text(100 * std::max(left.saturated, right.saturated), 0) +
           " % of the pixels are white): lower the exposure or the gain of the cameras.";
  if (!unequal)
    return {};
  return std::string("The ") + (left.mean < right.mean ? "left" : "right") +
         " picture is far darker than the other one (mean levels " + number_text(left.mean, 0) +
         " on the left and " + number_text(right.mean, 0) +
         " on the right, of 255): switch the automatic exposure and gain of both cameras off and "
         "set them to the same values, for example with v4l2-ctl.";
}

std::string unsynchronized_text(const VerticalOffsets& offsets) {
  const auto [min, max] = offsets.range();
  return "The two cameras do not take their pictures at the same time: the rows of the right "
         "picture lie between " +
         number_text(min, 1) + " and " + number_text(max, 1) +
         " rows lower than those of the left one, and this changes while something moves, which no "
         "calibration explains. Trigger the cameras together, give both the same framerate, and "
         "set max-skew to less than the distance of two frames.";
}

/// Does not warn if fewer disparities are impossible.
std::string columns_text(const StereoSettings& settings, int width) {
  const int largest = settings.minimum + settings.disparities - 1;
  if (largest < width || settings.disparities == 32)
    return {};
  const int fitting = std::max(32, (width - settings.minimum) / 32 * 32);
  if (fitting >= settings.disparities)
    return {};
  return "num-disparities=" + std::to_string(settings.disparities) +
         " takes time for disparities up to " + std::to_string(largest) +
         ", but the pictures have only " + std::to_string(width) +
         " columns: set num-disparities=" + std::to_string(fitting) + " or less.";
}

std::string focal_length_text(const StereoSettings& settings, int width) {
  if (settings.focal_length <= 0 || settings.focal_length >= min_focal_length * width)
    return {};
  const double angle = 2 * std::atan(width / (2 * settings.focal_length)) * 180 / G_PI;
  return "focal-length=" + number_text(settings.focal_length, 1) + " is " +
         number_text(settings.focal_length, 1) + " pixels, so that pictures " +
         std::to_string(width) + " pixels wide have an angle of view of " + number_text(angle, 0) +
         "°. If it is in millimetres, set focal-length to it times " + std::to_string(width) +
         ", divided by the width of the camera's sensor in millimetres.";
}

std::string baseline_text(const StereoSettings& settings) {
  if (settings.baseline <= 0 || settings.baseline >= min_baseline)
    return {};
  return "baseline=" + number_text(settings.baseline, 3) +
         " means that the cameras are less than a millimetre apart: if it is in metres, set "
         "baseline=" +
         number_text(1000 * settings.baseline, 0) + ".";
}

/// settings have the calibration's lengths, unless lengths are set.
std::string calibrated_lengths_text(const StereoSettings& settings) {
  if (settings.calibration.automatic())  // takes lengths from the properties
    return {};
  const auto contradicts = [](double set, double calibrated) {
    return calibrated > 0 && std::abs(set / calibrated - 1) > max_contradiction;
  };
  std::string text_of_all;
  const auto add = [&](const char* name, double set, double calibrated, const char* unit) {
    if (contradicts(set, calibrated))
      text_of_all += (text_of_all.empty() ? "" : " and ") + (name + ("=" + number_text(set, 1))) +
                     ", but the calibration gives " + number_text(calibrated, 1) + " " + unit;
  };
  add("focal-length", settings.focal_length, settings.calibrated_focal_length,
      "pixels for the rectified pictures");
  add("baseline", settings.baseline, settings.calibrated_baseline, "mm");
  if (!text_of_all.empty())
    text_of_all += ": set them to 0, so that the calibration's count, or calibrate again.";
  return text_of_all;
}

/// Rounds up to 1, 2, 5, 10, 20…
double rounded_up(double number) {
  const double power = std::pow(10, std::floor(std::log10(number)));
  for (const int factor : {1, 2, 5})
    if (factor * power >= number)
      return factor * power;
  return 10 * power;
}

std::string depth_text(const DepthFit& fit, const StereoSettings& settings) {
  if (fit.saturated <= max_saturated)
    return {};
  const double unit = rounded_up(fit.farthest / G_MAXUINT16);
  return number_text(100 * fit.saturated, 0) + " % of the known pixels are farther away than " +
         number_text(G_MAXUINT16 * settings.depth_unit / 1000, 1) +
         " m, the largest depth that 16 bits hold with depth-unit=" +
         number_text(settings.depth_unit, 3) +
         ": set depth-unit=" + number_text(unit, unit < 1 ? 3 : 0) + ".";
}

}  // namespace

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

RigWarnings warnings_of(const InspectedPair& pair, const RigReport& report,
                        const VerticalOffsets& offsets) {
  const rig::PairFigures& figures = report.figures;
  const StereoSettings& settings = pair.settings;
  const int width = pair.left.width;
  RigWarnings warnings{};
  const auto of_pictures = [&](RigWarningId id, std::string text) {
    warnings[id] = {std::move(text), false, false};
  };
  const auto of_settings = [&](RigWarningId id, std::string text, bool certain) {
    warnings[id] = {std::move(text), true, certain};
  };
  if (is_exchanged(figures))
    of_pictures(warning_swapped, swapped_text(figures));
  else if (figures.exceeds_range())
    of_settings(warning_range, range_text(figures, settings), false);
  if (offsets.vary())  // based on several inspections
    warnings[warning_unsynchronized] = {unsynchronized_text(offsets), false, true};
  else if (figures.is_unrectified() && !is_being_corrected(report.mounts))
    of_pictures(warning_unrectified, unrectified_text(figures, settings));
  else if (!figures.is_unrectified())
    of_pictures(warning_drift, drift_text(report.mounts));
  const std::string exposure =
      exposure_text(figures.left, figures.right, figures.is_unequally_exposed());
  if (exposure.empty()) {
    of_pictures(warning_unmatched, unmatched_text(figures, settings));
    of_pictures(warning_untextured, untextured_text(figures));
  }
  // Rows of exchanged or unrectified pictures show different parts of the scene.
  if (!is_exchanged(figures) && !figures.is_unrectified())
    of_pictures(warning_repetition, repetition_text(figures.repetition));
  of_pictures(warning_exposure, exposure);
  of_settings(warning_known_distance, report.mounts.distance.problem, true);
  of_settings(warning_columns, columns_text(settings, width), true);
  of_settings(warning_focal_length, focal_length_text(settings, width), true);
  of_settings(warning_baseline, baseline_text(settings), true);
  of_settings(warning_calibrated_lengths, calibrated_lengths_text(settings), true);
  // Depths of wrong matches do not call for another unit.
  if (report.depth && !is_exchanged(figures) && !figures.is_unrectified())
    of_settings(warning_depth, depth_text(*report.depth, settings), false);
  return warnings;
}

}  // namespace cudavision
