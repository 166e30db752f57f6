// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/calibration/mountcorrection.h"

#include <system_error>
#include <utility>

namespace cudavision {

RectifiedCamera turned(const RectifiedCamera& camera, const sgm::MountTurn& turn) {
  RectifiedCamera result = camera;
  // The map takes a pixel's direction by the inverse of `rotation` into the camera. That direction
  // must first be turned by R, and then be zoomed: rotation' = R⁻¹·Z⁻¹·rotation.
  const Matrix3x3 r = sgm::rotation_of(turn), &old = camera.rectification.rotation;
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

void MountCorrection::begin(const sgm::MountTurn& turn, const RectifiedCamera& camera, int width,
                            int height) {
  const auto make = [camera = turned(camera, turn), width, height] {
    return make_plane_map(camera, width, height, 1, 1);
  };
  std::future<RectifyingMap> map;
  try {
    map = std::async(std::launch::async, make);
  } catch (const std::system_error&) {  // there is no thread to be had
    map = std::async(std::launch::deferred, make);
  }
  pending_.emplace(Pending{turn, pairs_to_wait, std::move(map)});
  ++count_;
}

bool MountCorrection::is_due() {
  return pending_ && --pending_->pairs <= 0;
}

RectifyingMap MountCorrection::take() {
  Pending pending = std::move(*pending_);
  pending_.reset();
  current_ = pending.turn;
  return pending.map.get();
}

void MountCorrection::settle() {
  if (!pending_)
    return;
  current_ = pending_->turn;
  pending_.reset();
}

}  // namespace cudavision
