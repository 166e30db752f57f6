// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the kernels of non-local means are told of a frame.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/nlmeans/backend.h"

namespace cudavision::nlmeans {

/// One channel on its way through the GPU. Distances are in bytes.
struct DenoisedPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  int in_pitch, out_pitch;
  int offset, step;
};

/// Channels that are denoised together.
struct DenoisedPicture {
  DenoisedPlane planes[DenoisedChannels::most];
  int width, height;
  unsigned first_block;      ///< of those that denoise the picture
  unsigned first_continued;  ///< of those that continue it
  std::uint8_t* continued;   ///< the picture with what is beyond its edges
};

/// Pictures of as many channels each, which share a table.
struct NlMeansArguments {
  DenoisedPicture pictures[FrameLayout::max_channels];
  int picture_count;
  int search_radius, patch_radius;
  const std::uint32_t* weights;
  std::uint32_t last_weight;  ///< its index
  int distance_shift;
  int bits, shift;  ///< of samples of two bytes
};

/// The picture that a block works on. first: the member that says where a picture's blocks begin.
CUDAVISION_HOST_DEVICE inline const DenoisedPicture& picture_of_block(
    const NlMeansArguments& a, unsigned block, unsigned DenoisedPicture::*first) {
  int number = 0;
  while (number + 1 < a.picture_count && block >= a.pictures[number + 1].*first)
    ++number;
  return a.pictures[number];
}

}  // namespace cudavision::nlmeans
