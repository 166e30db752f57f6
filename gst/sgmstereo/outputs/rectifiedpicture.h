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

/// Writes the left picture that is matched, rectified if there is a calibration.
class RectifiedPicture {
 public:
  /// `frames` is the left camera's format. `out` is the same format, with all channels, or GRAY8.
  /// `camera` is nullptr if left pictures are not rectified. Waits for the upload of maps.
  RectifiedPicture(Device& device, const FramePacking& packing, const FrameFormat& frames,
                   const FrameFormat& out, const RectifiedCamera* camera);

  /// `stored` is the left camera's frame as stored in the buffer, `luminance` the matched plane.
  /// Only enqueues, but the first call may allocate.
  void run(const ConstFrame& stored, const SamplePlane& luminance, const Frame& out);

 private:
  Device& device_;
  const FramePacking packing_;
  const FrameLayout layout_;  ///< layout of the output
  const bool gray_;           ///< true: GRAY8, made from the luminance; false: made from the frame
  std::unique_ptr<remap::PictureRemap> remap_;
  std::unique_ptr<repack::Repack> unpack_;  ///< nullptr: frames are not unpacked
  const FrameLayout unpacked_layout_;
  DeviceFrame unpacked_;
};

}  // namespace cudavision
