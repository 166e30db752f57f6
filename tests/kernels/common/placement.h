// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cuda/core/frame.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {

/// The positions of planes in a block. Operations must not access bytes outside the planes.
struct Placement {
  struct Plane {
    std::size_t start = 0;  ///< the offset of row 0, in bytes
    std::ptrdiff_t pitch = 0;
  };
  std::array<Plane, FrameLayout::max_planes> planes{};
  std::size_t bytes = 0;
};

/// Draws a size of at most max_pixels pixels, sometimes very wide or high.
std::pair<int, int> random_picture_size(Random& random, int max_pixels);

/// Rows are dense, and each plane starts at a multiple of 256.
Placement dense_placement(const FrameLayout& layout);

/// Rows may have padding, any alignment and a negative pitch.
Placement random_placement(const FrameLayout& layout, Random& random);

template <class Byte>
BasicFrame<Byte> frame_in(const FrameLayout& layout, const Placement& placement, Byte* block) {
  BasicFrame<Byte> frame;
  for (int p = 0; p < layout.plane_count; ++p)
    frame.planes[p] = {block + placement.planes[p].start, layout.planes[p].row_bytes,
                       layout.planes[p].rows, placement.planes[p].pitch};
  return frame;
}

std::string describe(const FrameLayout& layout, const Placement& placement);

/// Describes the first differing byte, or returns an empty string.
std::string difference(const FrameLayout& layout, const Placement& placement,
                       const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual);

void add_rows(Hash& hash, const FrameLayout& layout, const Placement& placement,
              const std::vector<std::uint8_t>& block);

}  // namespace cudavision::test
