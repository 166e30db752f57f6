// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <optional>
#include <string>

#include "gst/core/frameinfo.h"
#include "gst/sgmstereo/calibration/stereomounts.h"
#include "gst/sgmstereo/diagnostics/pairsnapshot.h"
#include "gst/sgmstereo/diagnostics/stereowarnings.h"
#include "gst/sgmstereo/diagnostics/verticaloffsets.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Inspects a pair now and then, and says on the bus what it finds: an element message with the
/// figures, and warnings with the remedy, each of them once between start and stop.
///
/// The structure of the element message is named "cudasgmstereo" and has the fields
///   timestamp, stream-time, running-time, duration (guint64, as in the level element): of the left
///     frame,
///   known, at-range-end (double): sgm::PairFigures::known and at_end,
///   blocks (guint), agreement, matched (double): those of PairFigures,
///   vertical-offset, vertical-spread (double): likewise, absent while too few blocks match,
///   repeating (double), repeat-period (int, in pixels; absent if nothing repeats):
///     PairFigures::repetition,
///   saturated (double; only if a source pad carries depth): share of the known pixels whose depth
///     exceeds 16 bits,
///   noise (double; only if it is measured): standard deviation of the noise of the left picture,
///     in levels of 8 bits, as this pair shows it,
///   noise-used (double): the one that the pictures are filtered to, 0 if they are not,
///   and those of mountreport.h.
class StereoDiagnostics {
 public:
  explicit StereoDiagnostics(GstElement* element) : element_(element) {}

  /// Call this at start.
  void reset() { *this = StereoDiagnostics(element_); }

  /// Returns whether the pair with these times is to be inspected: the first one, then the first
  /// one of each further interval; of pairs without running times, every 30th. None if interval is
  /// 0.
  bool selects(const FrameTimes& times, GstClockTime interval);

  /// Posts what the inspection of a selected pair gives. settings are those that it was matched
  /// with. measures_depth is true if a source pad carries its depth.
  /// figures and mounts are what it has shown.
  void report(const FrameTimes& times, const StereoSettings& settings, bool measures_depth,
              PairSnapshot& pair, const sgm::PairFigures& figures, const MountReport& mounts);

  /// From now on, pictures are rectified otherwise.
  void rows_have_moved() { offsets_.begin_anew(); }
  /// Returns true if the cameras do not take their pictures at the same time.
  bool is_unsynchronized() const { return offsets_.vary(); }

  /// Call this at the end of a stream. If it had a single inspected pair, no other can confirm what
  /// that has shown, so it is posted now.
  void end();

 private:
  /// Standard deviations in levels of 8 bits.
  struct PairNoise {
    std::optional<double> measured;
    double used;
  };
  static PairNoise noise_of(const PairSnapshot& pair, const StereoSettings& settings);

  void post(const FrameTimes& times, const sgm::PairFigures& figures, const MountReport& mounts,
            std::optional<double> saturated, const PairNoise& noise);
  void warn(StereoWarning warning, const std::string& text);

  GstElement* element_;
  GstClockTime last_ = GST_CLOCK_TIME_NONE;  ///< running time of the last inspected pair
  int skipped_ = 0;                          ///< pairs without running time since then
  int inspections_ = 0;                      ///< of this stream
  VerticalOffsets offsets_;                  ///< of this stream
  StereoWarningTexts found_;                 ///< by the last inspection
  std::array<bool, stereo_warning_count> warned_{};
};

}  // namespace cudavision
