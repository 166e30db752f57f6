// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/remap/remap.h"

namespace cudavision::remap {

/// The maps of a picture's channels. Subsampled channels have fewer samples than the picture has
/// pixels, and their map counts in these samples.
struct PictureMaps {
  Map full;     ///< for the channels that are as large as the picture
  Map reduced;  ///< for all others, which have one size; empty if there are none
};

struct ChannelGroup;

/// Resamples all channels of a picture, each by the formula of Remap, but with black beyond the
/// edges in place of 0: p(x, y) there is `black` for luma, red, green and blue, 2^(bits − 1) for
/// chroma, and 2^bits − 1, which is opaque, for alpha.
class PictureRemap {
 public:
  /// layout is that of the input and of the output. Its width and height are at most 32767, and
  /// each map has the size of its channels. black is 0 to 2^bits − 1. Reads the maps and waits
  /// until the device has them: 4 bytes for each of their pixels, or 8 where neighbours lie more
  /// than 2000 samples apart. Throws invalid_argument, or out_of_memory.
  PictureRemap(Device& device, const FrameLayout& layout, const PictureMaps& maps, int black);
  ~PictureRemap();

  /// Writes all channels of out. Bytes of its rows that belong to no channel, such as the padding
  /// in RGBx, become 255. in and out must not overlap, and their pitches are less than 2 GiB.
  /// Throws invalid_argument. Only enqueues.
  void run(const ConstFrame& in, const Frame& out);

  class Backend;

 private:
  FrameLayout layout_;
  std::unique_ptr<const PackedMap> full_, reduced_;  ///< none where no channel needs it
  std::vector<ChannelGroup> groups_;
  std::vector<int> padded_planes_;  ///< with samples that belong to no channel
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::remap
