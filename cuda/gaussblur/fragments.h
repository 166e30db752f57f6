// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Gaussian blur as products of matrices of bytes, and how the lanes of a warp hold these matrices.
//
// A warp makes tiles of 16 rows × 32 bytes. Along x, the sums of 16 samples in each of 8 rows are
// one product T·I: row i of T holds the coefficients, moved along to where output sample i needs
// them (a Toeplitz matrix), and column n of I holds a window of bytes of one row of the picture.
// Along y it is T·R, with the results of the first product, cut into bytes, as R. The sum over the
// inner dimension may be taken in any order, as long as both factors have the same; it is chosen so
// that four neighbours in memory lie in one register, and so that what a lane gets out of the first
// product is what it has to put into the second.
//
// Lane numbers: g = lane / 4 and t = lane % 4, as the PTX manual has them for mma.m16n8k32: a lane
// holds rows g and g + 8 of the left factor, column g of the right one, and rows g and g + 8 and
// columns 2t and 2t + 1 of the product; of the inner dimension, the "words" t and t + 4 of four
// bytes each. A slice is 16 of the inner dimension.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::gaussblur {

constexpr int tile_bytes = 32;
constexpr int tile_rows = 16;
constexpr int slice_length = 16;

/// Samples of kSample bytes, coefficients of kCoefficient bytes. Sums are kept apart by the weight
/// of their bytes: product number s of a sum has the weight 256^s.
template <int kSample, int kCoefficient>
struct BlurDepth {
  static constexpr int sample_bytes = kSample;
  static constexpr int coefficient_bytes = kCoefficient;
  static constexpr int groups = 2 / kSample;  ///< of 16 samples in a tile's row
  static constexpr int row_sums = kSample + kCoefficient - 1;
  static constexpr int result_bytes = kSample + kCoefficient;  ///< of a sum along x
  static constexpr int column_sums = result_bytes + kCoefficient - 1;
  static constexpr int ring_words = groups * 2 * result_bytes;  ///< a lane's, for 16 rows
};

/* Along x */

/// The row of the tile that column g of the right factor number q (0 or 1) holds.
CUDAVISION_HOST_DEVICE constexpr int row_of_column(int q, int g) {
  return 2 * g + q;
}

/// The byte of the tile's row where the output sample of row i of the product begins; group: which
/// 16 samples.
template <class Depth>
CUDAVISION_HOST_DEVICE constexpr int byte_of_row(int group, int i) {
  const int g = i % 8, half = i / 8;
  return Depth::sample_bytes == 1 ? 8 * (g / 2) + 4 * group + 2 * half + g % 2
                                  : 8 * (g / 2) + 4 * half + 2 * (g % 2);
}

/// Which word of the window, counted in fours of bytes from its start, is word t or t + 4 of a pair
/// of slices. A lane's two words are neighbours, so that it loads them as one.
CUDAVISION_HOST_DEVICE constexpr int window_word(int pair, int t, int second) {
  return 8 * pair + 2 * t + second;
}

/// The same for a last slice alone.
CUDAVISION_HOST_DEVICE constexpr int last_window_word(int slice, int t) {
  return 4 * slice + t;
}

/// Bytes of the window on either side of the tile, for so many slices.
CUDAVISION_HOST_DEVICE constexpr int window_lead(int slices) {
  return (slice_length * slices - tile_bytes) / 2;
}

/* Along y */

/// The row, within 16, of byte b of word t. (Columns 2t and 2t + 1 of the products q = 0 and q = 1
/// are these.)
CUDAVISION_HOST_DEVICE constexpr int row_of_byte(int t, int b) {
  return 4 * t + b;
}

/// Rows above and below the tile, for so many slices.
CUDAVISION_HOST_DEVICE constexpr int column_lead(int slices) {
  return (slice_length * slices - tile_rows) / 2;
}

/* Pixels of four bytes, each a sample of a channel, that are blurred alike: the channels one by
   one, with the same factors. Tiles are of 16 pixels; a window is taken from left to right. */

constexpr int pixel_bytes = 4;
constexpr int pixel_tile_bytes = 16 * pixel_bytes;

/// Which pixel of the tile is row i of the product along x: such that what a lane gets out of the
/// second product, for all channels, is four neighbouring pixels.
CUDAVISION_HOST_DEVICE constexpr int pixel_of_row(int i) {
  return 4 * (i % 8 / 2) + 2 * (i / 8) + i % 2;
}

/// The row of the tile that column g of the right factor number q holds along x.
CUDAVISION_HOST_DEVICE constexpr int pixel_row_of_column(int q, int g) {
  return 4 * (g / 2) + 2 * q + g % 2;
}

/// Of a row of a tile with its window's pixels on either side: as many as there are rows above and
/// below for so many slices.
CUDAVISION_HOST_DEVICE constexpr int pixel_window_bytes(int slices) {
  return slices * slice_length * pixel_bytes;
}

/// Quads of a lane's words of both factors.
CUDAVISION_HOST_DEVICE constexpr int pixel_factor_quads(int row_slices, int column_slices) {
  return (2 * (row_slices + column_slices) + 3) / 4;
}

/* Tables of Toeplitz words */

/// Four neighbouring coefficients of one row of T. Rows that are four bytes (four picture rows)
/// apart hold the same words, one word further on; so one list of words for each of the four
/// phases, which begins `lead_in` words before the window, is all that a table holds.
template <class Depth>
struct BlurTable {
  static constexpr int row_lead_in = 7;
  static constexpr int column_lead_in = 3;
  static constexpr int row_phases = 4 / Depth::sample_bytes;

  CUDAVISION_HOST_DEVICE static constexpr int row_length(int slices) {
    return 4 * slices + row_lead_in;
  }
  CUDAVISION_HOST_DEVICE static constexpr int row_words(int slices) {
    return Depth::row_sums * row_phases * row_length(slices);
  }
  CUDAVISION_HOST_DEVICE static constexpr int column_length(int slices) {
    return 4 * slices + column_lead_in;
  }
  CUDAVISION_HOST_DEVICE static constexpr int column_words(int slices) {
    return Depth::coefficient_bytes * 4 * column_length(slices);
  }

  /// Where a lane's word of row i is; to it comes the window's word.
  CUDAVISION_HOST_DEVICE static constexpr int row_start(int slices, int sum, int group, int i) {
    const int byte = byte_of_row<Depth>(group, i);
    const int phase = byte % 4 / Depth::sample_bytes;
    return (sum * row_phases + phase) * row_length(slices) + row_lead_in - byte / 4;
  }
  /// To it comes 4 · slice + t.
  CUDAVISION_HOST_DEVICE static constexpr int column_start(int slices, int coefficient_byte,
                                                           int i) {
    return (coefficient_byte * 4 + i % 4) * column_length(slices) + column_lead_in - i / 4;
  }
};

}  // namespace cudavision::gaussblur
