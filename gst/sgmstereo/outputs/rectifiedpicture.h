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

/// The left picture that is matched: rectified if there is a calibration.
class RectifiedPicture {
 public:
  /// frames is the format of the left camera's frames. out is the same format, with all channels if
  /// it needs unpacking, or GRAY8. camera is nullptr if frames are rectified. Waits for maps to
  /// upload.
  RectifiedPicture(Device& device, const FramePacking& packing, const FrameFormat& frames,
                   const FrameFormat& out, const RectifiedCamera* camera);

  /// stored is the left camera's frame as stored in buffers, and luminance has been matched. Only
  /// enqueues, but the first call may allocate.
  void run(const ConstFrame& stored, const SamplePlane& luminance, const Frame& out);

 private:
  Device& device_;
  const FramePacking packing_;
  const FrameLayout layout_;  ///< of the pictures
  // GRAY8 is made from the luminance. Other pictures are remapped or copied.
  const bool gray_;
  std::unique_ptr<remap::PictureRemap> remap_;
  std::unique_ptr<repack::Repack> unpack_;  ///< none if stored frames have the layout already
  const FrameLayout unpacked_layout_;
  DeviceFrame unpacked_;
};

}  // namespace cudavision
