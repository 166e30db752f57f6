// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How a frame looks to the blur's kernels. For .cu files.

#include <cstdint>

#include "cuda/core/border.h"
#include "cuda/gaussblur/fragments.h"

namespace cudavision::gaussblur {

/// Samples of a plane that lie at equal distances: sample i of a row begins `step·i` bytes behind
/// the first one.
struct SampleGrid {
  int step = 1;   ///< bytes
  int width = 0;  ///< samples
};

/// What the kernel for few taps needs to know of a plane.
struct DirectBlur {
  static constexpr int max_radius = 2;  ///< along y; along x samples within four bytes count

  /// Row y above the picture is row factor · y + above of it, one below it factor · y + below.
  struct RowsBeyond {
    int factor = 0;
    int above = 0;
    int below = 0;
  };

  bool wide = false;  ///< whether bytes at a distance of more than two count
  // The words before and behind a row: selectors of bytes as __byte_perm takes them, of the row's
  // second and first word, and of its last but one and last.
  std::uint32_t before_row = 0;
  std::uint32_t behind_row = 0;
  RowsBeyond rows_beyond;
  /// For a byte by its position modulo 4: of the word before its own, of its own and of the next.
  std::uint32_t row_factors[4][3] = {};
  /// What two neighbouring rows are multiplied with, in the lower half for a result in the upper of
  /// two rows, in the upper half for one in the lower.
  std::uint32_t column_factors[max_radius + 1] = {};
};

/// A plane, or one field of it, and how it is blurred.
struct BlurPicture {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  int in_pitch = 0;
  int out_pitch = 0;
  int rows = 0;
  int row_bytes = 0;
  int inner_bytes = 0;  ///< of a row: up to here all samples are the picture's

  int first_item = 0;  ///< its items of work follow those of the pictures before
  int strips = 0;      ///< items beside each other

  SampleGrid grids[4];           ///< by the position of a byte modulo 4; equal where there is one
  std::uint8_t load_bytes = 1;   ///< 16, 4 or 1: what pitch and address of the input allow
  bool stores_words = false;     ///< whether 8 bytes may be written, and combined, at a time
  std::uint8_t store_bytes = 1;  ///< 16, 4 or 1: what pitch and address of the output allow

  int period = 1;                     ///< bytes after which the channels repeat, up to 8
  std::uint64_t border_value = 0;     ///< the constants around the picture, of a period
  std::uint32_t copied = 0;           ///< bit b: byte b of a period is not blurred
  std::uint64_t copied_of_eight = 0;  ///< mask of such bytes, by position modulo 8

  int row_radius = 0;  ///< bytes
  int column_radius = 0;
  // Where in the tables they begin; of the kernel for few slices the factors, else the others.
  std::uint32_t factors = 0;
  std::uint32_t row_table = 0;
  std::uint32_t column_table = 0;
  std::uint8_t row_identity = 0;  ///< bit b: bytes b modulo 4 are not blurred along x
  bool column_identity = false;
  DirectBlur direct;
};

struct BlurArguments {
  static constexpr int max_pictures = 8;

  BlurPicture pictures[max_pictures];
  int picture_count = 0;
  int item_count = 0;
  const std::uint32_t* tables = nullptr;
  int row_slices = 0;
  int column_slices = 0;
  int item_rows = 1;  ///< rows of an item
  Border border = Border::reflect_101;
  bool sharpen = false;
  int bits = 8;
  int shift = 0;

  // Of the kernel for any size.
  int chunk_pairs = 0;              ///< pairs of slices that are staged at a time
  std::uint8_t* scratch = nullptr;  ///< of all blocks, where shared memory has no room for it
};

}  // namespace cudavision::gaussblur
