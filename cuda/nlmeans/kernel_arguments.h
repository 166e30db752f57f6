// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arguments of the kernels of non-local means.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/nlmeans/backend.h"
#include "cuda/nlmeans/product.h"

namespace cudavision::nlmeans {

/// A plane of a frame that is searched.
struct SearchedPlane {
  const std::uint8_t* rows;
  int pitch;  ///< in bytes
};

/// One channel of the input and of the output. Distances are in bytes.
struct DenoisedPlane {
  int number;  ///< of the plane in a frame
  std::uint8_t* out;
  int out_pitch;
  int offset, step;
};

/// Channels that are denoised together.
struct DenoisedPicture {
  DenoisedPlane planes[DenoisedChannels::max_count];
  int width, height;
  int sample_width, sample_height;  ///< pixels that a sample stands for
  unsigned first_block;             ///< of the blocks that denoise the picture, or of its strips
  unsigned first_padding_block;     ///< of the blocks that pad it
  std::uint8_t* padded;             ///< the picture of the first frame with its halo
};

/// Pictures of equal numbers of channels, which share a table.
struct NlMeansArguments {
  DenoisedPicture pictures[FrameLayout::max_channels];
  int picture_count;
  int channels;                                               ///< of each picture
  SearchedPlane frames[max_frames][FrameLayout::max_planes];  ///< the first one is denoised
  int frame_count;
  std::int64_t padded_frame_bytes;  ///< from a padded picture to that of the next frame
  int search_radius, patch_radius;
  const std::uint32_t* weights;
  std::uint32_t last_weight;  ///< index of the last entry
  const int* chosen;          ///< null, or the number of the launch that works
  int number;                 ///< of this launch
  int distance_shift;
  int bits, shift;  ///< of samples of two bytes
  /* Only for the kernels of product.cuh: */
  ProductShape shape;
  unsigned strips;  ///< of all pictures, numbered down one column after the other
  unsigned shares;  ///< of these strips: a block takes one share after the other
  unsigned strips_of_share;
  unsigned longer_shares;  ///< the first ones, which have one more
  int low_bits;            ///< of samples of two bytes: those below the upper 8
  int scale_log2;          ///< of distances
  int product_scale;       ///< −2 · 2^scale_log2
  int joined_shift;        ///< 2 · low_bits − scale_log2
  int max_distance;        ///< scaled; its weight, as that of all above it, is 0
  int index_shift;         ///< of scaled distances, to get a place in the table
  int table_mask;          ///< clears the bits of a place that number the copies of an entry
  int table_words;         ///< in shared memory, with all copies
  int copies_log2;         ///< of each entry of the table
  bool everywhere;         ///< else only tiles that touch active cells are needed
  regions::ActiveCells active;
};

/// Returns true if this launch works. Of those for different strengths, only one does.
CUDAVISION_HOST_DEVICE inline bool is_chosen(const NlMeansArguments& a) {
  return !a.chosen || *a.chosen == a.number;
}

/// Returns true if some results of a tile are needed. The tile begins in the picture at (left, top)
/// and may end beyond it.
CUDAVISION_HOST_DEVICE inline bool is_active(const NlMeansArguments& a,
                                             const DenoisedPicture& picture, int left, int top,
                                             int width, int height) {
  return a.everywhere || a.active.touch({left * picture.sample_width, top * picture.sample_height,
                                         (left + width) * picture.sample_width,
                                         (top + height) * picture.sample_height});
}

/// Returns the picture that a block works on. first is the member that holds the number of a
/// picture's first block.
CUDAVISION_HOST_DEVICE inline const DenoisedPicture& picture_of_block(
    const NlMeansArguments& a, unsigned block, unsigned DenoisedPicture::*first) {
  int number = 0;
  while (number + 1 < a.picture_count && block >= a.pictures[number + 1].*first)
    ++number;
  return a.pictures[number];
}

}  // namespace cudavision::nlmeans
