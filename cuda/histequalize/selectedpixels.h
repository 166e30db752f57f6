// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Selects the pixels of regions, which are those of a weight above 0. This is for the CUDA kernel,
// but compiles for the host, too, where the tests compare it with the definition.

#include <cstdint>

#include "cuda/regions/activecells.h"
#include "cuda/regions/regions.h"

namespace cudavision::histequalize {

struct PixelSelection {
  const regions::Region* regions = nullptr;
  int region_count = 0;
  regions::Shape shape = regions::Shape::rectangle;
  int feather = 0;
  bool invert = false;
  bool everywhere = true;  ///< else no pixel is selected outside the active cells
  regions::ActiveCells active;
};

/// Returns a bit for each of the `pixels` pixels of row y from `left` on, at most 31: 1 if the
/// region alone decides about the pixel. That is where it has a weight above 0 or, inverted, where
/// it has the full weight.
CUDAVISION_HOST_DEVICE inline std::uint32_t decided_pixels(const PixelSelection& selection,
                                                           const regions::Region& region, int left,
                                                           int pixels, int y) {
  const int minimum = selection.invert ? regions::full_weight : 1;
  const regions::Box& box = region.box;
  std::uint32_t decided = 0;
  if (selection.shape == regions::Shape::rectangle) {
    if (regions::rectangle_weight(box.y0, box.y1, selection.feather, y) < minimum)
      return 0;
    CUDAVISION_NO_UNROLL
    for (int i = 0; i < pixels; ++i)
      if (regions::rectangle_weight(box.x0, box.x1, selection.feather, left + i) >= minimum)
        decided |= 1u << i;
  } else {
    const regions::EllipseOffset of_row =
        regions::ellipse_offset(box.y0, box.y1, region.scale_y, selection.feather, y);
    CUDAVISION_NO_UNROLL
    for (int i = 0; i < pixels; ++i)
      if (regions::ellipse_weight(
              regions::ellipse_offset(box.x0, box.x1, region.scale_x, selection.feather, left + i),
              of_row, selection.feather) >= minimum)
        decided |= 1u << i;
  }
  return decided;
}

/// Returns a bit for each of the `pixels` pixels of row y from `left` on, at most 31: 1 if it is
/// selected. near holds the numbers of all regions that reach these pixels, and perhaps more.
CUDAVISION_HOST_DEVICE inline std::uint32_t selected_pixels(const PixelSelection& selection,
                                                            const std::uint16_t* near,
                                                            int near_count, int left, int pixels,
                                                            int y) {
  const std::uint32_t all = (1u << pixels) - 1;
  std::uint32_t decided = 0;
  CUDAVISION_NO_UNROLL
  for (int i = 0; i < near_count && decided != all; ++i) {
    const regions::Region region = selection.regions[near[i]];
    if (overlap(grown(region.box, selection.feather), {left, y, left + pixels, y + 1}))
      decided |= decided_pixels(selection, region, left, pixels, y);
  }
  return selection.invert ? decided ^ all : decided;
}

}  // namespace cudavision::histequalize
