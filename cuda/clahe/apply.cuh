// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Gives the pixels their levels. Several blocks work on a cell. A block has the tables of its cell
// in shared memory, as one quad of entries for each value, so that one load finds all four. Where
// that is impossible, because a quad for each value does not fit or because packs overlap more than
// two cells, each pixel reads its four entries from device memory.

#include "cuda/clahe/arguments.cuh"

namespace cudavision::clahe {
namespace {

/// The entries of one value in the tables of a cell, in 16 bits each: the upper tiles in x, the
/// lower ones in y, and of these the left one in the low half. Levels of 8 bits are stored as the
/// upper half of a binary32 number, which is exact for them and needs no conversion.
using Quad = uint2;

template <bool kWords>
__device__ std::uint32_t stored_pair(std::uint32_t left, std::uint32_t right) {
  if constexpr (kWords)
    return left | right << 16;
  else
    return __float_as_uint(static_cast<float>(left)) >> 16 |
           __float_as_uint(static_cast<float>(right));
}

template <bool kWords>
__device__ Levels levels_of(const Quad& quad) {
  if constexpr (kWords)
    return {static_cast<float>(quad.x & 0xffff), static_cast<float>(quad.x >> 16),
            static_cast<float>(quad.y & 0xffff), static_cast<float>(quad.y >> 16)};
  else
    return {__uint_as_float(quad.x << 16), __uint_as_float(quad.x & 0xffff0000u),
            __uint_as_float(quad.y << 16), __uint_as_float(quad.y & 0xffff0000u)};
}

/// The four tables of a cell in device memory.
struct CellTables {
  const std::uint16_t *upper_left, *upper_right, *lower_left, *lower_right;

  __device__ CellTables(const Arguments& a, int grid, int cell_x, int cell_y) {
    const int upper = a.tiling.y.tile_before(cell_y) * a.tiling.x.tiles;
    const int lower = a.tiling.y.tile_after(cell_y) * a.tiling.x.tiles;
    const int left = a.tiling.x.tile_before(cell_x);
    const int right = a.tiling.x.tile_after(cell_x);
    upper_left = a.table_of(grid, upper + left);
    upper_right = a.table_of(grid, upper + right);
    lower_left = a.table_of(grid, lower + left);
    lower_right = a.table_of(grid, lower + right);
  }
};

/// Equalises the pixels of a pack. level(grid, pixel, value) returns the level of a value at one of
/// its pixels.
template <class Pack, Action kAction, bool kBlend, class Level>
__device__ void equalise_pack(std::uint32_t* data, int existing, const Arguments& a,
                              const Level& level) {
  const auto blend = [&](int value, int equalised) {
    return kBlend ? histequalize::blended(value, equalised, a.blend) : equalised;
  };
#pragma unroll
  for (int i = 0; i < Pack::pixels; ++i) {
    // Bytes after a row's last pixel may still belong to the plane (the second half of a
    // macropixel), so they pass unchanged.
    if (i >= existing)
      break;
    if constexpr (kAction == Action::map) {
      const std::uint32_t value = Pack::value(data, i, a.picture);
      Pack::set(data, i,
                static_cast<std::uint32_t>(
                    blend(static_cast<int>(value), static_cast<int>(level(0, i, value)))),
                a.picture);
    } else {
      const std::uint32_t pixel = Pack::pixel(data, i);
      int difference = 0;
      if constexpr (kAction == Action::shift) {
        const std::uint32_t u = packed_luminance(pixel, a.picture);
        difference = static_cast<int>(level(0, i, u)) - static_cast<int>(u);
      }
      std::uint32_t changed = 0;
#pragma unroll
      for (int b = 0; b < Pack::bytes; ++b) {
        const std::uint32_t value = byte_of(pixel, b);
        const int equalised =
            kAction == Action::shift
                ? histequalize::clamp_level(static_cast<int>(value) + difference, 255)
                : static_cast<int>(level(a.picture.table_of[b], i, value));
        changed |= static_cast<std::uint32_t>(blend(static_cast<int>(value), equalised)) << (8 * b);
      }
      Pack::set(data, i, (pixel & a.picture.keep) | (changed & ~a.picture.keep));
    }
  }
}

/// The first pack that begins at or after a pixel. Packs that lie wholly after the picture's last
/// pixel belong to the cell of that pixel.
template <class Pack>
__device__ int first_pack_from(const Arguments& a, int pixel) {
  return pixel < a.tiling.x.size ? (pixel + Pack::pixels - 1) / Pack::pixels : a.picture.per_row;
}

/// A block equalises packs that begin in its cell. With kPlain, none of them reaches into the next
/// cell, and there is no blend.
template <class Pack, Action kAction, Rows kRows, bool kPlain>
__global__ void __launch_bounds__(kThreads, Pack::words > 4 ? 1 : 3)
    apply_kernel(const __grid_constant__ Arguments a) {
  extern __shared__ uint4 shared_words[];
  Quad* quads = reinterpret_cast<Quad*>(shared_words);  // by grid, cell and value
  constexpr int block_cells = kPlain ? 1 : 2;           // besides its own, the next one's

  const int part = blockIdx.x % a.applying_parts;
  const int chunk = blockIdx.x / a.applying_parts % a.chunks;
  const int cell = blockIdx.x / a.applying_parts / a.chunks;
  const int cell_x = cell % a.tiling.x.cells();
  const int cell_y = cell / a.tiling.x.cells();
  const int cell_end = a.tiling.x.cell_begin(cell_x + 1);
  const int first = first_pack_from<Pack>(a, a.tiling.x.cell_begin(cell_x)) + chunk * a.columns;
  const int columns = min(first_pack_from<Pack>(a, cell_end) - first, a.columns);
  const RowRange range(a.tiling.y.cell_begin(cell_y), a.tiling.y.cell_begin(cell_y + 1), part,
                       a.applying_parts);
  launch_dependents();
  grid_dependency_wait();
  if (columns <= 0 || range.begin >= range.end)
    return;

#pragma unroll
  for (int grid = 0; grid < grids_of<kAction>; ++grid)
#pragma unroll
    for (int c = 0; c < block_cells; ++c) {
      const CellTables tables(a, grid, min(cell_x + c, a.tiling.x.tiles), cell_y);
      Quad* to = quads + ((grid * block_cells + c) << a.bits);
      for (int value = threadIdx.x; value < a.bins(); value += kThreads)
        to[value] = make_uint2(
            stored_pair<is_words<Pack>>(tables.upper_left[value], tables.upper_right[value]),
            stored_pair<is_words<Pack>>(tables.lower_left[value], tables.lower_right[value]));
    }
  __syncthreads();

  const Spread spread(columns);
  if (spread.idle())
    return;
  PackCursor<kRows> at(a.picture, 0);
  at.x = first + spread.column;
  const int x = at.x * Pack::pixels;
  float right[Pack::pixels];
#pragma unroll
  for (int i = 0; i < Pack::pixels; ++i)
    right[i] = a.tiling.x.weight(x + i);
  const int own_pixels = cell_end - x;  // the others belong to the next cell
  const int existing = pixels_in<Pack, kRows>(a.picture, at);

  at.y = range.begin + spread.row;
  if (at.y >= range.end)
    return;
  std::uint32_t next[Pack::words];
  Pack::template load<kRows>(a.picture, at, next);
  for (int y = at.y; y < range.end; y += spread.rows) {
    std::uint32_t data[Pack::words];
#pragma unroll
    for (int w = 0; w < Pack::words; ++w)
      data[w] = next[w];
    at.y = y + spread.rows;
    if (at.y < range.end)
      Pack::template load<kRows>(a.picture, at, next);
    const float lower = a.tiling.y.weight(y);
    equalise_pack<Pack, kAction, !kPlain>(
        data, existing, a, [&](int grid, int pixel, std::uint32_t value) {
          const int c = kPlain || pixel < own_pixels ? 0 : 1;
          const Quad quad = quads[((grid * block_cells + c) << a.bits) + value];
          return interpolated(levels_of<is_words<Pack>>(quad), right[pixel], lower);
        });
    at.y = y;
    Pack::template store<kRows>(a.picture, at, data);
  }
}

/// Each thread equalises a pack.
template <class Pack, Action kAction>
__global__ void __launch_bounds__(kThreads)
    apply_directly_kernel(const __grid_constant__ Arguments a) {
  launch_dependents();
  grid_dependency_wait();
  const std::uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= a.picture.count)
    return;
  const PackCursor<Rows::ragged> at(a.picture, number);
  std::uint32_t data[Pack::words];
  Pack::template load<Rows::ragged>(a.picture, at, data);
  const int cell_y = a.tiling.y.cell_of(at.y);
  const float lower = a.tiling.y.weight(at.y);
  const int existing = pixels_in<Pack, Rows::ragged>(a.picture, at);
  equalise_pack<Pack, kAction, true>(
      data, existing, a, [&](int grid, int pixel, std::uint32_t value) {
        const int x = at.x * Pack::pixels + pixel;
        const CellTables tables(a, grid, a.tiling.x.cell_of(x), cell_y);
        const Levels levels = {static_cast<float>(__ldg(tables.upper_left + value)),
                               static_cast<float>(__ldg(tables.upper_right + value)),
                               static_cast<float>(__ldg(tables.lower_left + value)),
                               static_cast<float>(__ldg(tables.lower_right + value))};
        return interpolated(levels, a.tiling.x.weight(x), lower);
      });
  Pack::template store<Rows::ragged>(a.picture, at, data);
}

}  // namespace
}  // namespace cudavision::clahe
