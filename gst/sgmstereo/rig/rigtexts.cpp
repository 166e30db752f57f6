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

/// `camera` is a RigRotation or CameraPair, `fit` the MountFit or CameraPairFit that contains it.
std::string turn_text(const auto& camera, const auto& fit, double yaw_angle, double yaw_error,
                      const char* reference) {
  return "by " + angle_text(camera.pitch, fit.error(pitch)) + " in pitch, " +
         angle_text(yaw_angle, yaw_error) + " in yaw and " +
         angle_text(camera.roll, fit.error(roll)) + " in roll, and its focal length is " +
         with_error(camera.zoom, fit.error(zoom), 4) + " times the " + reference;
}

std::string turn_text(const ExtrinsicEstimate& estimate) {
  return turn_text(estimate.fit.turn, estimate.fit, estimate.yaw, estimate.yaw_error,
                   "expected length");
}

constexpr int enough_blocks = rig::PairFigures::enough_blocks;
/// Unrelated pictures are below both shares. Matching pairs exceed the shares several times over.
constexpr double hardly_known = 0.1, hardly_matched = 0.2;

/// Limits for a drift warning, in pixels and standard errors. Good calibrations leave 0.1 pixels.
constexpr double max_rows_off = 0.4, drift_certainty = 3;

/// The share of pixels with positive disparity whose depth may exceed 16 bits, such as the sky.
constexpr double max_saturated = 0.05;
/// Share of the width. Below it, the angle of view is above 150°, too much for rectified pictures.
constexpr double min_focal_length = 1.0 / 8;
constexpr double min_baseline = 1;  // mm
/// Tolerated relative difference between a set and a calibrated length, as users may use rulers.
constexpr double max_contradiction = 0.02;
/// Upper limits of shares of pixels. Well-exposed pictures of dark or bright scenes stay below.
constexpr double max_black = 0.95, max_clipped = 0.4;
/// Limit of Repetition::share, which is 0.07 to 0.27 on chessboards, up to 0.02 in natural scenes.
constexpr double max_repeating = 0.05;

/// Returns the remedy if the range from `first` needs at least `needed` and better `wanted` values.
std::string range_remedy(const StereoSettings& settings, int first, int needed, int wanted) {
  using Config = sgm::Config;
  constexpr int step = Config::disparity_step;
  const int most = std::min(Config::Ranges::disparities.max, Config::max_disparity - first);
  if (needed > most / step * step)
    return "scale both pictures down upstream, because cudasgmstereo cannot search from " +
           std::to_string(first) + " to " + std::to_string(first + needed - 1) + " pixels";
  const int count = (std::min(wanted, most / step * step) + step - 1) / step * step;
  return "set " +
         (first != settings.minimum ? "min-disparity=" + std::to_string(first) + " " : "") +
         "num-disparities=" + std::to_string(count);
}

/// Exchanged cameras have only negative disparities. Converging cameras also have positive values.
bool is_exchanged(const rig::PairFigures& figures) {
  return figures.is_swapped() ||
         (figures.exceeds_range() && figures.min_disparity < 0 && figures.largest_disparity <= 0);
}

std::string swapped_text(const rig::PairFigures& figures) {
  const std::string evidence =
      figures.is_swapped()
          ? "The pictures match far better if left and right are exchanged (" +
                number_text(100 * figures.matched_if_swapped, 0) + " % of " +
                std::to_string(figures.blocks) + " blocks, instead of " +
                number_text(100 * figures.matched, 0) + " %)"
          : "The disparities are not positive (from " + std::to_string(figures.min_disparity) +
                " to " + std::to_string(figures.largest_disparity) +
                " pixels), so left and right are probably exchanged";
  return evidence +
         ": link the left camera to sink_left and the right camera to sink_right. For packed "
         "frames, set multiview-flags=right-view-first in the caps, or remove it if it is set.";
}

std::string unrectified_text(const rig::PairFigures& figures, const StereoSettings& settings,
                             CalibrationDrift drift) {
  return "The pictures are not rectified: points are " +
         number_text(std::abs(figures.vertical_offset), 1) + " rows " +
         (figures.vertical_offset < 0 ? "higher" : "lower") +
         " in the right picture than in the left picture (median; interquartile range " +
         number_text(figures.vertical_spread, 1) + " rows). " +
         (settings.calibration.automatic()
              ? "calibration=auto has found no calibration: point the cameras at a scene with "
                "texture in all parts of the pictures and at several distances, or calibrate them "
                "with pipelines/calibrate.py of the package gst-cudavision-tools."
          : settings.calibration.any()
              ? std::string("The calibration does not fit the cameras: calibrate them again") +
                    (drift == CalibrationDrift::correct
                         ? "."
                         : ", or set calibration-drift=correct if the right camera has only turned "
                           "in its mount.")
              : "Calibrate the cameras, for example with pipelines/calibrate.py of the package "
                "gst-cudavision-tools, and set calibration to the file, or rectify the pictures "
                "upstream.");
}

std::string drift_text(const MountReport& mounts) {
  const ExtrinsicEstimate& estimate = mounts.estimate;
  if (mounts.mode != CalibrationDrift::warn || !estimate.sure || estimate.rows_off < max_rows_off ||
      estimate.rows_off < drift_certainty * estimate.rows_error)
    return {};
  return "Corresponding rows of the two pictures are " + number_text(estimate.rows_off, 2) + " ± " +
         number_text(estimate.rows_error, 2) +
         " pixels apart, because the right camera has turned " + turn_text(estimate) +
         ". So fewer disparities are found: set calibration-drift=correct, or calibrate again.";
}

std::string range_text(const rig::PairFigures& figures, const StereoSettings& settings) {
  const int largest = settings.minimum + settings.disparities - 1;
  const std::string searched =
      "from " + std::to_string(settings.minimum) + " to " + std::to_string(largest) + " pixels";
  if (figures.above_range + figures.below_range == 0)
    return number_text(100 * figures.at_end, 0) +
           " % of the known disparities are at the upper end of the searched range, " + searched +
           ", so nearer points are missing: " +
           range_remedy(settings, settings.minimum, settings.disparities + 1,
                        2 * settings.disparities) +
           ".";
  const bool lower = figures.below_range > 0 && figures.min_disparity < settings.minimum;
  const bool negative = lower && figures.min_disparity < 0;
  int first = settings.minimum;
  if (lower)
    first = negative ? figures.min_disparity - 8 : std::max(figures.min_disparity - 8, 0);
  const int needed = figures.largest_disparity + 8 - first + 1;
  const int kept = (lower ? largest : largest + 1) - first + 1;
  const std::string remedy = range_remedy(settings, first, needed, std::max(needed, kept));
  const std::string found = "There are disparities from " + std::to_string(figures.min_disparity) +
                            " to " + std::to_string(figures.largest_disparity) +
                            " pixels, but the searched range is " + searched;
  // Searching negative disparities would hide that the cameras are exchanged.
  if (negative && settings.minimum >= 0)
    return found +
           ". Negative disparities mean that the cameras are exchanged, not rectified, or "
           "converge: check that the left camera is linked to sink_left, and calibrate the "
           "cameras, for example with pipelines/calibrate.py of the package gst-cudavision-tools. "
           "If they converge on purpose, " +
           remedy + ".";
  return found + ": " + remedy + ".";
}

std::string unmatched_text(const rig::PairFigures& figures, const StereoSettings& settings) {
  if (is_exchanged(figures) || figures.is_unrectified() || figures.exceeds_range() ||
      figures.blocks < enough_blocks || figures.known >= hardly_known ||
      figures.matched >= hardly_matched)
    return {};
  return "Hardly anything of the left picture is found in the right picture: " +
         number_text(100 * figures.known, 0) + " % of the disparities are known, and " +
         number_text(100 * figures.matched, 0) + " % of " + std::to_string(figures.blocks) +
         " blocks match. Check that both cameras see the same scene at the same time, that the "
         "left camera is linked to sink_left" +
         (settings.calibration.any() && !settings.calibration.automatic()
              ? ", and that the calibration was made for these cameras, in this order."
              : ", and that the pictures are rectified. If they are not, calibrate the cameras, "
                "for example with pipelines/calibrate.py of the package gst-cudavision-tools.");
}

std::string untextured_text(const rig::PairFigures& figures) {
  if (figures.cells < 2 * enough_blocks || figures.blocks >= enough_blocks ||
      figures.known >= hardly_known)
    return {};
  return "Only " + number_text(100 * figures.known, 0) +
         " % of the disparities are known, because only " + std::to_string(figures.blocks) +
         " of " + std::to_string(figures.cells) +
         " areas of the left picture have texture: focus the cameras, add light, or project dots.";
}

std::string repetition_text(const rig::Repetition& repetition) {
  const auto& [share, period] = repetition;
  if (share <= max_repeating)
    return {};
  std::string text = number_text(100 * share, 0) +
                     " % of the known pixels match equally well at a second disparity, " +
                     std::to_string(period) +
                     " pixels away, because the scene repeats along the rows: whole areas may be "
                     "off by one period, even at high confidence. ";
  if (const int within = period / sgm::Config::disparity_step * sgm::Config::disparity_step;
      within > 0)
    text += "Set num-disparities=" + std::to_string(within) +
            " or less and min-disparity just below the disparities of the scene, so that only one "
            "period fits; or rotate";
  else
    text += "Rotate";
  return text + " the camera pair relative to the pattern, or project texture onto the scene.";
}

/// Begins a sentence, such as "The left picture is". At least one argument must be true.
std::string sides(bool left, bool right) {
  return left && right ? "The left and right pictures are"
         : left        ? "The left picture is"
                       : "The right picture is";
}

std::string exposure_text(const rig::Exposure& left, const rig::Exposure& right, bool unequal) {
  if (const double black = std::max(left.black, right.black); black > max_black)
    return sides(left.black > max_black, right.black > max_black) + " black (" +
           number_text(100 * black, 0) +
           " % of the pixels): remove the lens caps, give the scene more light, or raise "
           "the exposure or the gain of the cameras.";
  if (const double white = std::max(left.saturated, right.saturated); white > max_clipped)
    return sides(left.saturated > max_clipped, right.saturated > max_clipped) + " saturated (" +
           number_text(100 * white, 0) +
           " % of the pixels are white): lower the exposure or the gain of the cameras.";
  if (!unequal)
    return {};
  return std::string("The ") + (left.mean < right.mean ? "left" : "right") +
         " picture is far darker than the other picture (mean levels " + number_text(left.mean, 0) +
         " on the left and " + number_text(right.mean, 0) +
         " on the right, of 255): turn off automatic exposure and gain, and set the same exposure "
         "and gain on both cameras, for example with v4l2-ctl.";
}

std::string unsynchronized_text(const VerticalOffsets& offsets) {
  const auto [min, max] = offsets.range();
  return "The two cameras do not take their pictures at the same time: the vertical offset between "
         "the pictures varies with motion, from " +
         number_text(min, 1) + " to " + number_text(max, 1) +
         " rows. Trigger the cameras together, give both the same framerate, and set max-skew to "
         "less than the time between two frames.";
}

std::string columns_text(const StereoSettings& settings, int width) {
  const int useful = std::max(32, (width - settings.minimum) / 32 * 32);
  if (useful >= settings.disparities)
    return {};
  return "num-disparities=" + std::to_string(settings.disparities) +
         " takes time for disparities up to " +
         std::to_string(settings.minimum + settings.disparities - 1) +
         " pixels, but the pictures are only " + std::to_string(width) +
         " pixels wide: set num-disparities=" + std::to_string(useful) + " or less.";
}

std::string focal_length_text(const StereoSettings& settings, int width) {
  if (settings.focal_length <= 0 || settings.focal_length >= min_focal_length * width)
    return {};
  const double angle = 2 * std::atan(width / (2 * settings.focal_length)) * degrees;
  return "focal-length=" + number_text(settings.focal_length, 1) +
         " pixels means an angle of view of " + number_text(angle, 0) + "° for pictures " +
         std::to_string(width) + " pixels wide. If the value is in mm, multiply it by " +
         std::to_string(width) + " and divide it by the width of the camera's sensor in mm.";
}

std::string baseline_text(const StereoSettings& settings) {
  if (settings.baseline <= 0 || settings.baseline >= min_baseline)
    return {};
  return "baseline=" + number_text(settings.baseline, 3) +
         " means that the cameras are less than 1 mm apart: if the value is in metres, set "
         "baseline=" +
         number_text(1000 * settings.baseline, 0) + ".";
}

std::string calibrated_lengths_text(const StereoSettings& settings) {
  if (settings.calibration.automatic())
    return {};
  std::string text;
  const auto add = [&](const char* name, double set, double calibrated, const char* unit) {
    if (calibrated > 0 && std::abs(set / calibrated - 1) > max_contradiction)
      text += (text.empty() ? "" : ", and ") + (name + ("=" + number_text(set, 1))) +
              ", but the calibration gives " + number_text(calibrated, 1) + " " + unit;
  };
  add("focal-length", settings.focal_length, settings.calibrated_focal_length,
      "pixels for the rectified pictures");
  add("baseline", settings.baseline, settings.calibrated_baseline, "mm");
  return text.empty() ? text : text + ": set 0 to use the calibration, or calibrate again.";
}

/// Rounds up to 1, 2 or 5 times a power of ten.
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
  return "Corresponding rows of the two pictures were " +
         with_error(found.rows_off, found.rows_error, 2) + " pixels apart, measured at " +
         std::to_string(found.points) + " points. The right camera is rotated " +
         turn_text(pair, fit, pair.yaw, fit.error(yaw), "left camera's") +
         ", and the lenses distort by k1 = " + with_error(pair.k1, fit.error(k1), 3) +
         ": both pictures are rectified from this pair on. Depth needs focal-length and baseline, "
         "and known-distance, because rows hardly constrain the yaw.";
}

std::string correction_text(const MountReport& report) {
  const std::string reason =
      report.distance.yaw
          ? "The disparity at known-distance was off by " +
                number_text(*report.distance.offset, 2) +
                " pixels, because the right camera has turned by " +
                number_text(degrees * *report.distance.yaw, 2) + "° in yaw"
          : "Corresponding rows of the two pictures were " +
                with_error(report.estimate.rows_off, report.estimate.rows_error, 2) +
                " pixels apart, because the right camera has turned " + turn_text(report.estimate);
  return reason + ": the correction of the right pictures begins " + std::to_string(pairs_to_wait) +
         " pairs later.";
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
  const MountReport& mounts = report.mounts;
  // A correction takes effect several pairs later. Until then, a warning would be superfluous.
  const bool is_being_corrected =
      mounts.calibrating || (mounts.mode == CalibrationDrift::correct && mounts.estimate.sure);
  if (offsets.vary())
    warnings[warning_unsynchronized] = {unsynchronized_text(offsets), false, true};
  else if (figures.is_unrectified() && !is_being_corrected)
    of_pictures(warning_unrectified, unrectified_text(figures, settings, mounts.mode));
  else if (!figures.is_unrectified())
    of_pictures(warning_drift, drift_text(mounts));
  const std::string exposure =
      exposure_text(figures.left, figures.right, figures.is_unequally_exposed());
  if (exposure.empty()) {
    of_pictures(warning_unmatched, unmatched_text(figures, settings));
    of_pictures(warning_untextured, untextured_text(figures));
  }
  // The warnings about repetition and depth need mostly correct matches.
  const bool is_matched = !is_exchanged(figures) && !figures.is_unrectified();
  if (is_matched)
    of_pictures(warning_repetition, repetition_text(figures.repetition));
  of_pictures(warning_exposure, exposure);
  of_settings(warning_known_distance, mounts.distance.problem, true);
  of_settings(warning_columns, columns_text(settings, width), true);
  of_settings(warning_focal_length, focal_length_text(settings, width), true);
  of_settings(warning_baseline, baseline_text(settings), true);
  of_settings(warning_calibrated_lengths, calibrated_lengths_text(settings), true);
  if (report.depth && is_matched)
    of_settings(warning_depth, depth_text(*report.depth, settings), false);
  return warnings;
}

}  // namespace cudavision
