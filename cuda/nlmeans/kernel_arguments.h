// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/nlmeans/backend.h"
#include "cuda/nlmeans/product.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::nlmeans {

struct SearchedPlane {
  const std::uint8_t* rows;
  int pitch;  ///< in bytes
};

/// One channel of the input and the output. out_pitch, offset and step are in bytes.
struct DenoisedPlane {
  int number;  ///< index of the plane in the frame
  std::uint8_t* out;
  int out_pitch;
  int offset, step;
};

struct DenoisedPicture {
  DenoisedPlane planes[DenoisedChannels::max_count];
  int width, height;
  int sample_width, sample_height;  ///< pixels per sample
  unsigned first_block;             ///< first block of the picture; in mma.cuh, its first strip
  unsigned first_padding_block;     ///< first block that pads the picture
  std::uint8_t* padded;             ///< the padded picture of the first frame
};

/// All pictures have the same number of channels and share one table.
struct NlMeansArguments {
  DenoisedPicture pictures[FrameLayout::max_channels];
  int picture_count;
  int channels;                                               ///< channels per picture
  SearchedPlane frames[max_frames][FrameLayout::max_planes];  ///< the first is denoised
  int frame_count;
  std::int64_t padded_frame_bytes;  ///< distance between the padded pictures of two frames
  int search_radius, patch_radius;
  const std::uint32_t* weights;
  std::uint32_t last_weight;  ///< index of the last entry before the final 0
  const int* chosen;          ///< if not nullptr: `number` of the only launch that runs
  int number;                 ///< number of this launch
  int distance_shift;
  int bits, shift;  ///< of samples of two bytes
  /* Only for the kernels of mma.cuh: */
  ProductShape shape;
  unsigned strips;  ///< number of strips of all pictures; strips are numbered column by column
  unsigned shares;  ///< the strips are divided into shares; each block processes some shares
  unsigned strips_of_share;
  unsigned longer_shares;  ///< the first longer_shares shares have one strip more
  int low_bits;            ///< number of bits below the upper 8, in samples of two bytes
  int scale_log2;          ///< distances are scaled by 2^scale_log2
  int product_scale;       ///< factor of products in scaled distances: −2 · 2^scale_log2
  int joined_shift;        ///< right shift of joined sums: 2 · low_bits − scale_log2
  int max_distance;        ///< weights are 0 from this scaled distance on
  int index_shift;         ///< shift from a scaled distance to a table index
  int table_mask;          ///< clears the index bits that select one of an entry's copies
  int table_words;         ///< words of the table in shared memory, including all copies
  int copies_log2;         ///< each table entry has 2^copies_log2 copies
  bool everywhere;         ///< false: process only tiles that touch active cells
  regions::ActiveCells active;
};

/// Returns true if this launch must run. Of a kind's launches for strength classes, only one runs.
CUDAVISION_HOST_DEVICE inline bool is_chosen(const NlMeansArguments& a) {
  return !a.chosen || *a.chosen == a.number;
}

/// Returns true if a tile must be processed. The tile must begin in the picture, but may exceed it.
CUDAVISION_HOST_DEVICE inline bool is_active(const NlMeansArguments& a,
                                             const DenoisedPicture& picture, int left, int top,
                                             int width, int height) {
  return a.everywhere || a.active.touch({left * picture.sample_width, top * picture.sample_height,
                                         (left + width) * picture.sample_width,
                                         (top + height) * picture.sample_height});
}

/// Returns the picture of a block. `first` is the member that holds a picture's first block.
CUDAVISION_HOST_DEVICE inline const DenoisedPicture& picture_of_block(
    const NlMeansArguments& a, unsigned block, unsigned DenoisedPicture::*first) {
  int number = 0;
  while (number + 1 < a.picture_count && block >= a.pictures[number + 1].*first)
    ++number;
  return a.pictures[number];
}

template <int kSampleBytes>
CUDAVISION_HOST_DEVICE inline std::uint32_t load_sample(const NlMeansArguments& a,
                                                        const std::uint8_t* from) {
  if (kSampleBytes == 1)
    return from[0];
  return sample_value(from[0] | static_cast<std::uint32_t>(from[1]) << 8, a.shift,
                      (1u << a.bits) - 1);
}

template <int kSampleBytes>
CUDAVISION_HOST_DEVICE inline void store_sample(const NlMeansArguments& a,
                                                const DenoisedPlane& plane, int x, int y,
                                                std::uint32_t value) {
  std::uint8_t* const to = plane.out + plane.offset +
                           static_cast<std::int64_t>(y) * plane.out_pitch +
                           static_cast<std::int64_t>(x) * plane.step;
  const std::uint32_t word = kSampleBytes == 2 ? value << a.shift : value;
  to[0] = static_cast<std::uint8_t>(word);
  if (kSampleBytes == 2)
    to[1] = static_cast<std::uint8_t>(word >> 8);
}

}  // namespace cudavision::nlmeans
