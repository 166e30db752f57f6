// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/sgm/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/sgmstereo/colormaps.h"

/// The values of cudasgmstereo's properties, and what they mean to its operations.
namespace cudavision {

enum class StereoOutput { disparity, depth, confidence };

struct StereoSettings {
  // Caps and the operation's memory depend on these: they take effect at the next start.
  StereoOutput output = StereoOutput::disparity;
  GstVideoMultiviewFramePacking frame_packing = GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE;
  int disparities = 128;
  int minimum = 0;
  int paths = 8;
  sgm::Parameters::Census census = sgm::Parameters::Census::symmetric_9x7;
  sgm::Parameters::Compatibility compatibility = sgm::Parameters::Compatibility::none;

  // These take effect with the next frame.
  int p1 = 10;
  int p2 = 120;
  bool adaptive_p2 = true;
  double uniqueness = 0.95;
  bool subpixel = true;
  bool median = true;
  int lr_max_diff = 1;
  int speckle_size = 0;
  int speckle_range = 1;
  bool fill_holes = false;
  double focal_length = 0;
  double baseline = 0;
  double depth_unit = 1;
  Colormap colormap = Colormap::turbo;
  gint64 max_skew = -1;

  /// These settings, except that those which need a restart are taken from started.
  StereoSettings since_start(const StereoSettings& started) const;
};

/// Empty, or what is wrong with the settings and how to mend it.
std::string validation_error(const StereoSettings& settings);

sgm::Parameters sgm_parameters(const StereoSettings& settings);

/// kind: that of the output pictures.
sgm::PictureParameters picture_parameters(sgm::PictureParameters::Kind kind,
                                          const StereoSettings& settings);

}  // namespace cudavision
