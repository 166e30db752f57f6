// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/kernels/mosaic/mosaic_case.h"

namespace cudavision::bench {

/// A mosaic to measure, or a solid colour if block_size is 0.
struct MosaicSubject {
  const char* layout;
  int width, height;
  int block_size;

  std::string name() const {
    return block_size > 0 ? "mosaic " + std::to_string(block_size) : "solid colour";
  }

  test::MosaicCase make_case() const {
    const FrameLayout shape = test::layout_named(layout, width, height);
    return test::plain_mosaic_case(
        shape, block_size > 0 ? test::blocks_of(block_size) : test::solid_colour(shape.bits),
        test::Content::natural, 3);
  }
};

constexpr MosaicSubject mosaic_subjects[] = {
    {"GRAY8", 1920, 1080, 16}, {"GRAY8", 3840, 2160, 4},   {"GRAY8", 3840, 2160, 16},
    {"GRAY8", 3840, 2160, 24}, {"GRAY8", 3840, 2160, 256}, {"NV12", 1920, 1080, 16},
    {"NV12", 3840, 2160, 16},  {"P010", 3840, 2160, 16},   {"YUY2", 1920, 1080, 16},
    {"RGB", 1920, 1080, 16},   {"RGBA", 3840, 2160, 16},   {"RGBx", 1920, 1080, 16},
    {"NV12", 1920, 1080, 0},   {"NV12", 3840, 2160, 0},    {"RGBx", 1920, 1080, 0},
};

}  // namespace cudavision::bench
