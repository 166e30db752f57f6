// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The Gaussian blur as products of matrices of bytes, and which lane of a warp holds which element.
//
// A warp blurs tiles of 16 rows × 32 bytes. Along x, the sums of 16 samples in each of 8 rows are
// one product T·I. Row i of T holds the coefficients, shifted to where output sample i needs them
// (a Toeplitz matrix). Column n of I holds a window of bytes of one row of the plane: those under
// the tile and a halo on either side. Along y the product is T·R, where R holds the results of the
// first product, cut into bytes. The order of summation over the inner dimension is free, as long
// as both factors follow the same one. It is chosen so that four bytes that are neighbours in
// memory lie in one register, and so that a lane's results of the first product are the operands
// that it needs for the second: nothing moves between lanes.
//
// core/matrix_product.cuh says which elements a lane holds, and what g, t and slices are.

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::gaussblur {

constexpr int tile_bytes = 32;
constexpr int tile_rows = 16;
constexpr int slice_length = 16;

/// Samples of kSample bytes and coefficients of kCoefficient bytes. The tensor cores multiply
/// bytes, so a sum is kept as several: product number s of a sum has the weight 256^s.
template <int kSample, int kCoefficient>
struct SampleDepth {
  static constexpr int sample_bytes = kSample;
  static constexpr int coefficient_bytes = kCoefficient;
  static constexpr int groups = 2 / kSample;  ///< groups of 16 samples in a tile's row
  static constexpr int row_sums = kSample + kCoefficient - 1;
  static constexpr int result_bytes = kSample + kCoefficient;  ///< of a sum along x
  static constexpr int column_sums = result_bytes + kCoefficient - 1;
  static constexpr int ring_words = groups * 2 * result_bytes;  ///< a lane's, for 16 rows
};

/* Along x */

/// Returns the row of the tile that is in column g of right factor number q (0 or 1).
CUDAVISION_HOST_DEVICE constexpr int row_of_column(int q, int g) {
  return 2 * g + q;
}

/// Returns the first byte, in the tile's row, of the output sample in row i of the product. group
/// is the number of the group of 16 samples.
template <class Depth>
CUDAVISION_HOST_DEVICE constexpr int byte_of_row(int group, int i) {
  const int g = i % 8, half = i / 8;
  return Depth::sample_bytes == 1 ? 8 * (g / 2) + 4 * group + 2 * half + g % 2
                                  : 8 * (g / 2) + 4 * half + 2 * (g % 2);
}

/// Returns the word of the window, counted from its start, that serves as word t (second = 0) or t
/// + 4 (second = 1) of a pair of slices. A lane's two words are neighbours, so that it can load
/// them as one.
CUDAVISION_HOST_DEVICE constexpr int window_word(int pair, int t, int second) {
  return 8 * pair + 2 * t + second;
}

/// Returns the same for a last slice without a partner.
CUDAVISION_HOST_DEVICE constexpr int last_window_word(int slice, int t) {
  return 4 * slice + t;
}

/// Returns how many bytes on either side of the tile a window of `slices` slices covers.
CUDAVISION_HOST_DEVICE constexpr int window_halo(int slices) {
  return (slice_length * slices - tile_bytes) / 2;
}

/* Along y */

/// Returns the row, 0 to 15, of byte b of word t. Columns 2t and 2t + 1 of the products q = 0 and q
/// = 1 are these rows.
CUDAVISION_HOST_DEVICE constexpr int row_of_byte(int t, int b) {
  return 4 * t + b;
}

/// Returns how many rows above and below the tile `slices` slices cover.
CUDAVISION_HOST_DEVICE constexpr int column_halo(int slices) {
  return (slice_length * slices - tile_rows) / 2;
}

/* Pixels of four 8-bit channels that are blurred alike (pixels.cuh). The channels are multiplied
   one after the other by the same factors. A tile is 16 pixels wide. */

constexpr int pixel_bytes = 4;
constexpr int pixel_tile_bytes = 16 * pixel_bytes;

/// Returns the pixel of the tile that is in row i of the product along x. In this order, a lane's
/// results of the second product, over all channels, are four neighbouring pixels.
CUDAVISION_HOST_DEVICE constexpr int pixel_of_row(int i) {
  return 4 * (i % 8 / 2) + 2 * (i / 8) + i % 2;
}

/// Returns the row of the tile that is in column g of right factor number q, along x.
CUDAVISION_HOST_DEVICE constexpr int pixel_row_of_column(int q, int g) {
  return 4 * (g / 2) + 2 * q + g % 2;
}

/// Returns the number of bytes of a tile's row with its halos. A halo is as many pixels wide as
/// column_halo() is rows high.
CUDAVISION_HOST_DEVICE constexpr int pixel_window_bytes(int slices) {
  return slices * slice_length * pixel_bytes;
}

}  // namespace cudavision::gaussblur
