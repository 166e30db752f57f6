// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {
namespace {

std::string wrong_with_depth(const StereoSettings& settings) {
  if (settings.focal_length <= 0 && settings.baseline <= 0)
    return "output=depth follows from the cameras' focal length and their distance, which are not "
           "known: set focal-length (in pixels of these frames) and baseline (in mm).";
  if (settings.focal_length <= 0)
    return "output=depth needs the cameras' focal length: set focal-length, in pixels of these "
           "frames.";
  if (settings.baseline <= 0)
    return "output=depth needs the distance between the cameras: set baseline, in mm.";
  return {};
}

}  // namespace

StereoSettings StereoSettings::since_start(const StereoSettings& started) const {
  StereoSettings settings = *this;
  settings.output = started.output;
  settings.frame_packing = started.frame_packing;
  settings.disparities = started.disparities;
  settings.minimum = started.minimum;
  settings.paths = started.paths;
  settings.census = started.census;
  settings.compatibility = started.compatibility;
  return settings;
}

std::string validation_error(const StereoSettings& settings) {
  const std::string wrong = sgm::validation_error(sgm_parameters(settings));
  if (!wrong.empty())
    return wrong + ".";
  return settings.output == StereoOutput::depth ? wrong_with_depth(settings) : "";
}

sgm::Parameters sgm_parameters(const StereoSettings& settings) {
  sgm::Parameters parameters;
  parameters.disparities = settings.disparities;
  parameters.minimum = settings.minimum;
  parameters.paths = settings.paths;
  parameters.census = settings.census;
  parameters.compatibility = settings.compatibility;
  parameters.p1 = settings.p1;
  parameters.p2 = settings.p2;
  parameters.uniqueness = settings.uniqueness;
  parameters.lr_max_diff = settings.lr_max_diff;
  parameters.subpixel = settings.subpixel;
  parameters.median = settings.median;
  parameters.speckle_size = settings.speckle_size;
  parameters.speckle_range = settings.speckle_range;
  parameters.fill_holes = settings.fill_holes;
  parameters.adaptive_p2 = settings.adaptive_p2;
  return parameters;
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
