// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"
#include "cuda/remap/packed_map.h"
#include "cuda/remap/remap.h"
#include "gst/sgmstereo/rectification/rectification.h"

namespace cudavision {

/// Rectifies the luminance of one camera's frames.
class Rectifier {
 public:
  /// `camera` is the layout of the pictures, which the map must fit. Waits for the map's upload.
  Rectifier(Device& device, const FrameLayout& camera, const RectifyingMap& map)
      : layout_{.width = camera.width,
                .height = camera.height,
                .bits = camera.bits,
                .plane_count = 1,
                .planes = {{{camera.width * camera.sample_bytes(), camera.height}}},
                .channel_count = 1,
                .channels = {{{.width = camera.width, .height = camera.height}}}},
        luminance_(device, camera, "rectification"),
        remap_(device, {camera.width, camera.height, camera.bits},
               map.view(camera.width, camera.height)) {}

  /// The layout of rectified frames, which have only luminance.
  const FrameLayout& layout() const noexcept { return layout_; }

  /// Returns the rectified luminance in memory of this object. Only enqueues.
  ConstFrame run(const ConstFrame& in) { return {{{remap_.run(luminance_.of(in)).rows}}}; }

  /// Returns the mask of pixels outside the camera's view, for SgmStereo::set_masks().
  View<const std::uint32_t> unseen() const noexcept {
    return remap_.any_outside() ? remap_.outside() : View<const std::uint32_t>{};
  }

  remap::MapView map() const noexcept { return remap_.map(); }

 private:
  FrameLayout layout_;
  Luminance luminance_;
  remap::Remap remap_;
};

}  // namespace cudavision
