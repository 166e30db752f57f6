// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/diagnostics/stereodiagnostics.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/diagnostics/mountreport.h"

namespace cudavision {
namespace {

/// Pairs without running times are counted instead.
constexpr int pairs_per_inspection = 30;

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
                               bool measures_depth, PairSnapshot& pair,
                               const sgm::PairFigures& figures, const MountReport& mounts) {
  // Rows of cameras that are not rectified are as far apart as what they see is near or far.
  if (!mounts.calibrating)
    offsets_.add(figures);
  std::optional<DepthFit> depth;
  if (measures_depth)
    depth = depth_fit(pair.map(), settings);
  // A handler of the messages may stop the element, which frees the pair.
  const StereoWarningTexts now =
      warnings_of({figures, settings, pair.size().width, depth, offsets_, mounts});
  post(times, figures, mounts, depth ? std::optional(depth->saturated) : std::nullopt,
       noise_of(pair, settings));
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto warning = static_cast<StereoWarning>(i);
    const bool confirmed =
        !found_[i].empty() && (warning != StereoWarning::unrectified || offsets_.is_steady());
    if (!now[i].empty() && (is_certain(warning) || confirmed))
      warn(warning, now[i]);
  }
  found_ = now;
  ++inspections_;
  if (mounts.begins)
    post_information(element_, correction_text(mounts));
}

void StereoDiagnostics::end() {
  for (std::size_t i = 0; i < found_.size() && inspections_ == 1; ++i)
    if (!found_[i].empty())
      warn(static_cast<StereoWarning>(i), found_[i]);
  found_ = {};
  offsets_.reset();
  inspections_ = 0;
}

StereoDiagnostics::PairNoise StereoDiagnostics::noise_of(const PairSnapshot& pair,
                                                         const StereoSettings& settings) {
  constexpr double unit = sgm::NoiseLevel::per_level;
  if (const auto state = pair.noise())
    return {std::sqrt(state->measured) / unit, std::sqrt(state->used.variance) / unit};
  return {std::nullopt, sgm::heeds_noise(settings) ? settings.noise : 0};
}

void StereoDiagnostics::post(const FrameTimes& times, const sgm::PairFigures& figures,
                             const MountReport& mounts, std::optional<double> saturated,
                             const PairNoise& noise) {
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
  gst_structure_set(structure, "repeating", G_TYPE_DOUBLE, figures.repetition.share, nullptr);
  if (figures.repetition.period > 0)
    gst_structure_set(structure, "repeat-period", G_TYPE_INT, figures.repetition.period, nullptr);
  if (saturated)
    gst_structure_set(structure, "saturated", G_TYPE_DOUBLE, *saturated, nullptr);
  if (noise.measured)
    gst_structure_set(structure, "noise", G_TYPE_DOUBLE, *noise.measured, nullptr);
  gst_structure_set(structure, "noise-used", G_TYPE_DOUBLE, noise.used, nullptr);
  add_mount_fields(structure, mounts);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure));
}

void StereoDiagnostics::warn(StereoWarning warning, const std::string& text) {
  if (std::exchange(warned_[static_cast<std::size_t>(warning)], true))
    return;
  if (concerns_settings(warning))
    post_warning(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
  else
    post_warning(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);
}

}  // namespace cudavision
