// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arguments of the CUDA kernels that sum windows.

#include <cstdint>

#include "cuda/core/frame.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/regions/activecells.h"

namespace cudavision::windows {

struct RowRange {
  int begin, end;  ///< the row after the last one
};

/// The rows that column_sums_kernel sums: group g has the rows from top + g·band_rows − radius,
/// as many as a band. So the window of band b's first row begins with group b.
struct RowGroups {
  int band_rows = 1, top = 0;
  int first = 0, count = 0;  ///< the groups with rows of the picture that some window needs

  RowGroups() = default;
  /// begin is the first row of the first band, and `last` is the last group that windows need.
  RowGroups(int band_rows, int begin, int radius, int height, int last)
      : band_rows(band_rows), top(begin - radius), first(top < 0 ? -top / band_rows : 0) {
    const int bottom = (height - 1 - top) / band_rows;
    count = (bottom < last ? bottom : last) - first + 1;
  }

  /// Returns the table row with the sums of all groups before a group.
  CUDAVISION_HOST_DEVICE int before(int group) const {
    const int row = group - first;
    return row < 0 ? 0 : row < count ? row : count;
  }
};

/// One channel, the windows of its samples, and how blocks share them. Pitches and steps are in
/// bytes.
struct Picture {
  int width, height;
  int sample_width, sample_height;  ///< pixels per sample
  int radius_x, radius_y;           ///< less than width and height

  /// The values that windows sum. Rows are aligned for the loads of threads, and padded with zeros
  /// to a multiple of a thread's columns.
  const std::uint8_t* elements;
  int pitch;
  /// Each row of words of the guided filter has two halves. The first half has every other group
  /// of four words and the second half has the groups between, so that neighbouring threads load
  /// neighbouring words.
  int half_pitch;  ///< in words

  /// The samples themselves, for results that depend on them.
  const std::uint8_t* values;
  int values_pitch;
  std::uint8_t* out;
  int out_pitch;
  int out_step;              ///< from one result to the next
  int out_bytes, out_shift;  ///< of a result
  bool packed;               ///< Four results form an aligned vector.

  /// Blocks share the rows from begin to end − 1 in bands of band_rows. The first band may begin
  /// above `begin`.
  int begin, end;
  int first_row, band_rows, bands;
  int strips, strip_width;
  /// The two halves of a block's columns begin at these distances from its strip. There may be a
  /// gap between the halves.
  int left, right;
  unsigned first_block;

  /// The sums of columns over row groups, or nullptr: a row for each group and one for the end.
  void* table;
  int table_pitch;  ///< in entries
  RowGroups groups;
};

template <class AnySettings, int kPictures>
struct Arguments {
  using Settings = AnySettings;
  static constexpr int max_pictures = kPictures;

  Picture pictures[kPictures];
  int picture_count;
  int group_bytes;  ///< the shared memory of a group of threads
  /// How many radii beyond the samples whose results are needed windows are needed, too.
  int halo;
  bool everywhere;  ///< else results are needed only in active cells
  regions::ActiveCells active;
  Settings settings;  ///< of the operation
};

#ifdef __CUDACC__

/// Sets where the results of a picture go: to one channel of a plane. step is in samples.
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

/// Returns true if some results that depend on a part of a picture are needed.
template <class Arguments>
__device__ bool is_active(const Arguments& a, const Picture& picture, int x0, int y0, int x1,
                          int y1) {
  const int radius_x = a.halo * picture.radius_x, radius_y = a.halo * picture.radius_y;
  return a.everywhere || a.active.touch({max(x0 - radius_x, 0) * picture.sample_width,
                                         max(y0 - radius_y, 0) * picture.sample_height,
                                         (x1 + radius_x) * picture.sample_width,
                                         (y1 + radius_y) * picture.sample_height});
}

/// Returns the picture that the calling block works on.
template <class Arguments>
__device__ const Picture& picture_of_block(const Arguments& a) {
  int number = 0;
  while (number + 1 < Arguments::max_pictures && number + 1 < a.picture_count &&
         blockIdx.x >= a.pictures[number + 1].first_block)
    ++number;
  return a.pictures[number];
}

/// Returns the place of a column's word in a row of two halves.
__device__ inline int place_of_word(const Picture& picture, int column) {
  return (column / 4 % 2 == 0 ? 0 : picture.half_pitch) + column / 8 * 4 + column % 4;
}
/// Returns the place of a column's element in a row.
template <class Element>
__device__ int place_of(const Picture& picture, int column) {
  return sizeof(Element) == 4 ? place_of_word(picture, column) : column;
}

template <class Element>
__device__ const Element* row_of(const Picture& picture, const Element* rows, int y) {
  return reinterpret_cast<const Element*>(reinterpret_cast<const std::uint8_t*>(rows) +
                                          static_cast<std::int64_t>(picture.pitch) * y);
}

#endif

}  // namespace cudavision::windows
