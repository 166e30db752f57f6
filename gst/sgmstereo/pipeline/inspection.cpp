// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

constexpr double degrees = 180 / G_PI;

enum Unknown { pitch, yaw, roll, zoom };

void add(GstStructure* structure, const char* name, double value) {
  gst_structure_set(structure, name, G_TYPE_DOUBLE, value, nullptr);
}

void add_noise_fields(GstStructure* structure, const PairSnapshot& pair,
                      const StereoSettings& settings) {
  constexpr double unit = sgm::NoiseLevel::per_level;
  double used = sgm::heeds_noise(settings) ? settings.noise : 0;
  if (const auto state = pair.noise()) {
    add(structure, "noise", std::sqrt(state->measured) / unit);
    used = std::sqrt(state->used.variance) / unit;
  }
  add(structure, "noise-used", used);
}

void add_mount_fields(GstStructure* structure, const MountReport& report) {
  if (report.calibrations)
    gst_structure_set(structure, "calibrations", G_TYPE_UINT, *report.calibrations, nullptr);
  if (report.mode == CalibrationDrift::off)
    return;
  if (const ExtrinsicEstimate& estimate = report.estimate; estimate.known) {
    const rig::MountFit& fit = estimate.fit;
    add(structure, "rows-off", estimate.rows_off);
    add(structure, "rows-off-error", estimate.rows_error);
    add(structure, "pitch", degrees * fit.turn.pitch);
    add(structure, "pitch-error", degrees * fit.error(pitch));
    add(structure, "yaw", degrees * estimate.yaw);
    add(structure, "yaw-error", degrees * estimate.yaw_error);
    add(structure, "roll", degrees * fit.turn.roll);
    add(structure, "roll-error", degrees * fit.error(roll));
    add(structure, "zoom", fit.turn.zoom);
    add(structure, "zoom-error", fit.error(zoom));
  }
  if (report.mode != CalibrationDrift::correct)
    return;
  add(structure, "corrected-pitch", degrees * report.corrected.pitch);
  add(structure, "corrected-yaw", degrees * report.corrected.yaw);
  add(structure, "corrected-roll", degrees * report.corrected.roll);
  add(structure, "corrected-zoom", report.corrected.zoom);
  if (report.distance.offset)
    add(structure, "known-distance-offset", *report.distance.offset);
  gst_structure_set(structure, "corrections", G_TYPE_UINT, report.corrections, nullptr);
}

Structure message_of(const RigReport& report, const PairSnapshot& pair, const FrameTimes& times,
                     const StereoSettings& settings) {
  Structure message = structure_with_times("cudasgmstereo", times);
  GstStructure* structure = message.get();
  const rig::PairFigures& figures = report.figures;
  add(structure, "known", figures.known);
  add(structure, "at-range-end", figures.at_end);
  gst_structure_set(structure, "blocks", G_TYPE_UINT, static_cast<guint>(figures.blocks), nullptr);
  add(structure, "agreement", figures.agreement);
  add(structure, "matched", figures.matched);
  if (figures.vertical_known()) {
    add(structure, "vertical-offset", figures.vertical_offset);
    add(structure, "vertical-spread", figures.vertical_spread);
  }
  add(structure, "repeating", figures.repetition.share);
  if (figures.repetition.period > 0)
    gst_structure_set(structure, "repeat-period", G_TYPE_INT, figures.repetition.period, nullptr);
  if (report.depth)
    add(structure, "saturated", report.depth->saturated);
  add_noise_fields(structure, pair, settings);
  add_mount_fields(structure, report.mounts);
  return message;
}

void post_warnings(GstElement* element, const std::vector<RigWarning>& warnings) {
  for (const RigWarning& warning : warnings)
    if (warning.concerns_settings)
      post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, warning.text);
    else
      post_warning(element, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, warning.text);
}

}  // namespace

bool InspectionInterval::selects(const FrameTimes& times, GstClockTime interval) {
  if (interval == 0)
    return false;
  if (GST_CLOCK_TIME_IS_VALID(times.running_time)) {
    if (!interval_.selects(times.running_time, interval))
      return false;
  } else {
    if (++untimed_ < untimed_pairs)
      return false;
    interval_.reset();
  }
  untimed_ = 0;
  return true;
}

// Posts only copies, because a message handler may stop the element, which frees pair and rig.
void stereo_inspect_pair(StereoStream& stream, const FrameTimes& times) {
  GstElement* element = GST_ELEMENT_CAST(stream.self);
  const StereoSettings settings = stream.processor->settings().with_calibrated_lengths();
  const PairSnapshot& pair = stream.processor->snapshot();
  const RigReport report = stream.camera_rig().inspect({pair.left(), pair.right(), pair.map(),
                                                        settings, stream.processor->right_camera(),
                                                        stream.processor->measures_depth()});
  gst_element_post_message(
      element, gst_message_new_element(GST_OBJECT_CAST(element),
                                       message_of(report, pair, times, settings).release()));
  post_warnings(element, report.warnings);
  if (!report.correction.empty())
    post_information(element, report.correction);
}

void stereo_end_inspections(StereoStream& stream) {
  stream.inspections = {};
  if (stream.rig)
    post_warnings(GST_ELEMENT_CAST(stream.self), stream.rig->end());
}

}  // namespace cudavision
