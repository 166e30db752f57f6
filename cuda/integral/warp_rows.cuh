// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Loads a few rows of a tile into the registers of a warp and sums each row.

#include <cuda_runtime.h>

#include "cuda/integral/quad.h"
#include "cuda/pixels/luminance.h"

namespace cudavision::integral {

struct InputArguments {
  const std::uint8_t* data;
  std::int64_t pitch;
  int width, height;
  int shift;              // unused low bits of 16-bit samples
  std::uint32_t largest;  // maximum value of 16-bit samples
  bool aligned;           // whole quads can be loaded from the start of each row
};

/// Sets all members except width and height, which must be set before.
inline void set_input(const SamplePlane& plane, InputArguments& in) {
  in.data = plane.rows.data;
  in.pitch = plane.rows.pitch;
  in.shift = plane.shift;
  in.largest = (1u << plane.bits) - 1;
  const auto addresses = reinterpret_cast<std::uintptr_t>(plane.rows.data) |
                         static_cast<std::uintptr_t>(in.height > 1 ? plane.rows.pitch : 0);
  in.aligned = addresses % sizeof(std::uint32_t) == 0;
}

namespace {

/// Returns pixels x to x + 3 of row y. Pixels outside the picture are 0.
template <class Quad, class Value>
__device__ Quad load_quad_at_edge(const InputArguments& in, int x, int y) {
  Quad quad{};
  if (y >= in.height)
    return quad;
  const std::uint8_t* from = in.data + in.pitch * y + sizeof(Value) * x;
#pragma unroll
  for (int i = 0; i < quad_pixels; ++i) {
    if (x + i >= in.width)
      break;
    std::uint32_t stored = from[sizeof(Value) * i];
    if constexpr (sizeof(Value) == 2)
      stored |= static_cast<std::uint32_t>(from[2 * i + 1]) << 8;
    quad.set(i, stored, in.shift, in.largest);
  }
  return quad;
}

template <class Quad, class Value>
__device__ Quad load_quad(const InputArguments& in, const std::uint8_t* from) {
  std::uint32_t words[2];
  words[0] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  if constexpr (sizeof(Value) == 2)
    words[1] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + 1);
  return Quad::of_words(words, in.shift, in.largest);
}

template <class Number>
struct alignas(16) FourOf {
  Number numbers[quad_pixels];
};

/// One value per column of a tile, in shared memory. Lane l of a warp owns kQuads quads, starting
/// at column 4·kQuads·l. The first quads of all lanes are adjacent, to avoid bank conflicts.
template <class Number, int kQuads>
class TileLine {
 public:
  __device__ FourOf<Number>& quad(int lane, int q) { return quads_[q * quads_apart + lane]; }
  __device__ Number& column(int i) {
    return quad(i / quad_pixels / kQuads, i / quad_pixels % kQuads).numbers[i % quad_pixels];
  }
  /// Distance from column(i) to column(i + 32), in elements of Number.
  static constexpr int step_of_32_columns = 32 / kQuads;

 private:
  static constexpr int quads_apart = 32 + (kQuads > 1 ? 16 / static_cast<int>(sizeof(Number)) : 0);
  FourOf<Number> quads_[(kQuads - 1) * quads_apart + 32];
};

/// The rows of a warp in a tile. Each lane holds kQuads quads of every row.
template <class Value, bool kSquared, int kRows, int kQuads>
class WarpRows {
 public:
  using Pixels = Quad<Value, kSquared>;
  using Sum = typename Pixels::Sum;
  static constexpr int columns = 32 * kQuads * quad_pixels;

  __device__ void load(const InputArguments& in, int x, int y, int lane) {
    const int lane_x = x + lane * kQuads * quad_pixels;
    if (in.aligned && x + columns <= in.width && y + kRows <= in.height) {
      const std::uint8_t* from = in.data + in.pitch * y + sizeof(Value) * lane_x;
#pragma unroll
      for (int r = 0; r < kRows; ++r, from += in.pitch)
#pragma unroll
        for (int q = 0; q < kQuads; ++q)
          pixels_[r][q] = load_quad<Pixels, Value>(in, from + sizeof(Value) * quad_pixels * q);
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int q = 0; q < kQuads; ++q)
          pixels_[r][q] = load_quad_at_edge<Pixels, Value>(in, lane_x + quad_pixels * q, y + r);
    }
  }

  /// Sums each row. The last lane calls publish(r, sum) with the sum of each row.
  template <class Publish>
  __device__ void add_up(int lane, const Publish& publish) {
    Sum own[words], upto[words];  // sums of this lane, and of all lanes up to this one
#pragma unroll
    for (int w = 0; w < words; ++w) {
      own[w] = sum_of(w * rows_per_word);
      if constexpr (rows_per_word == 2)
        own[w] |= sum_of(w * rows_per_word + 1) << 16;
      upto[w] = own[w];
    }
    // All rows take each step together, so that their shuffles overlap.
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Sum mask = lane >= distance ? ~Sum{0} : Sum{0};
#pragma unroll
      for (int w = 0; w < words; ++w)
        upto[w] += __shfl_up_sync(~0u, upto[w], distance) & mask;
    }
#pragma unroll
    for (int w = 0; w < words; ++w)
      before_[w] = upto[w] - own[w];
    if (lane == 31) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        publish(r, part(upto[r / rows_per_word], r % rows_per_word));
    }
  }

  /// Calls add(q, i, sum) for pixel i of quad q of the lane in row r. sum covers the pixels of the
  /// row from the tile's first column up to and including this pixel.
  template <class Add>
  __device__ void for_each(int r, const Add& add) const {
    Sum before = part(before_[r / rows_per_word], r % rows_per_word);
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      Sum sum = 0;
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        add(q, i, sum = pixels_[r][q].sum_to(i, before));
      before = sum;
    }
  }

 private:
  // The sum of 256 bytes is below 2^16, so one word carries the sums of two rows through the scan.
  static constexpr int rows_per_word = sizeof(Value) == 1 && !kSquared ? 2 : 1;
  static_assert(kRows % rows_per_word == 0 && columns * 255 < 1 << 16);
  static constexpr int words = kRows / rows_per_word;

  __device__ Sum sum_of(int r) const {
    Sum sum = 0;
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
      sum = pixels_[r][q].sum_to(quad_pixels - 1, sum);
    return sum;
  }
  __device__ static Sum part(Sum word, int i) {
    return rows_per_word == 1 ? word : word >> (16 * i) & 0xffff;
  }

  Pixels pixels_[kRows][kQuads];
  Sum before_[words];  // sums of the previous lanes
};

}  // namespace
}  // namespace cudavision::integral
