// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereosettings.h"

#include "gst/sgmstereo/stereoproperties.h"

namespace cudavision {
namespace {

std::string length_error(const StereoSettings& settings) {
  if (settings.focal_length <= 0 && settings.baseline <= 0)
    return "Depth and points need the focal length of the cameras and the distance between them: "
           "set "
           "focal-length (in pixels of these frames) and baseline (in mm).";
  if (settings.focal_length <= 0)
    return "Depth and points need the focal length of the cameras: set focal-length, in pixels of "
           "these "
           "frames.";
  if (settings.baseline <= 0)
    return "Depth and points need the distance between the cameras: set baseline, in mm.";
  return {};
}

}  // namespace

StereoSettings StereoSettings::since_start(const StereoSettings& started) const {
  StereoSettings settings = *this;
  static_cast<sgm::Config&>(settings) = started;
  settings.output = started.output;
  settings.frame_packing = started.frame_packing;
  return settings;
}

std::string validation_error(const StereoSettings& settings, bool lengths) {
  std::string error = sgm::validation_error(settings);
  if (!error.empty())
    return error + ".";
  error = stereo_range_error(settings);
  if (!error.empty())
    return error;
  return lengths || measures_lengths(settings.output) ? length_error(settings) : std::string();
}

sgm::PictureParameters picture_parameters(sgm::PictureParameters::Kind kind,
                                          const StereoSettings& settings) {
  sgm::PictureParameters parameters;
  parameters.kind = kind;
  parameters.focal_length = settings.focal_length;
  parameters.baseline = settings.baseline;
  parameters.unit = settings.depth_unit;
  return parameters;
}

}  // namespace cudavision
