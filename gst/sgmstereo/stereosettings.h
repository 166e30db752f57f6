// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include "cuda/sgm/disparitypicture.h"
#include "cuda/sgm/sgmstereo.h"
#include "gst/sgmstereo/colormaps.h"

/// The values of cudasgmstereo's properties, and their translation for its operations.
namespace cudavision {

enum class StereoOutput { disparity, depth, confidence };

/// The parameters of the matching are members by inheritance, so that each is declared once.
struct StereoSettings : sgm::Parameters {
  // Caps depend on these two. Like the members of sgm::Config they take effect at the next start,
  // all others with the next frame.
  StereoOutput output = StereoOutput::disparity;
  GstVideoMultiviewFramePacking frame_packing = GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE;

  double focal_length = 0;
  double baseline = 0;
  double depth_unit = 1;
  Colormap colormap = Colormap::turbo;
  gint64 max_skew = -1;
  GstClockTime diagnostics_interval = GST_SECOND;

  /// Returns these settings, except that those which need a restart are taken from started.
  StereoSettings since_start(const StereoSettings& started) const;
};

/// Returns an empty string, or what is wrong with the settings and how to mend it.
std::string validation_error(const StereoSettings& settings);

/// kind is that of the output pictures.
sgm::PictureParameters picture_parameters(sgm::PictureParameters::Kind kind,
                                          const StereoSettings& settings);

}  // namespace cudavision
