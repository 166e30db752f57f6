// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How a block fills its tile (product.h) in shared memory. Tests also compile this for the host.
// Each thread calls load_samples(), copy_samples(), find_norms() and, for the first of several
// frames, store_reference(), with a barrier after each call.

#include <cstdint>

#include "cuda/core/border.h"
#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/nlmeans/product.h"
#include "cuda/nlmeans/search_tile.h"
#include "cuda/pixels/pixel_pack.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::nlmeans {

constexpr int product_threads = 32 * product_warps;

/// Adjacent strips of a picture, denoised together by a block.
struct ProductTile {
  int picture;
  int left, top;  ///< in the picture; the tile may end beyond it
  int strips;
  int frame;             ///< frame whose samples are in the tile
  unsigned share, next;  ///< the block's share, and its next strip after this tile
};

CUDAVISION_HOST_DEVICE inline unsigned first_strip(const NlMeansArguments& a, unsigned share) {
  return share * a.strips_of_share + (share < a.longer_shares ? share : a.longer_shares);
}

template <class Kind>
CUDAVISION_HOST_DEVICE inline ProductTile tile_at(const NlMeansArguments& a, unsigned share,
                                                  unsigned strip) {
  ProductTile tile{};
  while (tile.picture + 1 < a.picture_count && strip >= a.pictures[tile.picture + 1].first_block)
    ++tile.picture;
  const DenoisedPicture& picture = a.pictures[tile.picture];
  const unsigned in_column = (picture.height + Kind::strip_height - 1) / Kind::strip_height;
  const unsigned number = strip - picture.first_block;
  const unsigned column = number / in_column, row = number % in_column;
  unsigned strips = first_strip(a, share + 1) - strip;
  if (strips > in_column - row)
    strips = in_column - row;
  if (strips > static_cast<unsigned>(a.shape.strips))
    strips = a.shape.strips;
  tile.left = column * Kind::strip_width;
  tile.top = row * Kind::strip_height;
  tile.strips = strips;
  tile.share = share;
  tile.next = strip + strips;
  return tile;
}

/// Loads a word of each plane of a frame: samples from_x[0] to from_x[3] of row from_y. The four
/// samples need not be adjacent, because the frame is mirrored at its edges.
template <class Kind>
CUDAVISION_HOST_DEVICE inline void load_word(const NlMeansArguments& a,
                                             const DenoisedPicture& picture, int frame,
                                             const int (&from_x)[4], int from_y,
                                             std::uint32_t (&values)[Kind::planes]) {
  CUDAVISION_UNROLL
  for (int p = 0; p < Kind::planes; ++p)
    values[p] = 0;
  CUDAVISION_UNROLL
  for (int c = 0; c < Kind::channels; ++c) {
    const DenoisedPlane& plane = picture.planes[c];
    const SearchedPlane& searched = a.frames[frame][plane.number];
    const std::uint8_t* const row =
        searched.rows + static_cast<std::int64_t>(from_y) * searched.pitch + plane.offset;
    CUDAVISION_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t* const from = row + plane.step * from_x[i];
      if (Kind::sample_bytes == 1) {
        values[c] |= static_cast<std::uint32_t>(from[0]) << (8 * i);
      } else {
        const std::uint32_t value = load_sample<2>(a, from);
        values[2 * c] |= value >> a.low_bits << (8 * i);
        values[2 * c + 1] |= (value & ((1u << a.low_bits) - 1)) << (8 * i);
      }
    }
  }
}

template <class Kind>
CUDAVISION_HOST_DEVICE inline void load_samples(const NlMeansArguments& a, const ProductTile& tile,
                                                int thread, std::uint32_t* pixels) {
  const ProductShape& shape = a.shape;
  const DenoisedPicture& picture = a.pictures[tile.picture];
  const int halo = a.search_radius + a.patch_radius;
  const int left = tile.left - halo, top = tile.top - halo;
  const int rows = sample_rows<Kind>(a.search_radius, tile.strips);
  // Each thread fills some rows of a column. The loads of rows_in_flight rows overlap.
  constexpr int rows_in_flight = Kind::planes == 1 ? 3 : Kind::planes <= 3 ? 2 : 1;
  const int row_step = product_threads / shape.copy_columns;
  const int word = thread % shape.copy_columns, first = thread / shape.copy_columns;
  if (first >= row_step)
    return;
  int from_x[4];
  CUDAVISION_UNROLL
  for (int i = 0; i < 4; ++i)
    from_x[i] = border_index(left + 4 * word + i, picture.width, Border::reflect_101);
  for (int begin = first; begin < rows; begin += rows_in_flight * row_step) {
    int from_y[rows_in_flight];
    CUDAVISION_UNROLL
    for (int r = 0; r < rows_in_flight; ++r)
      from_y[r] = border_index(top + begin + r * row_step, picture.height, Border::reflect_101);
    std::uint32_t values[rows_in_flight][Kind::planes];
    CUDAVISION_UNROLL
    for (int r = 0; r < rows_in_flight; ++r)
      load_word<Kind>(a, picture, tile.frame, from_x, from_y[r], values[r]);
    CUDAVISION_UNROLL
    for (int r = 0; r < rows_in_flight; ++r) {
      const int y = begin + r * row_step;
      CUDAVISION_UNROLL
      for (int p = 0; p < Kind::planes; ++p)
        if (y < rows)
          pixels[p * shape.plane_words + word * shape.rows + y] = values[r][p];
    }
  }
}

template <class Kind>
CUDAVISION_HOST_DEVICE inline void copy_samples(const ProductShape& shape, int thread,
                                                std::uint32_t* pixels) {
  const int words = shape.copy_columns * shape.rows;
  for (int i = thread; i < words; i += product_threads)
    CUDAVISION_UNROLL
  for (int p = 0; p < Kind::planes; ++p) {
    std::uint32_t* const at = pixels + p * shape.plane_words + i;
    // The last column has no right neighbour, but no patch needs the missing bytes.
    const std::uint32_t next = i + shape.rows < words ? at[shape.rows] : 0;
    CUDAVISION_UNROLL
    for (int c = 1; c < 4; ++c)
      at[c * shape.copy_words] = bytes_from(at[0], next, c);
  }
}

/// Sums the squared samples of a patch's row. words points to the first word of the row in plane 0.
template <class Kind>
CUDAVISION_HOST_DEVICE inline SquareSum<Kind> squares_of_row(const ProductShape& shape, int patch,
                                                             int low_bits,
                                                             const std::uint32_t* words) {
  std::uint32_t high = 0, products = 0, low = 0;
  CUDAVISION_UNROLL
  for (int c = 0; c < Kind::channels; ++c)
    CUDAVISION_UNROLL
  for (int w = 0; w < Kind::side; ++w) {
    const std::uint32_t* const at =
        words + w * shape.rows + c * Kind::sample_bytes * shape.plane_words;
    const std::uint32_t mask = patch_mask(patch, 0, w);
    const std::uint32_t upper = at[0] & mask;
    high = dot_bytes(upper, upper, high);
    if (Kind::sample_bytes == 2) {
      const std::uint32_t lower = at[shape.plane_words] & mask;
      products = dot_bytes(upper, lower, products);
      low = dot_bytes(lower, lower, low);
    }
  }
  // A sample is h·2^e + l, so its square is h²·2^2e + h·l·2^(e + 1) + l².
  SquareSum<Kind> squares = high;
  if (Kind::sample_bytes == 2)
    squares = (squares << (2 * low_bits)) +
              (static_cast<SquareSum<Kind>>(products) << (low_bits + 1)) + low;
  return squares;
}

/// Computes the norms of the patches around all candidates, by sliding sums down the columns. A
/// norm first holds the squares of its patch's first row, until the sliding sum subtracts them.
template <class Kind>
CUDAVISION_HOST_DEVICE inline void find_norms(const NlMeansArguments& a, int strips, int thread,
                                              const std::uint32_t* pixels, int* norms) {
  const ProductShape& shape = a.shape;
  const int patch = 2 * a.patch_radius + 1;
  const int limit = Kind::joins_planes ? joined_limit : 0;
  const std::uint32_t min_low = static_cast<std::uint32_t>(limit) << (2 * a.low_bits);
  // Each thread sums a part of a column. An odd number of rows avoids bank conflicts.
  constexpr int parts = 4;
  const int rows = candidate_rows<Kind>(a.search_radius, strips);
  const int part_rows = (rows + parts - 1) / parts | 1;
  for (int item = thread; item < shape.candidate_columns * parts; item += product_threads) {
    const int x = item / parts, top = item % parts * part_rows;
    const int end = top + part_rows < rows ? top + part_rows : rows;
    if (top >= end)
      continue;
    const std::uint32_t* const words = pixels + word_at(shape, x, 0);
    std::uint32_t* const column = reinterpret_cast<std::uint32_t*>(norms) + x * shape.norm_rows;
    SquareSum<Kind> sum = 0;
    const auto add_row = [&](int y) {
      const SquareSum<Kind> squares = squares_of_row<Kind>(shape, patch, a.low_bits, words + y);
      sum += squares;
      if (y >= end)
        return;
      column[y] = static_cast<std::uint32_t>(squares);
      if (Kind::sample_bytes == 2)
        column[shape.norm_words() + y] = static_cast<std::uint32_t>(std::uint64_t{squares} >> 32);
    };
    for (int y = top; y < top + patch - 1; ++y)
      add_row(y);
    for (int y = top; y < end; ++y) {
      add_row(y + patch - 1);
      const Norm norm = norm_of<Kind>(sum, a.low_bits);
      std::uint32_t* const to = column + y;
      sum -= to[0];
      if (Kind::sample_bytes == 2)
        sum -= static_cast<SquareSum<Kind>>(std::uint64_t{to[shape.norm_words()]} << 32);
      to[0] = (norm.high - static_cast<std::uint32_t>(limit)) << a.scale_log2;
      if (Kind::sample_bytes == 2)
        to[shape.norm_words()] = norm.low + min_low;
    }
  }
  for (int y = thread; y < rows; y += product_threads) {
    int* const to = norms + shape.dummy_norms() + y;
    to[0] = outside_search;
    if (Kind::sample_bytes == 2)
      to[shape.norm_words()] = static_cast<int>(min_low);
  }
}

/// Copies the middle of a tile to a ReferenceFrame.
template <class Kind>
CUDAVISION_HOST_DEVICE inline void store_reference(const NlMeansArguments& a, int strips,
                                                   int thread, const std::uint32_t* pixels,
                                                   const int* norms, std::uint32_t* reference) {
  const ProductShape& shape = a.shape;
  const ReferenceFrame<Kind> to(shape.strips);
  for (int column = thread / 32; column < ReferenceFrame<Kind>::columns; column += product_warps)
    for (int y = thread % 32; y < ReferenceFrame<Kind>::patch_rows(strips); y += 32)
      CUDAVISION_UNROLL
  for (int p = 0; p < Kind::planes; ++p)
    reference[p * to.plane_words() + column * to.rows + y] =
        pixels[p * shape.plane_words + (a.search_radius / 4 + column) * shape.rows +
               a.search_radius + y];
  for (int x = thread / 32; x < Kind::strip_width; x += product_warps)
    for (int y = thread % 32; y < Kind::strip_height * strips; y += 32)
      CUDAVISION_UNROLL
  for (int part = 0; part < Kind::sample_bytes; ++part)
    reference[to.norms() + part * to.pixels + to.pixel(x, y)] = static_cast<std::uint32_t>(
        norms[part * shape.norm_words() + (a.search_radius + x) * shape.norm_rows +
              a.search_radius + y]);
}

}  // namespace cudavision::nlmeans
