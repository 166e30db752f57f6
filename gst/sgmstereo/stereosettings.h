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

/// The properties of cudasgmstereo, and their translation for its operations.
namespace cudavision {

enum class StereoOutput {
  disparity,
  depth,
  confidence,
  // Only request pads have these outputs, not the property output.
  rectified,  ///< the left picture that is matched
  points,
};

/// Lengths need focal-length and baseline.
constexpr bool measures_lengths(StereoOutput output) noexcept {
  return output == StereoOutput::depth || output == StereoOutput::points;
}

/// `always` is src and carries the property output; request pads carry the output they name.
enum class SourcePad : std::size_t { always, depth, confidence, rectified, points };
inline constexpr std::size_t source_pad_count = 5;
constexpr std::size_t index_of(SourcePad pad) noexcept {
  return static_cast<std::size_t>(pad);
}
template <class T>
using PerSourcePad = std::array<T, source_pad_count>;

/// File names, or empty. Interned strings are copied without an allocation.
struct CalibrationFiles {
  const char* stereo = "";  ///< OpenCV's; several names are separated by commas
  const char* left = "";    ///< ROS's camera_info of the left camera
  const char* right = "";

  bool any() const noexcept { return *stereo || *left || *right; }
  /// True if the cameras calibrate themselves without a file. A file named auto is ./auto.
  bool automatic() const noexcept { return std::strcmp(stereo, "auto") == 0; }
};

/// What to do about a turned right camera: nothing, warn, or also correct its map.
enum class CalibrationDrift { off, warn, correct };

enum class Colormap { turbo, jet, gray };

/// Inherits the parameters of the matching, so that each is declared once.
struct StereoSettings : sgm::Parameters, DeviceSettings {
  // Caps, rectification or memory depend on these. Like the members of sgm::Config they take effect
  // at the next start, all others with the next frame.
  StereoOutput output = StereoOutput::disparity;
  GstVideoMultiviewFramePacking frame_packing = GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE;
  CalibrationFiles calibration;
  double alpha = -1;  ///< of make_rectification()
  CalibrationDrift calibration_drift = CalibrationDrift::warn;
  int frames_in_flight = 0;  ///< pairs; 0: automatic
  bool detections = false;

  // 0: the calibration's.
  double focal_length = 0;
  double baseline = 0;
  // Not properties: the calibration's lengths for the current frames. 0: not known yet.
  double calibrated_focal_length = 0;
  double calibrated_baseline = 0;
  /// With calibration=auto: the cameras' focal length that the calibration assumed.
  double assumed_focal_length = 0;
  const char* known_distance = "";  ///< interned; see KnownDistance
  double depth_unit = sgm::PictureParameters().unit;
  Colormap colormap = Colormap::turbo;
  const char* colormap_range = "";  ///< interned, as CalibrationFiles are
  gint64 max_skew = -1;
  GstClockTime diagnostics_interval = GST_SECOND;

  /// Returns how many pairs may be in flight, see automatic_frames_in_flight().
  std::size_t max_in_flight(DeviceKind backend, bool in_stream_order) const noexcept {
    if (frames_in_flight > 0)
      return static_cast<std::size_t>(frames_in_flight);
    return automatic_frames_in_flight(FlightUnit::pair, backend, in_stream_order, 1);
  }

  /// Returns these settings, with the values of started where a restart is needed.
  StereoSettings since_start(const StereoSettings& started) const;

  /// Returns these settings, with the calibration's focal length and baseline unless they are set.
  /// With calibration=auto, focal-length is the cameras', and the result the rectified pictures'.
  StereoSettings with_calibrated_lengths() const;

  /// With calibration=auto there is no file to mend, so turned cameras are corrected instead.
  CalibrationDrift drift() const noexcept {
    return calibration.automatic() && calibration_drift == CalibrationDrift::warn
               ? CalibrationDrift::correct
               : calibration_drift;
  }
};

/// Returns the property name, or the name of its value, for a name in cuda/sgm/.
std::string property_word(std::string name);

/// Returns an empty string, or an error with its remedy. lengths is true if a pad in use
/// measures_lengths(), whatever settings.output is.
std::string validation_error(const StereoSettings& settings, bool lengths);

sgm::PictureParameters picture_parameters(sgm::PictureParameters picture,
                                          const StereoSettings& settings);

}  // namespace cudavision
