// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/mountcorrection.h"

namespace cudavision {

RectifiedCamera turned(const RectifiedCamera& camera, const rig::RigRotation& turn) {
  RectifiedCamera result = camera;
  // The map takes a pixel's direction by the inverse of `rotation` into the camera. That direction
  // must first be turned by R, and then be zoomed: rotation' = R⁻¹·Z⁻¹·rotation.
  const Matrix3x3 r = rig::rotation_of(turn), &old = camera.rectification.rotation;
  const double unzoom[] = {1 / turn.zoom, 1 / turn.zoom, 1};
  Matrix3x3& rotation = result.rectification.rotation;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += r[3 * k + i] * unzoom[k] * old[3 * k + j];
      rotation[3 * i + j] = sum;
    }
  // Another focal length only comes with cameras without a calibration, whose pictures have it,
  // too.
  for (double* length : {&result.camera.matrix[0], &result.camera.matrix[4],
                         &result.rectification.projection[0], &result.rectification.projection[5]})
    *length *= turn.focal;
  return result;
}

void MountCorrection::begin(const rig::RigRotation& turn, const RectifiedCamera& camera, int width,
                            int height) {
  map_.begin([camera = turned(camera, turn), width, height] {
    return make_plane_map(camera, width, height, 1, 1);
  });
  next_ = turn;
  ++count_;
}

RectifyingMap MountCorrection::take() {
  current_ = next_;
  return map_.take();
}

void MountCorrection::settle() {
  if (!map_.is_pending())
    return;
  current_ = next_;
  map_ = {};
}

}  // namespace cudavision
