// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/remap/remap.h"

namespace cudavision::remap {

/// The maps for the channels of a picture. Coordinates are in samples of the channel.
struct PictureMaps {
  Map full;     ///< map for channels as large as the picture
  Map reduced;  ///< map for subsampled channels, which all have the same size; may be empty
};

class Backend;
struct ChannelGroup;

/// Resamples all channels of a picture by the formula of Remap. Beyond the edges, p(x, y) is
/// `black` for luma, red, green and blue, 2^(bits − 1) for chroma, and 2^bits − 1 for alpha.
class PictureRemap {
 public:
  /// layout describes the input and the output. Its width and height are at most 32767, and each
  /// map has the size of its channels. black is 0 to 2^bits − 1. Copies the maps to the device and
  /// waits for the copy. A map takes 4 bytes per pixel, or 8 if the positions of 128 adjacent
  /// pixels span more than 2047 samples. Throws invalid_argument or out_of_memory.
  PictureRemap(Device& device, const FrameLayout& layout, const PictureMaps& maps, int black);
  ~PictureRemap();

  /// Writes all channels of out. Other bytes of rows, such as the padding in RGBx, become 255. in
  /// and out must not overlap. Pitches must be below 2 GiB. Throws invalid_argument. Only enqueues.
  void run(const ConstFrame& in, const Frame& out);

 private:
  FrameLayout layout_;
  std::unique_ptr<const PackedMap> full_, reduced_;  ///< nullptr if the map is empty
  std::vector<ChannelGroup> groups_;
  std::vector<int> padded_planes_;  ///< planes with bytes outside all channels
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::remap
