// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereodiagnostics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "gst/base/elementerror.h"

namespace cudavision {
namespace {

/// Pairs without running times are counted instead.
constexpr int pairs_per_inspection = 30;

constexpr int most_disparities = 1024;

/// A pair of fewer blocks is not judged, as sgm::PairFigures does not.
constexpr int enough_blocks = 24;
/// Pictures that have nothing to do with each other stay below both shares. Pairs that are matched
/// at all have several times as many.
constexpr double hardly_known = 0.1, hardly_matched = 0.2;

/// Of the known pixels, those whose depth may exceed 16 bits: the sky, for example.
constexpr double most_saturated = 0.05;
/// A focal length of less than this part of the picture's width is an angle of view of more than
/// 150°, which no rectified picture has.
constexpr double least_focal_length = 1.0 / 8;

/// Returns a number with the given count of decimals.
std::string text(double number, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, number);
  return buffer;
}

/// Returns the least multiple of 32 that is not below number, as num-disparities takes it.
int disparity_count(int number) {
  return std::clamp((number + 31) / 32 * 32, 32, most_disparities);
}

std::string swapped_text(const sgm::PairFigures& figures) {
  std::string text =
      "The pictures match far better if left and right are exchanged (" +
      std::to_string(std::lround(100 * figures.matched_if_swapped)) + " % of " +
      std::to_string(figures.blocks) + " places, instead of " +
      std::to_string(std::lround(100 * figures.matched)) +
      " %): link the left camera to sink_left and the right one to sink_right. For packed frames, "
      "set the flag right-view-first in the caps.";
  if (figures.least_disparity < 0)
    text += " If the cameras are in the right order but converge, set min-disparity=" +
            std::to_string(figures.least_disparity - 8) + " instead.";
  return text;
}

std::string unrectified_text(const sgm::PairFigures& figures, const StereoSettings& settings) {
  return "The pictures are not rectified: points of the scene must lie in the same row of both, "
         "but in the right picture they lie " +
         text(std::abs(figures.vertical_offset), 1) + " rows " +
         (figures.vertical_offset < 0 ? "higher" : "lower") +
         " than in the left one (median; the middle half of these offsets differ by " +
         text(figures.vertical_spread, 1) + " rows). " +
         (settings.calibration.any()
              ? "The calibration does not fit the cameras: calibrate them again."
              : "Calibrate the cameras, for example with pipelines/calibrate.py, and set "
                "calibration to the file, or rectify the pictures before the element.");
}

std::string range_text(const sgm::PairFigures& figures, const StereoSettings& settings) {
  const int largest = settings.minimum + settings.disparities - 1;
  const std::string searched =
      "from " + std::to_string(settings.minimum) + " to " + std::to_string(largest) + " pixels";
  if (figures.above_range + figures.below_range == 0)
    return "Of the known disparities, " + text(100 * figures.at_end, 0) +
           " % lie at the end of those that are searched, " + searched +
           ", so that nearer points are missing: set num-disparities=" +
           std::to_string(disparity_count(2 * settings.disparities)) + ".";
  const bool lower = figures.below_range > 0 && figures.least_disparity < settings.minimum;
  const int first = lower ? figures.least_disparity - 8 : settings.minimum;
  const int last = std::max(figures.largest_disparity + 8, lower ? largest : largest + 1);
  std::string remedy = lower ? "min-disparity=" + std::to_string(first) + " " : "";
  remedy += "num-disparities=" + std::to_string(disparity_count(last - first + 1));
  return "There are disparities from " + std::to_string(figures.least_disparity) + " to " +
         std::to_string(figures.largest_disparity) + " pixels, but only those " + searched +
         " are searched: set " + remedy + ".";
}

/// Found if figures give no other cause.
std::string unmatched_text(const sgm::PairFigures& figures, const StereoSettings& settings) {
  if (figures.is_swapped() || figures.is_unrectified() || figures.exceeds_range() ||
      figures.blocks < enough_blocks || figures.known >= hardly_known ||
      figures.matched >= hardly_matched)
    return {};
  return "Hardly anything of the left picture is found in the right one: " +
         text(100 * figures.known, 0) + " % of the pixels are known, and " +
         text(100 * figures.matched, 0) + " % of " + std::to_string(figures.blocks) +
         " places match. Check that both cameras see the same scene at the same time, and that the "
         "left one is linked to sink_left" +
         (settings.calibration.any()
              ? ", and that the calibration is that of these cameras, in this order."
              : ". Pictures that are not rectified need a calibration, for example by "
                "pipelines/calibrate.py.");
}

/// A width for which fewer disparities are impossible gives no warning.
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
  if (settings.focal_length <= 0 || settings.focal_length >= least_focal_length * width)
    return {};
  const double angle = 2 * std::atan(width / (2 * settings.focal_length)) * 180 / G_PI;
  return "focal-length=" + text(settings.focal_length, 1) + " is " +
         text(settings.focal_length, 1) + " pixels, so that pictures " + std::to_string(width) +
         " pixels wide have an angle of view of " + text(angle, 0) +
         "°. If it is in millimetres, set focal-length to it times " + std::to_string(width) +
         ", divided by the width of the camera's sensor in millimetres.";
}

/// The depths of a map, as far as they do not fit 16 bits.
struct DepthFit {
  double saturated;  ///< share of the known pixels
  double farthest;   ///< in mm: all but 1 % of the known pixels are at most this far away
};

DepthFit depth_fit(View<const std::uint8_t> map, const StereoSettings& settings) {
  const sgm::DisparityScale scale = sgm::disparity_scale(settings);
  const double millimetres = settings.focal_length * settings.baseline * scale.per_pixel;
  std::vector<std::size_t> counts(1 << 15);
  std::size_t known = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width / 2; ++x) {
      std::uint16_t sample;
      std::memcpy(&sample, map.row(y) + 2 * static_cast<std::ptrdiff_t>(x), sizeof sample);
      const auto value = static_cast<std::int16_t>(sample);
      if (sample == scale.invalid || value <= 0)
        continue;
      ++counts[static_cast<std::size_t>(value)];
      ++known;
    }
  DepthFit fit{0, 0};
  std::size_t saturated = 0, farther = 0;
  for (std::size_t value = 1; value < counts.size() && known > 0; ++value) {
    const double depth = millimetres / static_cast<double>(value);
    if (depth > G_MAXUINT16 * settings.depth_unit)
      saturated += counts[value];
    farther += counts[value];
    if (fit.farthest == 0 && 100 * farther > known)
      fit.farthest = depth;
  }
  if (known > 0)
    fit.saturated = static_cast<double>(saturated) / static_cast<double>(known);
  return fit;
}

/// Returns the least of 1, 2, 5, 10, 20… that is not below number.
double rounded_up(double number) {
  const double power = std::pow(10, std::floor(std::log10(number)));
  for (const int factor : {1, 2, 5})
    if (factor * power >= number)
      return factor * power;
  return 10 * power;
}

std::string depth_text(const DepthFit& fit, const StereoSettings& settings) {
  if (fit.saturated <= most_saturated)
    return {};
  const double unit = rounded_up(fit.farthest / G_MAXUINT16);
  return text(100 * fit.saturated, 0) + " % of the known pixels are farther away than " +
         text(G_MAXUINT16 * settings.depth_unit / 1000, 1) +
         " m, the largest depth that 16 bits hold with depth-unit=" + text(settings.depth_unit, 3) +
         ": set depth-unit=" + text(unit, unit < 1 ? 3 : 0) + ".";
}

}  // namespace

bool StereoDiagnostics::selects(const FrameTimes& times, GstClockTime interval) {
  if (interval == 0)
    return false;
  const GstClockTime now = times.running_time;
  bool selected = inspections_ == 0;
  if (!GST_CLOCK_TIME_IS_VALID(now))
    selected = selected || ++skipped_ >= pairs_per_inspection;
  else
    selected =
        selected || !GST_CLOCK_TIME_IS_VALID(last_) || now < last_ || now - last_ >= interval;
  if (!selected)
    return false;
  last_ = now;
  skipped_ = 0;
  return true;
}

void StereoDiagnostics::report(const FrameTimes& times, const StereoSettings& settings,
                               bool measures_depth, PairSnapshot& pair) {
  const sgm::PairFigures figures = pair.figures(settings);
  Texts now;
  if (figures.is_swapped())
    now[swapped] = swapped_text(figures);
  if (figures.is_unrectified())
    now[unrectified] = unrectified_text(figures, settings);
  if (figures.exceeds_range())
    now[range] = range_text(figures, settings);
  now[unmatched] = unmatched_text(figures, settings);
  const int width = pair.size().width;
  now[columns] = columns_text(settings, width);
  now[focal_length] = focal_length_text(settings, width);
  std::optional<double> saturated;
  if (measures_depth) {
    const DepthFit fit = depth_fit(pair.map(), settings);
    saturated = fit.saturated;
    now[depth] = depth_text(fit, settings);
  }

  post(times, figures, saturated);
  for (int cause = 0; cause < cause_count; ++cause) {
    const bool certain = cause == columns || cause == focal_length;
    if (!now[cause].empty() && (certain || !found_[cause].empty()))
      warn(static_cast<Cause>(cause), now[cause]);
  }
  found_ = now;
  ++inspections_;
}

void StereoDiagnostics::end() {
  for (int cause = 0; cause < cause_count && inspections_ == 1; ++cause)
    if (!found_[cause].empty())
      warn(static_cast<Cause>(cause), found_[cause]);
  found_ = {};
  inspections_ = 0;
}

void StereoDiagnostics::post(const FrameTimes& times, const sgm::PairFigures& figures,
                             std::optional<double> saturated) {
  GstStructure* structure = gst_structure_new(
      "cudasgmstereo", "timestamp", G_TYPE_UINT64, times.timestamp, "stream-time", G_TYPE_UINT64,
      times.stream_time, "running-time", G_TYPE_UINT64, times.running_time, "duration",
      G_TYPE_UINT64, times.duration, "known", G_TYPE_DOUBLE, figures.known, "at-range-end",
      G_TYPE_DOUBLE, figures.at_end, "blocks", G_TYPE_UINT, static_cast<guint>(figures.blocks),
      "agreement", G_TYPE_DOUBLE, figures.agreement, "matched", G_TYPE_DOUBLE, figures.matched,
      nullptr);
  if (figures.vertical_known())
    gst_structure_set(structure, "vertical-offset", G_TYPE_DOUBLE, figures.vertical_offset,
                      "vertical-spread", G_TYPE_DOUBLE, figures.vertical_spread, nullptr);
  if (saturated)
    gst_structure_set(structure, "saturated", G_TYPE_DOUBLE, *saturated, nullptr);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure));
}

void StereoDiagnostics::warn(Cause cause, const std::string& text) {
  if (warned_[cause])
    return;
  warned_[cause] = true;
  const bool of_settings = cause != swapped && cause != unrectified && cause != unmatched;
  if (of_settings)
    post_warning(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
  else
    post_warning(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);
}

}  // namespace cudavision
