// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/core/frame.h"

namespace cudavision::test {

int defined_sample(const FrameLayout& layout, const ConstFrame& frame, const Channel& channel,
                   int x, int y);

void put_sample(const FrameLayout& layout, const Frame& frame, const Channel& channel, int x, int y,
                int value);

/// Copies every byte of every row. Without chroma_planes, skips planes that contain only chroma.
void copy_rows(const FrameLayout& layout, const ConstFrame& in, const Frame& out,
               bool chroma_planes = true);

struct DefinedLuminance {
  DefinedLuminance(const FrameLayout& layout, const ConstFrame& frame);

  std::uint32_t at(int x, int y) const { return values[static_cast<std::size_t>(y) * width + x]; }

  int width, height;
  std::vector<std::uint16_t> values;  ///< row-major
};

}  // namespace cudavision::test
