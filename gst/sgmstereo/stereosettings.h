// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstring>
#include <string>

#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/base/devicesession.h"
#include "gst/flight/flightlimit.h"

namespace cudavision {

enum class StereoOutput {
  disparity,
  depth,
  confidence,
  // Outputs of request pads only, not values of the property `output`.
  rectified,  ///< the left picture that is matched, rectified if there is a calibration
  points,
};

/// Returns true for outputs that need focal-length and baseline.
constexpr bool measures_lengths(StereoOutput output) noexcept {
  return output == StereoOutput::depth || output == StereoOutput::points;
}

/// `always` is src, whose output a property selects. Request pads are named after their output.
enum class SourcePad : std::size_t { always, depth, confidence, rectified, points };
inline constexpr std::size_t source_pad_count = 5;
constexpr std::size_t index_of(SourcePad pad) noexcept {
  return static_cast<std::size_t>(pad);
}
template <class T>
using PerSourcePad = std::array<T, source_pad_count>;

/// File names, or empty. The strings are interned, so that copies need no allocation.
struct CalibrationFiles {
  const char* stereo = "";  ///< names of OpenCV calibration files, separated by commas, or auto
  const char* left = "";    ///< ROS's camera_info of the left camera
  const char* right = "";   ///< ROS's camera_info of the right camera

  bool any() const noexcept { return *stereo || *left || *right; }
  /// Returns true for calibration=auto, which needs no file. A file called auto is set as ./auto.
  bool automatic() const noexcept { return std::strcmp(stereo, "auto") == 0; }
};

enum class CalibrationDrift { off, warn, correct };

enum class Colormap { turbo, jet, gray };

/// Like sgm::Config and DeviceSettings, these settings take effect at the next start.
struct StereoStartSettings {
  StereoOutput output = StereoOutput::disparity;
  GstVideoMultiviewFramePacking frame_packing = GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE;
  CalibrationFiles calibration;
  double alpha = -1;  ///< -1, or from 0 to 1; see make_rectification()
  CalibrationDrift calibration_drift = CalibrationDrift::warn;
  int frames_in_flight = 0;  ///< number of pairs; 0: automatic
  bool detections = false;
};

struct StereoSettings : sgm::Parameters, DeviceSettings, StereoStartSettings {
  double focal_length = 0;  ///< pixels; 0: taken from the calibration
  double baseline = 0;      ///< mm; 0: taken from the calibration
  // Not properties: the calibration's lengths for the current frames, 0 if unknown.
  double calibrated_focal_length = 0;
  double calibrated_baseline = 0;
  double assumed_focal_length = 0;  ///< focal length of unrectified frames with calibration=auto
  const char* known_distance = "";  ///< interned; see known_distance_error()
  double depth_unit = sgm::PictureParameters().unit;
  Colormap colormap = Colormap::turbo;
  const char* colormap_range = "";  ///< interned
  gint64 max_skew = -1;
  GstClockTime diagnostics_interval = GST_SECOND;

  /// Returns frames_in_flight or, if it is 0, automatic_frames_in_flight().
  std::size_t max_in_flight(DeviceKind backend, bool in_stream_order) const noexcept {
    if (frames_in_flight > 0)
      return static_cast<std::size_t>(frames_in_flight);
    return automatic_frames_in_flight(FlightUnit::pair, backend, in_stream_order, 1);
  }

  /// Returns these settings, with the values of `started` for settings that need a restart.
  StereoSettings since_start(const StereoSettings& started) const;

  /// Replaces an unset focal length or baseline by the value of the calibration. With
  /// calibration=auto, converts a set focal length from unrectified to rectified pictures.
  StereoSettings with_calibrated_lengths() const;

  /// With calibration=auto, `warn` acts as `correct`, because no file can be calibrated again.
  CalibrationDrift drift() const noexcept {
    return calibration.automatic() && calibration_drift == CalibrationDrift::warn
               ? CalibrationDrift::correct
               : calibration_drift;
  }
};

/// Converts the name of a parameter or value in cuda/sgm/ to the name that properties use.
std::string property_word(std::string name);

/// Returns which of focal-length and baseline are 0, and the remedy, or an empty string.
const char* missing_lengths(const StereoSettings& settings);

/// Returns an error with its remedy, or an empty string. `lengths` is true if measures_lengths() is
/// true for the output of any pad in use.
std::string validation_error(const StereoSettings& settings, bool lengths);

sgm::PictureParameters picture_parameters(sgm::PictureParameters picture,
                                          const StereoSettings& settings);

}  // namespace cudavision
