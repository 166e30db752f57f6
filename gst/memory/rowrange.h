// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "cuda/core/frame.h"

namespace cudavision {

/// Bytes of host memory, from begin up to end.
struct ByteRange {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;

  bool empty() const noexcept { return begin == end; }
};

/// Rows of a plane, from begin up to end.
struct RowRange {
  int begin = 0;
  int end = 0;
};

using RowsPerPlane = std::array<RowRange, FrameLayout::max_planes>;

/// Returns the rows of a plane that lie in the bytes as a whole. The pitch may be negative.
inline RowRange rows_within(const ByteRange& bytes, View<const std::uint8_t> plane) {
  if (bytes.empty())
    return {};
  const auto lies_within = [&](int y) {
    return plane.row(y) >= bytes.begin && plane.row(y) + plane.width <= bytes.end;
  };
  RowRange rows{0, plane.height};
  while (rows.begin < rows.end && !lies_within(rows.begin))
    ++rows.begin;
  while (rows.begin < rows.end && !lies_within(rows.end - 1))
    --rows.end;
  return rows;
}

}  // namespace cudavision
