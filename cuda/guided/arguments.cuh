// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: arguments of the kernels of the guided filter.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/guided/arithmetic.h"
#include "cuda/guided/bands.h"
#include "cuda/regions/activecells.h"

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
  /// One word for each window, in rows of two halves: the first one has every other four words, and
  /// the second one the four after each. So threads load four neighbouring words beside those of
  /// the next thread. Words beyond the picture are 0.
  std::uint32_t* words;
  int half_pitch;  ///< words of half a row

  int width, height;
  int sample_width, sample_height;  ///< pixels that a sample stands for
  int reach_x, reach_y;
  /// How blocks share the rows from begin to end − 1: strips beside each other, in bands one below
  /// the other.
  int begin, end;
  int strips, strip_width;
  Bands bands;
  /// A block adds up two halves of its columns, which begin at these distances from its strip, and
  /// between which there may be a gap.
  int left, right;
  unsigned first_block, first_gathering_block;
};

struct GuidedArguments {
  FilteredPicture pictures[FrameLayout::max_channels];
  int picture_count;
  Scale scale;
  int shift;        ///< of samples of two bytes
  int group_bytes;  ///< the shared memory of a group of threads
  /// How far beyond the samples whose results are needed windows are needed, too, in reaches.
  int halo;
  bool everywhere;  ///< else only results in active cells are needed
  regions::ActiveCells active;
};

/// Returns true if some results that depend on a part of a picture are needed.
__device__ inline bool is_active(const GuidedArguments& a, const FilteredPicture& picture, int x0,
                                 int y0, int x1, int y1) {
  const int reach_x = a.halo * picture.reach_x, reach_y = a.halo * picture.reach_y;
  return a.everywhere || a.active.touch({max(x0 - reach_x, 0) * picture.sample_width,
                                         max(y0 - reach_y, 0) * picture.sample_height,
                                         (x1 + reach_x) * picture.sample_width,
                                         (y1 + reach_y) * picture.sample_height});
}

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
