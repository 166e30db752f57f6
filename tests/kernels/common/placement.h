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

/// The places of a frame's planes in a block of bytes. Between and around them are bytes that no
/// operation may touch.
struct Placement {
  struct Plane {
    std::size_t start = 0;  ///< of row 0
    std::ptrdiff_t pitch = 0;
  };
  std::array<Plane, FrameLayout::max_planes> planes{};
  std::size_t bytes = 0;
};

/// Width and height, log-uniform, with a product of at most max_pixels. Sometimes one of them is
/// very large, and the other small.
std::pair<int, int> random_picture_size(Random& random, int max_pixels);

/// Dense rows; each plane starts at a multiple of 256.
Placement dense_placement(const FrameLayout& layout);

/// Padded rows at any alignment; sometimes with the last row first, that is, with a negative pitch.
Placement random_placement(const FrameLayout& layout, Random& random);

/// The frame placed in the block that starts at block, on the host or on a device.
template <class Byte>
BasicFrame<Byte> frame_in(const FrameLayout& layout, const Placement& placement, Byte* block) {
  BasicFrame<Byte> frame;
  for (int p = 0; p < layout.plane_count; ++p)
    frame.planes[p] = {block + placement.planes[p].start, layout.planes[p].row_bytes,
                       layout.planes[p].rows, placement.planes[p].pitch};
  return frame;
}

std::string describe(const FrameLayout& layout, const Placement& placement);

/// Empty where two blocks are equal, else their first byte that differs.
std::string difference(const FrameLayout& layout, const Placement& placement,
                       const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual);

/// Adds the frame's rows to the hash, without the bytes around them.
void add_rows(Hash& hash, const FrameLayout& layout, const Placement& placement,
              const std::vector<std::uint8_t>& block);

}  // namespace cudavision::test
