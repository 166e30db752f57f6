// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: arguments of the kernels of the guided filter.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/guided/arithmetic.h"

namespace cudavision::guided {

/// Each thread holds the sums of so many neighbouring columns, which begin at a multiple of it.
constexpr int thread_columns = 8;

/// One channel of the input and of the output. Pitches and steps are in bytes.
struct FilteredPicture {
  const std::uint8_t* in;
  std::uint8_t* out;
  int in_pitch, out_pitch;
  int step;     ///< from a sample to the next in a row of in or out
  bool packed;  ///< Four samples of the output lie side by side and are aligned.
  /// The values of the samples. Each row lasts for a multiple of thread_columns, and is aligned as
  /// they need it. Those beyond the picture are 0.
  const std::uint8_t* values;
  int values_pitch;
  std::uint8_t* gathered;  ///< memory for the values, where they are not those of the input
  std::uint32_t* words;    ///< one for each window, in rows of the same kind
  int words_pitch;         ///< words

  int width, height;
  int reach_x, reach_y;
  /// How blocks share the picture: strips beside each other, in bands one below the other.
  int strips, strip_width, band_rows;
  /// A block adds up two halves of its columns, which begin at these distances from its strip, and
  /// between which there may be a gap.
  int left, right;
  unsigned first_block, first_gathering_block;
};

struct GuidedArguments {
  FilteredPicture pictures[FrameLayout::max_channels];
  int picture_count;
  Scale scale;
  int shift;  ///< of samples of two bytes
};

/// Returns the picture that a block works on. first is the member that holds the number of a
/// picture's first block.
__device__ inline const FilteredPicture& picture_of_block(const GuidedArguments& a,
                                                          unsigned FilteredPicture::*first) {
  int number = 0;
  while (number + 1 < a.picture_count && blockIdx.x >= a.pictures[number + 1].*first)
    ++number;
  return a.pictures[number];
}

}  // namespace cudavision::guided
