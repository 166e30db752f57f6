// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstring>
#include <string>

#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/flight/flightlimit.h"

/// The values of cudasgmstereo's properties, and their translation for its operations.
namespace cudavision {

enum class StereoOutput {
  disparity,
  depth,
  confidence,
  // These exist on pads of their own only: the property output does not have them.
  rectified,  ///< the left picture as it is matched
  points,
};

/// Returns true if the output consists of lengths, which follow from focal-length and baseline.
constexpr bool measures_lengths(StereoOutput output) noexcept {
  return output == StereoOutput::depth || output == StereoOutput::points;
}

/// The source pads. `always` is the pad src, which carries what the property output says; each of
/// the others exists on request and carries the output that it is named after.
enum class SourcePad : std::size_t { always, depth, confidence, rectified, points };
inline constexpr std::size_t source_pad_count = 5;
constexpr std::size_t index_of(SourcePad pad) noexcept {
  return static_cast<std::size_t>(pad);
}
template <class T>
using PerSourcePad = std::array<T, source_pad_count>;

/// Names of the files of a calibration; empty where there is none. The strings are interned, so
/// that copying them allocates nothing.
struct CalibrationFiles {
  const char* stereo = "";  ///< OpenCV's; several names are separated by commas
  const char* left = "";    ///< ROS's camera_info of the left camera
  const char* right = "";

  bool any() const noexcept { return *stereo || *left || *right; }
  /// True if there is no file, and the cameras are to be calibrated by what they see. A file of
  /// that name is ./auto.
  bool automatic() const noexcept { return std::strcmp(stereo, "auto") == 0; }
};

/// What becomes of a right camera that has turned in its mount: nothing, a message and a warning,
/// or another map for its pictures as well.
enum class CalibrationDrift { off, warn, correct };

enum class Colormap { turbo, jet, gray };

/// The parameters of the matching are members by inheritance, so that each is declared once.
struct StereoSettings : sgm::Parameters {
  // Caps, the rectification or memory depend on these. Like the members of sgm::Config they take
  // effect at the next start, all others with the next frame.
  StereoOutput output = StereoOutput::disparity;
  GstVideoMultiviewFramePacking frame_packing = GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE;
  CalibrationFiles calibration;
  double alpha = -1;  ///< of make_rectification()
  CalibrationDrift calibration_drift = CalibrationDrift::warn;
  int frames_in_flight = 0;  ///< pairs; 0: automatic

  // 0 stands for the calibration's.
  double focal_length = 0;
  double baseline = 0;
  // Not properties, but what the calibration gives for the current frames; 0: nothing yet.
  double calibrated_focal_length = 0;
  double calibrated_baseline = 0;
  /// With calibration=auto, the cameras' focal length that the calibrated one follows from.
  double assumed_focal_length = 0;
  const char* known_distance = "";  ///< interned; see KnownDistance
  double depth_unit = sgm::PictureParameters().unit;
  Colormap colormap = Colormap::turbo;
  const char* colormap_range = "";  ///< interned, as CalibrationFiles are
  gint64 max_skew = -1;
  GstClockTime diagnostics_interval = GST_SECOND;

  /// Returns how many pairs may be in flight, at least 1 (see automatic_frames_in_flight()).
  std::size_t max_in_flight(DeviceKind backend, bool in_stream_order) const noexcept {
    if (frames_in_flight > 0)
      return static_cast<std::size_t>(frames_in_flight);
    return automatic_frames_in_flight(FlightUnit::pair, backend, in_stream_order, 1);
  }

  /// Returns these settings, except that those which need a restart are taken from started.
  StereoSettings since_start(const StereoSettings& started) const;

  /// Returns these settings, with the calibration's focal length and baseline unless they are set.
  /// With calibration=auto, focal-length is that of the cameras, and the one returned that of the
  /// rectified pictures.
  StereoSettings with_calibrated_lengths() const;

  /// Returns what is done about cameras that have turned. There is no file that they could fit
  /// again with calibration=auto, so that they are corrected instead of a warning.
  CalibrationDrift drift() const noexcept {
    return calibration.automatic() && calibration_drift == CalibrationDrift::warn
               ? CalibrationDrift::correct
               : calibration_drift;
  }
};

/// Returns the property of cudasgmstereo, or the value of one, that stands for a name in cuda/sgm/.
std::string property_word(std::string name);

/// Returns an empty string, or what is wrong with the settings and how to mend it. lengths is true
/// if a pad that measures_lengths() is in use, whatever settings.output is.
std::string validation_error(const StereoSettings& settings, bool lengths);

/// Returns the parameters of a picture of this kind and quantity, to which the settings add all
/// others.
sgm::PictureParameters picture_parameters(sgm::PictureParameters picture,
                                          const StereoSettings& settings);

}  // namespace cudavision
