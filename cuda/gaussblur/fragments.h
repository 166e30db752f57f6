// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The Gaussian blur as products of byte matrices, and which lane of a warp holds which element.
//
// A warp blurs tiles of 16 rows × 32 bytes (64 in pixels.cuh). Along x, the sums of 16 samples in
// each of 8 rows are one product T·I. Row i of the Toeplitz matrix T holds the coefficients,
// shifted to the window of output sample i. Each column of I holds the bytes of one row under the
// tile and its halo. Along y, the product is T·R, where R holds the sums along x, split into bytes.
//
// Both factors may permute the inner dimension in the same way. The chosen order keeps four bytes
// that are adjacent in memory in one register. It also makes a lane's results of the first product
// its operands of the second, so no values move between lanes.
//
// core/matrix_product.cuh defines g, t, slices and the elements of a lane.

#include "cuda/core/view.h"

namespace cudavision::gaussblur {

constexpr int tile_bytes = 32;
constexpr int tile_rows = 16;
constexpr int slice_length = 16;

/// Samples of kSample bytes and coefficients of kCoefficient bytes. The tensor cores multiply
/// single bytes, so a sum consists of several products; product s has the weight 256^s.
template <int kSample, int kCoefficient>
struct SampleDepth {
  static constexpr int sample_bytes = kSample;
  static constexpr int coefficient_bytes = kCoefficient;
  static constexpr int groups = 2 / kSample;  ///< groups of 16 samples in a row of a tile
  static constexpr int row_sums = kSample + kCoefficient - 1;
  static constexpr int result_bytes = kSample + kCoefficient;  ///< per sum along x
  static constexpr int column_sums = result_bytes + kCoefficient - 1;
  static constexpr int ring_words = groups * 2 * result_bytes;  ///< words of a lane for 16 rows
};

/// Row of the tile that is column g of right factor q (0 or 1), along x.
CUDAVISION_HOST_DEVICE constexpr int row_of_column(int q, int g) {
  return 2 * g + q;
}

/// Position in the tile's row, in bytes, of the output sample in row i of the product.
template <class Depth>
CUDAVISION_HOST_DEVICE constexpr int byte_of_row(int group, int i) {
  const int g = i % 8, half = i / 8;
  return Depth::sample_bytes == 1 ? 8 * (g / 2) + 4 * group + 2 * half + g % 2
                                  : 8 * (g / 2) + 4 * half + 2 * (g % 2);
}

/// Word of the window that is word t (second = 0) or t + 4 (second = 1) of a pair of slices. The
/// two words of a lane are adjacent, so that one load reads both.
CUDAVISION_HOST_DEVICE constexpr int window_word(int pair, int t, int second) {
  return 8 * pair + 2 * t + second;
}

/// Like window_word(), for a last slice without a partner.
CUDAVISION_HOST_DEVICE constexpr int last_window_word(int slice, int t) {
  return 4 * slice + t;
}

/// Bytes on either side of the tile that a window of `slices` slices covers.
CUDAVISION_HOST_DEVICE constexpr int window_halo(int slices) {
  return (slice_length * slices - tile_bytes) / 2;
}

/// Rows above and below the tile that `slices` slices cover.
CUDAVISION_HOST_DEVICE constexpr int column_halo(int slices) {
  return (slice_length * slices - tile_rows) / 2;
}

/* Pixels of four 8-bit channels with equal kernels (pixels.cuh), in tiles of 16 pixels per row */

constexpr int pixel_bytes = 4;
constexpr int pixel_tile_bytes = 16 * pixel_bytes;

/// Pixel of the tile in row i of the product along x. With this order, a lane's results of the
/// second product are four adjacent pixels.
CUDAVISION_HOST_DEVICE constexpr int pixel_of_row(int i) {
  return 4 * (i % 8 / 2) + 2 * (i / 8) + i % 2;
}

/// Row of the tile that is column g of right factor q, along x.
CUDAVISION_HOST_DEVICE constexpr int pixel_row_of_column(int q, int g) {
  return 4 * (g / 2) + 2 * q + g % 2;
}

/// Bytes of the window in each row. Its halo has column_halo(slices) pixels on either side.
CUDAVISION_HOST_DEVICE constexpr int pixel_window_bytes(int slices) {
  return slices * slice_length * pixel_bytes;
}

}  // namespace cudavision::gaussblur
