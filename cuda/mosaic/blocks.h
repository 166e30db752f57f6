// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The grid of blocks, for both backends. Everything here is for the frame or for one of its fields.

#include <cstdint>
#include <numeric>

#include "cuda/core/frame.h"
#include "cuda/mosaic/mosaic.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::mosaic {

/// A sample that begins in a block may cover so many pixels of the next one along each axis, if the
/// block size is no multiple of the pixels per sample.
constexpr int max_overhang = 3;

/// Returns the number of the first sample, along an axis with `pixels` pixels per sample, that
/// belongs to block `block` or a later one. There may be only `count` samples.
CUDAVISION_HOST_DEVICE inline int first_sample(int block, int block_size, int pixels, int count) {
  const int first = (block * block_size + pixels - 1) / pixels;
  return first < count ? first : count;
}

/// Returns the mean of `count` ≥ 1 samples, up to 256·256. The sum of as many words of 16 bits, and
/// half their number, are below 2^32.
CUDAVISION_HOST_DEVICE inline std::uint32_t mean_of(std::uint32_t sum, std::uint32_t count) {
  return (sum + count / 2) / count;
}

/// Returns the number of blocks along an axis that have samples among the first `count`.
inline int block_count(int block_size, int pixels, int count) {
  return count == 0 ? 0 : (count - 1) * pixels / block_size + 1;
}

inline int field_count(const Parameters& parameters) {
  return parameters.fields ? 2 : 1;
}

/// Returns how many of `rows` rows belong to a field. The second field of a single row is empty.
inline int field_rows(const Parameters& parameters, int rows, int field) {
  return parameters.fields ? (rows + 1 - field) / 2 : rows;
}

/// Returns the rows of a plane from the first of a field on, without those of the other one. The
/// field has `rows` of them.
template <class Byte>
View<Byte> field_view(const Parameters& parameters, View<Byte> plane, int field, int rows) {
  return {rows > 0 ? plane.row(field) : plane.data, plane.width, rows,
          plane.pitch * field_count(parameters)};
}

/// Returns the smallest number of blocks that end where a period of the plane does. Groups of as
/// many share no bytes with each other.
inline int separable_blocks(const regions::PlaneBytes& plane, int block_size) {
  return plane.period_pixels / std::gcd(plane.period_pixels, block_size);
}

/// Returns the place in a row of the first byte of a block whose number is a multiple of that.
CUDAVISION_HOST_DEVICE inline int first_byte(const regions::PlaneBytes& plane, int block,
                                             int block_size) {
  return block * block_size / plane.period_pixels * plane.period;
}

}  // namespace cudavision::mosaic
