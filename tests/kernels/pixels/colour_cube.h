// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {

/// All 256³ colours as a picture of 65536 rows of 256 pixels. Each row has one pair of red and
/// green, and blue rises within it. The same bytes also form a picture of 4096×4096 pixels.
struct ColourCube {
  explicit ColourCube(const std::string& name)
      : row_layout(layout_named(name, 256, 1)),
        layout(layout_named(name, 4096, 4096)),
        placement(dense_placement(layout)),
        block(placement.bytes, 0xa5) {
    for (int red = 0; red < 256; ++red)
      for (int green = 0; green < 256; ++green) {
        const Frame row = row_of(block.data(), red, green);
        for (int blue = 0; blue < 256; ++blue) {
          const int colour[3] = {red, green, blue};
          for (int c = 0; c < 3; ++c)
            put_sample(row_layout, row, channel_of(row_layout, rgb_roles[c]), blue, 0, colour[c]);
        }
      }
  }

  template <class Byte>
  BasicFrame<Byte> row_of(Byte* start, int red, int green) const {
    BasicFrame<Byte> row;
    for (int p = 0; p < row_layout.plane_count; ++p) {
      const int bytes = row_layout.planes[p].row_bytes;
      row.planes[p] = {
          start + placement.planes[p].start + std::ptrdiff_t{256 * red + green} * bytes, bytes, 1,
          bytes};
    }
    return row;
  }

  static int luminance(int red, int green, int blue) {
    return (299 * red + 587 * green + 114 * blue) / 1000;
  }

  FrameLayout row_layout, layout;
  Placement placement;
  std::vector<std::uint8_t> block;
};

}  // namespace cudavision::test
