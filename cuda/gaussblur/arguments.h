// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arguments of the CUDA kernels: the planes of a frame, and how the work is divided.

#include <cstdint>
#include <optional>

#include "cuda/core/border.h"
#include "cuda/gaussblur/channels.h"
#include "cuda/gaussblur/tables.h"
#include "cuda/regions/numberedcells.h"

namespace cudavision::gaussblur {

struct SampleGrid {
  int step = 1;   ///< bytes
  int width = 0;  ///< samples
};

/// Parameters of the direct kernel (direct.cuh), for planes with few taps.
struct DirectPlane {
  static constexpr int max_radius = 2;  ///< rows; the radius along x is up to four bytes

  /// A row y above or below the plane is a copy of row factor·y + above or factor·y + below.
  struct RowsBeyond {
    int factor = 0;
    int above = 0;
    int below = 0;
  };

  bool wide = false;  ///< taps more than two bytes away are nonzero
  // __byte_perm selectors that build the word before or after a row from the two nearest words.
  std::uint32_t before_row = 0;
  std::uint32_t after_row = 0;
  RowsBeyond rows_beyond;
  /// Coefficients of the previous, same and next word, by an output byte's position modulo 4.
  std::uint32_t row_factors[4][3] = {};
  /// Coefficients of pairs of input rows for the upper (low half) and the lower output row.
  std::uint32_t column_factors[max_radius + 1] = {};
};

/// A plane of the frame, or one field of it.
struct Plane {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  int in_pitch = 0;
  int out_pitch = 0;
  int rows = 0;
  int row_bytes = 0;
  int inner_bytes = 0;    ///< leading bytes of a row that all belong to the image
  int row_pixels = 1;     ///< rows of pixels per row of the plane
  int period_pixels = 1;  ///< pixels per period

  int first_item = 0;  ///< index of the plane's first work item
  int strips = 0;      ///< work items per row, of the plane or of an active cell
  int cell_items = 0;  ///< work items per active cell
  int cell_rows = 0;   ///< rows per active cell

  SampleGrid grids[4];           ///< indexed by a byte's position modulo 4
  std::uint8_t load_bytes = 1;   ///< 16, 4 or 1, depending on the alignment of the input
  bool stores_words = false;     ///< 8 bytes can be written at once
  std::uint8_t store_bytes = 1;  ///< 16, 4 or 1, depending on the alignment of the output

  int period = 1;                  ///< bytes after which the pattern of channels repeats, up to 8
  std::uint64_t border_value = 0;  ///< one period of the constant border
  std::uint32_t copied = 0;        ///< bit b: byte b of a period is copied, not blurred
  std::uint64_t copied_of_eight = 0;  ///< `copied` as a byte mask, by position modulo 8

  int row_radius = 0;     ///< bytes
  int column_radius = 0;  ///< rows
  // Indices in Arguments::tables: `factors` for small.cuh and pixels.cuh, tables for large.cuh.
  std::uint32_t factors = 0;
  std::uint32_t row_table = 0;
  std::uint32_t column_table = 0;
  std::uint8_t row_identity = 0;  ///< bit b: bytes at position b modulo 4 are not blurred along x
  bool column_identity = false;
  DirectPlane direct;
};

/// Alignment in bytes of the first work item of an active cell.
constexpr int cell_alignment = 16;

/// First byte of a cell's work items in a row. x is the first pixel of the cell.
CUDAVISION_HOST_DEVICE inline int first_byte_of_cell(int x, const Plane& plane) {
  return x / plane.period_pixels * plane.period / cell_alignment * cell_alignment;
}

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

  bool everywhere = true;  ///< false: only active cells have work items
  regions::NumberedCells active;

  // Only for large.cuh.
  int chunk_pairs = 0;              ///< pairs of slices staged at a time
  std::uint8_t* scratch = nullptr;  ///< memory of all blocks; nullptr if no Gaussian needs it
};

/// Describes channels, border and copied bytes in `plane`. kernels receives the kernels along x.
void describe_plane(const FrameLayout& layout, int number, const ChannelBlur* channels, int count,
                    Plane& plane, RowKernels& kernels);

/// Returns true if the rows consist of pixels of four bytes whose samples share a kernel.
bool are_pixels(const Plane& plane, const RowKernels& along_x);

/// Returns the parameters of the direct kernel, or nullopt if this kernel cannot blur the plane.
/// Call describe_plane() and set rows and row_radius first. Coefficients must have 8 fraction bits.
std::optional<DirectPlane> describe_direct(const Plane& plane, Border border,
                                           const RowKernels& along_x, const GaussKernel& along_y);

}  // namespace cudavision::gaussblur
