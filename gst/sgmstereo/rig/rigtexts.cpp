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

/// `estimate` is an ExtrinsicEstimate or SelfCalibrated.
std::string rows_text(const char* verb, const auto& estimate) {
  return std::string("Corresponding rows of the two pictures ") + verb + " " +
         with_error(estimate.rows_off, estimate.rows_error, 2) + " pixels apart";
}

std::string angle_text(double angle, double error) {
  return with_error(degrees * angle, degrees * error, 2) + "°";
}

/// `camera` is a RigRotation or CameraPair, `fit` the MountFit or CameraPairFit that contains it.
std::string turn_text(const auto& camera, const auto& fit, double yaw_angle, double yaw_error,
                      const char* reference) {
  return "right camera is rotated by " + angle_text(camera.pitch, fit.error(pitch)) +
         " in pitch, " + angle_text(yaw_angle, yaw_error) + " in yaw and " +
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
                             const MountReport& mounts) {
  return "The pictures are not rectified: points are " +
         number_text(std::abs(figures.vertical_offset), 1) + " rows " +
         (figures.vertical_offset < 0 ? "higher" : "lower") +
         " in the right picture than in the left picture (median; interquartile range " +
         number_text(figures.vertical_spread, 1) + " rows). " +
         (mounts.calibrations.value_or(0) > 0
              ? "The calibration of calibration=auto does not fit any more: point the cameras at a "
                "scene with texture at several distances, or restart the element."
          : settings.calibration.automatic()
              ? "calibration=auto has found no calibration: point the cameras at a scene with "
                "texture in all parts of the pictures and at several distances, or calibrate them "
                "with pipelines/calibrate.py of the package gst-cudavision-tools."
          : settings.calibration.any()
              ? std::string("The calibration does not fit the cameras: calibrate them again") +
                    (mounts.mode == CalibrationDrift::correct
                         ? "."
                         : ", or set calibration-drift=correct if the right camera has only turned "
                           "in its mount.")
              : "Calibrate the cameras, for example with pipelines/calibrate.py of the package "
                "gst-cudavision-tools, and set calibration to the file, or rectify the pictures "
                "upstream.");
}

std::string drift_text(const MountReport& mounts, const StereoSettings& settings) {
  const ExtrinsicEstimate& estimate = mounts.estimate;
  if (mounts.mode != CalibrationDrift::warn || !estimate.sure || estimate.rows_off < max_rows_off ||
      estimate.rows_off < drift_certainty * estimate.rows_error)
    return {};
  return rows_text("are", estimate) + ", because the " + turn_text(estimate) +
         ". So fewer disparities are found: set calibration-drift=correct, or " +
         (settings.calibration.any() ? "calibrate again." : "rectify the pictures again upstream.");
}

std::string range_text(const rig::PairFigures& figures, const StereoSettings& settings) {
  const int largest = settings.minimum + settings.disparities - 1;
  const std::string searched =
      "from " + std::to_string(settings.minimum) + " to " + std::to_string(largest) + " pixels";
  if (figures.above_range + figures.below_range == 0 ||
      (figures.min_disparity >= settings.minimum && figures.largest_disparity <= largest))
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

std::string unsynchronized_text(const VerticalOffsets& offsets, const StereoSettings& settings) {
  const auto [min, max] = offsets.range();
  return "The two cameras do not take their pictures at the same time: the vertical offset between "
         "the pictures varies with motion, from " +
         number_text(min, 1) + " to " + number_text(max, 1) +
         " rows. Trigger both together or, if frames are not packed, set the same framerate" +
         (settings.max_skew == -1 ? "." : " and max-skew=-1.");
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
  return "focal-length=" + text_of(settings.focal_length) + " pixels means an angle of view of " +
         number_text(angle, 0) + "° for pictures " + std::to_string(width) + " pixels wide. " +
         (!settings.calibration.automatic() &&
                  settings.focal_length == settings.calibrated_focal_length
              ? "The calibration gives this value: calibrate again."
              : "If the value is in mm, multiply it by " + std::to_string(width) +
                    " and divide it by the width of the camera's sensor in mm.");
}

std::string baseline_text(const StereoSettings& settings) {
  if (settings.baseline <= 0 || settings.baseline >= min_baseline)
    return {};
  return "baseline=" + text_of(settings.baseline) +
         " means that the cameras are less than 1 mm apart. " +
         (settings.baseline == settings.calibrated_baseline
              ? "The calibration gives this value: correct its unit (mm, cm, m) or calibrate again."
              : "If it is in metres, set baseline=" + text_of(1000 * settings.baseline) + ".");
}

std::string calibrated_lengths_text(const StereoSettings& settings) {
  if (settings.calibration.automatic())
    return {};
  std::string text;
  const auto add = [&](const std::string& name, double set, double calibrated, const char* unit) {
    if (calibrated > 0 && std::abs(set / calibrated - 1) > max_contradiction)
      text += (text.empty() ? "" : " ") + name + "=" + text_of(set) +
              ", but the calibration gives " + text_of(std::round(1000 * calibrated) / 1000) +
              unit + ": set " + name + "=0 to use the calibration, or calibrate again.";
  };
  add("focal-length", settings.focal_length, settings.calibrated_focal_length,
      " pixels for the rectified pictures");
  add("baseline", settings.baseline, settings.calibrated_baseline, " mm");
  return text;
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
  return rows_text("were", found) + ", measured at " + std::to_string(found.points) +
         " points. The " + turn_text(pair, fit, pair.yaw, fit.error(yaw), "left camera's") +
         ", and the lenses distort by k1 = " + with_error(pair.k1, fit.error(k1), 3) +
         ": both pictures are rectified from this pair on. Depth needs focal-length and baseline, "
         "and known-distance, because rows hardly constrain the yaw.";
}

std::string correction_text(const MountReport& report) {
  const std::string correction = ": a correction of the right pictures begins " +
                                 std::to_string(pairs_to_wait) + " pairs later. In total, the ";
  if (report.distance.yaw)
    return "The disparity at known-distance was off by " + number_text(*report.distance.offset, 2) +
           " pixels" + correction + "right camera is rotated by " +
           number_text(degrees * *report.distance.yaw, 2) + "° in yaw.";
  return rows_text("were", report.estimate) + correction + turn_text(report.estimate) + ".";
}

RigWarnings warnings_of(const InspectedPair& pair, const RigReport& report,
                        const VerticalOffsets& offsets) {
  const rig::PairFigures& figures = report.figures;
  const StereoSettings& settings = pair.settings;
  RigWarnings warnings{};
  if (is_exchanged(figures))
    warnings[warning_swapped].text = swapped_text(figures);
  else if (figures.exceeds_range())
    warnings[warning_range] = {range_text(figures, settings), true, false};
  const MountReport& mounts = report.mounts;
  // A correction takes effect several pairs later. Until then, a warning would be superfluous.
  const bool is_being_corrected =
      mounts.calibrating || (mounts.mode == CalibrationDrift::correct && mounts.estimate.sure);
  if (offsets.vary())
    warnings[warning_unsynchronized] = {unsynchronized_text(offsets, settings), false, true};
  else if (figures.is_unrectified() && !is_being_corrected)
    warnings[warning_unrectified].text = unrectified_text(figures, settings, mounts);
  else if (!figures.is_unrectified())
    warnings[warning_drift].text = drift_text(mounts, settings);
  warnings[warning_exposure].text =
      exposure_text(figures.left, figures.right, figures.is_unequally_exposed());
  if (warnings[warning_exposure].text.empty()) {
    warnings[warning_unmatched].text = unmatched_text(figures, settings);
    warnings[warning_untextured].text = untextured_text(figures);
  }
  // The warnings about repetition and depth need mostly correct matches.
  const bool is_matched = !is_exchanged(figures) && !figures.is_unrectified();
  if (is_matched)
    warnings[warning_repetition].text = repetition_text(figures.repetition);
  warnings[warning_known_distance] = {mounts.distance.problem, true, true};
  warnings[warning_columns] = {columns_text(settings, pair.left.width), true, true};
  warnings[warning_focal_length] = {focal_length_text(settings, pair.left.width), true, true};
  warnings[warning_baseline] = {baseline_text(settings), true, true};
  warnings[warning_calibrated_lengths] = {calibrated_lengths_text(settings), true, true};
  if (report.depth && is_matched)
    warnings[warning_depth] = {depth_text(*report.depth, settings), true, false};
  return warnings;
}

}  // namespace cudavision
