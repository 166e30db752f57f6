// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arguments of the CUDA kernels that sum windows.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/regions/activecells.h"

namespace cudavision::windows {

struct RowRange {
  int begin, end;
};

/// Groups of rows for column_sums_kernel. A group has as many rows as a band. The window of the
/// first row of band b starts with group b.
struct RowGroups {
  int band_rows = 1;
  int top = 0;               ///< first row of group 0; may be negative
  int first = 0, count = 0;  ///< range of groups that intersect the picture and some window

  RowGroups() = default;
  /// begin is the first row of band 0. No group after `last` is part of a window.
  RowGroups(int band_rows, int begin, int radius, int height, int last)
      : band_rows(band_rows), top(begin - radius), first(top < 0 ? -top / band_rows : 0) {
    const int bottom = (height - 1 - top) / band_rows;
    count = (bottom < last ? bottom : last) - first + 1;
  }

  /// Returns the table row for the groups before `group` (see columns.cuh).
  CUDAVISION_HOST_DEVICE int before(int group) const {
    const int row = group - first;
    return row < 0 ? 0 : row < count ? row : count;
  }
};

/// One channel, its window size, and its division among blocks. Pitches and steps are in bytes.
struct Picture {
  int width, height;
  int sample_width, sample_height;  ///< pixels per sample
  int radius_x, radius_y;           ///< less than width and height

  /// Values to sum. Rows are aligned for vector loads and padded with zeros to a multiple of a
  /// thread's columns.
  const std::uint8_t* elements;
  int pitch;
  /// Start of the second half of a row, in words; only for elements of four bytes. Odd groups of
  /// four words are in the second half, so that adjacent threads load adjacent vectors.
  int half_pitch;

  /// Sample values, for running_kernel and for results that depend on single samples.
  const std::uint8_t* values;
  int values_pitch;
  std::uint8_t* out;
  int out_pitch;
  int out_step;
  int out_bytes, out_shift;  ///< bytes and left shift of a result
  bool packed;               ///< four results form an aligned vector

  int begin, end;                   ///< rows with results
  int first_row, band_rows, bands;  ///< first_row may be less than begin
  int strips, strip_width;
  int left, right;  ///< start of each half of a group's columns, relative to the strip
  unsigned first_block;

  void* table;      ///< see columns.cuh; may be nullptr
  int table_pitch;  ///< entries (sums of one column) per row of the table
  RowGroups groups;
};

template <class AnySettings, int kPictures>
struct Arguments {
  using Settings = AnySettings;
  static constexpr int max_pictures = kPictures;

  Picture pictures[kPictures];
  int picture_count;
  int group_bytes;  ///< shared memory per group of threads
  int halo;         ///< results are needed up to this many radii from active cells
  bool everywhere;  ///< false: results are needed only near active cells
  regions::ActiveCells active;
  Settings settings;
};

#ifdef __CUDACC__

/// Sets the output of a picture to one channel of a plane. step is in samples.
inline void set_output(Picture& picture, const View<std::uint8_t>& plane, int offset, int step,
                       int bytes, int shift, const char* operation) {
  picture.out = plane.data + offset * bytes;
  picture.out_pitch = kernel_pitch(operation, plane.pitch);
  picture.out_step = step * bytes;
  picture.out_bytes = bytes;
  picture.out_shift = shift;
  picture.packed = step == 1 && reinterpret_cast<std::uintptr_t>(picture.out) % (4 * bytes) == 0 &&
                   (picture.height == 1 || picture.out_pitch % (4 * bytes) == 0);
}

/// Returns true if any result in a rectangle of the picture is needed.
template <class Arguments>
__device__ bool is_active(const Arguments& a, const Picture& picture, int x0, int y0, int x1,
                          int y1) {
  const int radius_x = a.halo * picture.radius_x, radius_y = a.halo * picture.radius_y;
  return a.everywhere || a.active.touch({max(x0 - radius_x, 0) * picture.sample_width,
                                         max(y0 - radius_y, 0) * picture.sample_height,
                                         (x1 + radius_x) * picture.sample_width,
                                         (y1 + radius_y) * picture.sample_height});
}

template <class Arguments>
__device__ const Picture& picture_of_block(const Arguments& a) {
  int number = 0;
  while (number + 1 < Arguments::max_pictures && number + 1 < a.picture_count &&
         blockIdx.x >= a.pictures[number + 1].first_block)
    ++number;
  return a.pictures[number];
}

/// Returns the index of a column's word in a row of two halves (Picture::half_pitch).
__device__ inline int word_index(const Picture& picture, int column) {
  return (column / 4 % 2 == 0 ? 0 : picture.half_pitch) + column / 8 * 4 + column % 4;
}
template <class Element>
__device__ int element_index(const Picture& picture, int column) {
  return sizeof(Element) == 4 ? word_index(picture, column) : column;
}

template <class Element>
__device__ const Element* row_of(const Picture& picture, const Element* rows, int y) {
  return reinterpret_cast<const Element*>(reinterpret_cast<const std::uint8_t*>(rows) +
                                          static_cast<std::int64_t>(picture.pitch) * y);
}

#endif

}  // namespace cudavision::windows
