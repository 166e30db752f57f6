// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <utility>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

// Makes the rectification of the calibration files. Calibrated lengths replace unset properties.
Rectification calibrated(StereoStream& stream, const PictureSize& size, double alpha) {
  const Rectification rectification =
      make_rectification(*stream.calibration, size.width, size.height, alpha);
  GST_INFO_OBJECT(stream.self, "rectified by %s: focal length %g pixels, baseline %g mm",
                  stream.calibration->files.c_str(), rectification.focal_length,
                  rectification.baseline);
  {
    const auto shared = stream.state.shared.lock();
    shared->settings.calibrated_focal_length = rectification.focal_length;
    shared->settings.calibrated_baseline = rectification.baseline;
  }
  for (const char* property : {"focal-length", "baseline"})
    g_object_notify(G_OBJECT(stream.self), property);
  return rectification;
}

// A focal length of one width corresponds to an angle of view of 53°.
double focal_length_or_guess(double given, int width) {
  return given > 0 ? given : width;
}

// Returns the rectification of the self-calibration, if there is one yet. The calibration keeps the
// focal length of the start, because a change of the property only scales lengths.
std::optional<Rectification> self_calibrated(StereoStream& stream, const PictureSize& size,
                                             const StereoSettings& settings) {
  const double focal_length =
      focal_length_or_guess(stream.state.shared.lock()->started->focal_length, size.width);
  // If alpha is unset, crop to the area that both cameras see.
  const SelfCalibrated* found = stream.camera_rig().begin_calibration(
      {size.width, size.height, focal_length, std::max(settings.alpha, 0.0)});
  {
    const auto shared = stream.state.shared.lock();
    shared->settings.assumed_focal_length = focal_length;
    shared->settings.calibrated_focal_length =
        found ? found->rectification.focal_length : focal_length;
  }
  g_object_notify(G_OBJECT(stream.self), "focal-length");
  if (!found)
    return {};
  return found->rectification;
}

RectifiedOptics optics_of(const std::optional<Rectification>& rectification,
                          const PictureSize& size, const StereoSettings& settings) {
  const bool calibrated = rectification && rectification->focal_length > 0;
  RectifiedOptics optics;
  optics.width = size.width;
  optics.height = size.height;
  optics.focal_is_known = calibrated || settings.focal_length > 0;
  optics.focal_length = calibrated ? rectification->focal_length
                                   : focal_length_or_guess(settings.focal_length, size.width);
  optics.center_x = (size.width - 1) / 2.0;
  optics.center_y = (size.height - 1) / 2.0;
  if (calibrated) {
    const Matrix3x4& projection = rectification->left_camera.rectification.projection;
    optics.center_x = projection[2];
    optics.center_y = projection[6];
  }
  return optics;
}

}  // namespace

std::optional<Rectification> stereo_rectification(StereoStream& stream) {
  const StereoSettings settings = stereo_settings(stream.self);
  const FrameLayout& frames = stream.left.format->layout;
  const PictureSize size = picture_size(stream.packing, frames.width, frames.height);
  std::optional<Rectification> rectification;
  if (settings.calibration.automatic())
    rectification = self_calibrated(stream, size, settings);
  else if (stream.calibration)
    rectification = calibrated(stream, size, settings.alpha);
  stream.optics = optics_of(rectification, size, settings);
  const rig::RigRotation turn =
      stream.rig ? stream.rig->begin_work(stream.optics) : rig::RigRotation();
  if (settings.drift() != CalibrationDrift::correct)
    return rectification;
  const bool rectified = rectification.has_value();
  if (!rectified) {
    rectification.emplace();
    rectification->left_camera = rectification->right_camera =
        identity_camera(size.width, size.height, stream.optics.focal_length);
  }
  if (!rectified || turn != rig::RigRotation())
    rectification->right = make_plane_map(rotated_camera(rectification->right_camera, turn),
                                          size.width, size.height, 1, 1);
  return rectification;
}

GstFlowReturn stereo_apply_calibration(StereoStream& stream) {
  const std::string text = stream.rig->take_calibration();
  if (text.empty())
    return GST_FLOW_OK;
  stereo_release_processor(stream);
  post_information(GST_ELEMENT_CAST(stream.self), text);
  // A message handler may have stopped the element.
  return GST_PAD_IS_FLUSHING(stream.self->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

void stereo_apply_correction(StereoStream& stream) {
  const std::optional<RectifyingMap> map = stream.rig->take_correction();
  if (!map)
    return;
  const DeviceScope scope(stream.state.session);
  stream.processor->set_right_map(*map);
}

void stereo_check_lengths(StereoStream& stream, const StereoSettings& settings, bool lengths) {
  const bool focal_is_known = settings.focal_length > 0, yaw_is_known = *settings.known_distance;
  if (!lengths || !settings.calibration.automatic() ||
      std::exchange(stream.checked_lengths, true) || (focal_is_known && yaw_is_known))
    return;
  post_warning(
      GST_ELEMENT_CAST(stream.self), GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      std::string("Depth and points are not metric with calibration=auto: rows hardly constrain ") +
          (focal_is_known ? "the cameras' yaw. Set known-distance"
           : yaw_is_known ? "the focal length. Set focal-length"
                          : "focal length and yaw. Set focal-length and known-distance") +
          ", or calibrate the cameras, for example with pipelines/calibrate.py of the package "
          "gst-cudavision-tools.");
}

}  // namespace cudavision
