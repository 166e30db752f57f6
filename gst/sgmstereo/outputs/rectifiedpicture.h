// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/pixels/luminance.h"
#include "cuda/remap/pictureremap.h"
#include "cuda/repack/repack.h"
#include "gst/core/videoformat.h"
#include "gst/memory/deviceframe.h"
#include "gst/sgmstereo/pairing/packedframes.h"
#include "gst/sgmstereo/rectification/rectification.h"

namespace cudavision {

/// The left picture as it is matched: rectified if there is a calibration, else as it is.
class RectifiedPicture {
 public:
  /// frames is the format of the left camera's frames, and out that of the pictures: theirs, with
  /// all channels if it needs unpacking, or GRAY8. camera is nullptr if frames count as rectified.
  /// Waits until the device has the maps.
  RectifiedPicture(Device& device, const FramePacking& packing, const FrameFormat& frames,
                   const FrameFormat& out, const RectifiedCamera* camera);

  /// stored is the left camera's frame as it lies in buffers, and luminance what has been matched.
  /// Only enqueues, but the first call may allocate.
  void run(const ConstFrame& stored, const SamplePlane& luminance, const Frame& out);

 private:
  Device& device_;
  const FramePacking packing_;
  const FrameLayout layout_;  ///< of the pictures
  // GRAY8 follows from the luminance. Of other pictures, those that are not remapped are copied.
  const bool gray_;
  std::unique_ptr<remap::PictureRemap> remap_;
  std::unique_ptr<repack::Repack> unpack_;  ///< none if a stored frame has the layout already
  const FrameLayout unpacked_layout_;
  DeviceFrame unpacked_;
};

}  // namespace cudavision
