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

/// One channel of the input and the output. Distances are in bytes.
struct DenoisedPlane {
  int number;  ///< of the plane in a frame
  std::uint8_t* out;
  int out_pitch;
  int offset, step;
};

struct DenoisedPicture {
  DenoisedPlane planes[DenoisedChannels::max_count];
  int width, height;
  int sample_width, sample_height;  ///< pixels per sample
  unsigned first_block;             ///< first block that denoises the picture, or first strip
  unsigned first_padding_block;     ///< first block that pads the picture
  std::uint8_t* padded;             ///< the first frame's picture with its halo
};

/// The pictures have equal numbers of channels and share a table.
struct NlMeansArguments {
  DenoisedPicture pictures[FrameLayout::max_channels];
  int picture_count;
  int channels;                                               ///< of each picture
  SearchedPlane frames[max_frames][FrameLayout::max_planes];  ///< the first one is denoised
  int frame_count;
  std::int64_t padded_frame_bytes;  ///< from a padded picture to the next frame's
  int search_radius, patch_radius;
  const std::uint32_t* weights;
  std::uint32_t last_weight;  ///< index of the last entry
  const int* chosen;          ///< nullptr, or the number of the only launch that runs
  int number;                 ///< of this launch
  int distance_shift;
  int bits, shift;  ///< of samples of two bytes
  /* Only for the kernels of mma.cuh: */
  ProductShape shape;
  unsigned strips;  ///< of all pictures, numbered column by column
  unsigned shares;  ///< parts of the strips, which blocks take in turn
  unsigned strips_of_share;
  unsigned longer_shares;  ///< leading shares with one strip more
  int low_bits;            ///< of samples of two bytes: bits below the upper 8
  int scale_log2;          ///< of distances
  int product_scale;       ///< −2 · 2^scale_log2
  int joined_shift;        ///< 2 · low_bits − scale_log2
  int max_distance;        ///< scaled; from here on, all weights are 0
  int index_shift;         ///< from a scaled distance to an index in the table
  int table_mask;          ///< clears the bits of an index that number the copies of an entry
  int table_words;         ///< in shared memory, including all copies
  int copies_log2;         ///< copies of each table entry
  bool everywhere;         ///< false: only tiles that touch active cells are needed
  regions::ActiveCells active;
};

/// Only one of the launches for different strengths runs.
CUDAVISION_HOST_DEVICE inline bool is_chosen(const NlMeansArguments& a) {
  return !a.chosen || *a.chosen == a.number;
}

/// The tile begins in the picture, but may end beyond it.
CUDAVISION_HOST_DEVICE inline bool is_active(const NlMeansArguments& a,
                                             const DenoisedPicture& picture, int left, int top,
                                             int width, int height) {
  return a.everywhere || a.active.touch({left * picture.sample_width, top * picture.sample_height,
                                         (left + width) * picture.sample_width,
                                         (top + height) * picture.sample_height});
}

/// first is the member that holds a picture's first block.
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
