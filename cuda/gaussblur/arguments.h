// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arguments of the CUDA kernels. They describe a frame as planes of bytes, and how the work on
// these is divided.

#include <cstdint>

#include "cuda/core/border.h"
#include "cuda/gaussblur/fragments.h"
#include "cuda/regions/numberedcells.h"

namespace cudavision::gaussblur {

/// Samples at equal distances in a row: sample i begins `step·i` bytes after the first one.
struct SampleGrid {
  int step = 1;   ///< bytes
  int width = 0;  ///< samples
};

/// Describes how the direct kernel (direct.cuh), which is for few taps, blurs a plane.
struct DirectPlane {
  static constexpr int max_radius = 2;  ///< along y; along x, samples up to four bytes away count

  /// The rows that stand in for those beyond the plane: row `factor·y + above` for a row y above
  /// it, row `factor·y + below` for a row y below it.
  struct RowsBeyond {
    int factor = 0;
    int above = 0;
    int below = 0;
  };

  bool wide = false;  ///< true if bytes more than two away count
  // Selectors of __byte_perm that make the words before and after a row. They pick bytes from the
  // row's second and first word, and from its last but one and last word.
  std::uint32_t before_row = 0;
  std::uint32_t after_row = 0;
  RowsBeyond rows_beyond;
  /// The coefficients for an output byte, by its position modulo 4: one word each for the input
  /// word before its own, for its own and for the next.
  std::uint32_t row_factors[4][3] = {};
  /// The coefficients for a pair of input rows. The lower half makes the upper row of a pair of
  /// output rows, the upper half makes the lower row.
  std::uint32_t column_factors[max_radius + 1] = {};
};

/// A plane, or one field of it, and how it is blurred.
struct Plane {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  int in_pitch = 0;
  int out_pitch = 0;
  int rows = 0;
  int row_bytes = 0;
  int inner_bytes = 0;    ///< the first bytes of a row, all of which are part of the image
  int row_pixels = 1;     ///< rows of pixels that a row stands for
  int period_pixels = 1;  ///< pixels that a period stands for

  int first_item = 0;  ///< the plane's first work item; those of earlier planes come before it
  int strips = 0;      ///< work items side by side, in the plane or in an active cell of it
  int cell_items = 0;  ///< work items in an active cell
  int cell_rows = 0;   ///< rows of an active cell

  SampleGrid grids[4];           ///< by a byte's position modulo 4
  std::uint8_t load_bytes = 1;   ///< 16, 4 or 1: how many the input's pitch and address allow
  bool stores_words = false;     ///< true if 8 bytes can be combined and written at a time
  std::uint8_t store_bytes = 1;  ///< 16, 4 or 1: how many the output's pitch and address allow

  int period = 1;                     ///< bytes after which the channels repeat, up to 8
  std::uint64_t border_value = 0;     ///< one period of the constants around the plane
  std::uint32_t copied = 0;           ///< bit b: byte b of a period is copied, not blurred
  std::uint64_t copied_of_eight = 0;  ///< the same as a mask of bytes, by position modulo 8

  int row_radius = 0;  ///< bytes
  int column_radius = 0;
  // The plane's parts of Arguments::tables begin at these words. Kernels with few slices use the
  // factors, the others use the two tables.
  std::uint32_t factors = 0;
  std::uint32_t row_table = 0;
  std::uint32_t column_table = 0;
  std::uint8_t row_identity = 0;  ///< bit b: bytes at b modulo 4 are not blurred along x
  bool column_identity = false;
  DirectPlane direct;
};

/// Kernels load and store whole units of this many bytes at best, so work items begin at multiples.
constexpr int cell_alignment = 16;

/// Returns the byte of a plane's row at which the work items of an active cell begin. x is the
/// first pixel of the cell.
CUDAVISION_HOST_DEVICE inline int first_byte_of_cell(int x, const Plane& plane) {
  return x / plane.period_pixels * plane.period / cell_alignment * cell_alignment;
}

/// The one argument of every kernel. A launch blurs all planes of a frame.
struct Arguments {
  static constexpr int max_planes = 8;  ///< two fields of four planes

  Plane planes[max_planes];
  int plane_count = 0;
  int item_count = 0;
  const std::uint32_t* tables = nullptr;
  int row_slices = 0;
  int column_slices = 0;
  int item_rows = 1;  ///< rows of a work item
  Border border = Border::reflect_101;
  bool sharpen = false;
  int bits = 8;
  int shift = 0;

  bool everywhere = true;  ///< else there are work items only for the active cells
  regions::NumberedCells active;

  // Only large.cuh uses these.
  int chunk_pairs = 0;              ///< pairs of slices that are staged at a time
  std::uint8_t* scratch = nullptr;  ///< of all blocks, where shared memory has no room
};

}  // namespace cudavision::gaussblur
