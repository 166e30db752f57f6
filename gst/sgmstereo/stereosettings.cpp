// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereosettings.h"

#include <algorithm>

#include "gst/sgmstereo/outputs/colormaps.h"
#include "gst/sgmstereo/rig/knowndistance.h"
#include "gst/sgmstereo/stereoproperties.h"

namespace cudavision {
namespace {

std::string length_error(const StereoSettings& settings) {
  if (settings.calibration.automatic())
    return settings.baseline > 0
               ? ""
               : "Depth and points need baseline, but baseline=0, and calibration=auto cannot "
                 "estimate the baseline: set baseline to the distance between the cameras in mm.";
  if (settings.calibration.any() || !*missing_lengths(settings))
    return {};
  return std::string("Depth and points need focal-length and baseline, but ") +
         missing_lengths(settings) + ", or set calibration.";
}

}  // namespace

StereoSettings StereoSettings::since_start(const StereoSettings& started) const {
  StereoSettings settings = *this;
  static_cast<sgm::Config&>(settings) = started;
  static_cast<DeviceSettings&>(settings) = started;
  static_cast<StereoStartSettings&>(settings) = started;
  return settings;
}

StereoSettings StereoSettings::with_calibrated_lengths() const {
  StereoSettings settings = *this;
  if (settings.focal_length == 0)
    settings.focal_length = calibrated_focal_length;
  else if (calibration.automatic() && assumed_focal_length > 0)
    settings.focal_length *= calibrated_focal_length / assumed_focal_length;
  settings.assumed_focal_length = 0;  // a second call must not convert again
  if (settings.baseline == 0)
    settings.baseline = calibrated_baseline;
  return settings;
}

std::string property_word(std::string name) {
  if (name == "disparities")
    return "num-disparities";
  if (name == "minimum")
    return "min-disparity";
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const char* missing_lengths(const StereoSettings& settings) {
  if (settings.focal_length > 0)
    return settings.baseline > 0 ? "" : "baseline=0: set baseline in mm";
  return settings.baseline > 0
             ? "focal-length=0: set focal-length in pixels of these frames"
             : "focal-length=0 and baseline=0: set both, in pixels of these frames and in mm";
}

std::string validation_error(const StereoSettings& settings, bool lengths) {
  const std::string error = sgm::validation_error(settings, property_word);
  if (!error.empty())
    return error + ".";
  for (const std::string& other :
       {stereo_range_error(settings), colormap_range_error(settings.colormap_range),
        known_distance_error(settings.known_distance)})
    if (!other.empty())
      return other;
  return lengths || measures_lengths(settings.output) ? length_error(settings) : std::string();
}

sgm::PictureParameters picture_parameters(sgm::PictureParameters picture,
                                          const StereoSettings& given) {
  const StereoSettings settings = given.with_calibrated_lengths();
  set_colormap_range(settings.colormap_range, picture);
  picture.focal_length = settings.focal_length;
  picture.baseline = settings.baseline;
  picture.unit = settings.depth_unit;
  return picture;
}

}  // namespace cudavision
