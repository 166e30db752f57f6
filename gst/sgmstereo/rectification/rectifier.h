// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"
#include "cuda/remap/remap.h"
#include "gst/sgmstereo/rectification/rectification.h"

namespace cudavision {

/// Rectifies the luminance of one camera's frames.
class Rectifier {
 public:
  /// camera is the layout of its frames, or of their halves; the map has the same size. Waits until
  /// the device has the map.
  Rectifier(Device& device, const FrameLayout& camera, const RectifyingMap& map);

  /// Returns the layout of the rectified frames, which hold the luminance alone.
  const FrameLayout& layout() const noexcept { return layout_; }

  /// Returns the rectified luminance, which is memory of this object. Only enqueues.
  ConstFrame run(const ConstFrame& in);

  /// Marks the pixels that the camera does not see, for SgmStereo::set_masks().
  View<const std::uint32_t> unseen() const noexcept;

 private:
  FrameLayout layout_;
  Luminance luminance_;
  remap::Remap remap_;
};

}  // namespace cudavision
