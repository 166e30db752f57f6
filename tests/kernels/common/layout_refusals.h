// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include "tests/kernels/common/layouts.h"

namespace cudavision::test {

struct LayoutRefusal {
  const char* words;
  std::function<void(FrameLayout&)> spoil;  ///< makes a valid 8-bit layout of one channel invalid
};

inline std::vector<LayoutRefusal> common_layout_refusals() {
  constexpr int minimum = std::numeric_limits<int>::min();
  constexpr int maximum = std::numeric_limits<int>::max();
  return {
      {"width and height", [](FrameLayout& l) { l.width = 0; }},
      {"width and height", [](FrameLayout& l) { l.width = -1; }},
      {"width and height", [](FrameLayout& l) { l.height = 0; }},
      {"width and height", [](FrameLayout& l) { l.width = 65536; }},
      {"width and height", [](FrameLayout& l) { l.height = 65536; }},
      {"width and height", [](FrameLayout& l) { l.height = minimum; }},
      {"bits", [](FrameLayout& l) { l.bits = 7; }},
      {"bits", [](FrameLayout& l) { l.bits = 17; }},
      {"bits", [](FrameLayout& l) { l.bits = 0; }},
      {"shifted", [](FrameLayout& l) { l.shift = 1; }},
      {"shifted", [](FrameLayout& l) { l.shift = -1; }},
      {"shifted",
       [](FrameLayout& l) {
         l = layout_named("P010", l.width, l.height);
         l.shift = 7;
       }},
      {"planes", [](FrameLayout& l) { l.plane_count = 0; }},
      {"planes", [](FrameLayout& l) { l.plane_count = 5; }},
      {"channels", [](FrameLayout& l) { l.channel_count = 0; }},
      {"channels", [](FrameLayout& l) { l.channel_count = 5; }},
      {"outside", [](FrameLayout& l) { l.channels[0].plane = 1; }},
      {"outside", [](FrameLayout& l) { l.channels[0].plane = -1; }},
      {"outside", [](FrameLayout& l) { l.channels[0].step = 0; }},
      {"outside", [](FrameLayout& l) { l.channels[0].step = -1; }},
      {"outside", [](FrameLayout& l) { l.channels[0].offset = -1; }},
      {"outside", [](FrameLayout& l) { l.channels[0].offset = 1; }},
      {"samples, one for", [](FrameLayout& l) { l.channels[0].width = 0; }},
      {"samples, one for", [](FrameLayout& l) { l.channels[0].height = 0; }},
      {"samples, one for", [](FrameLayout& l) { l.channels[0].width += 1; }},
      {"samples, one for", [](FrameLayout& l) { l.channels[0].height += 1; }},
      {"samples, one for", [](FrameLayout& l) { l.channels[0].subsampling_x = 0; }},
      {"samples, one for", [](FrameLayout& l) { l.channels[0].subsampling_y = -1; }},
      {"too small", [](FrameLayout& l) { l.channels[0].step = 2; }},
      {"too small", [](FrameLayout& l) { l.channels[0].step = maximum; }},
      {"too small", [](FrameLayout& l) { l.planes[0].rows -= 1; }},
      {"too small", [](FrameLayout& l) { l.planes[0].row_bytes -= 1; }},
      {"too small", [](FrameLayout& l) { l.planes[0].row_bytes = -1; }},
  };
}

inline void add_refusal(std::vector<LayoutRefusal>& refusals, const char* layout, const char* words,
                        const std::function<void(FrameLayout&)>& spoil) {
  refusals.push_back({words, [=](FrameLayout& l) {
                        l = layout_named(layout, l.width, l.height);
                        spoil(l);
                      }});
}

inline std::vector<LayoutRefusal> luminance_layout_refusals() {
  std::vector<LayoutRefusal> refusals = common_layout_refusals();
  const LayoutRefusal own[] = {
      {"luma", [](FrameLayout& l) { l.channels[0].role = Role::chroma; }},
      {"luma", [](FrameLayout& l) { l.channels[0].role = Role::red; }},
      {"as large", [](FrameLayout& l) { l.channels[0].width -= 1; }},
      {"as large", [](FrameLayout& l) { l.channels[0].height -= 1; }},
      {"RGB",
       [](FrameLayout& l) {
         l = layout_named("GBR", l.width, l.height);
         l.bits = 10;
         for (PlaneShape& plane : l.planes)
           plane.row_bytes *= 2;
       }},
      {"red, green and blue",
       [](FrameLayout& l) {
         l = layout_named("RGB", l.width, l.height);
         l.channel_count = 2;
       }},
  };
  refusals.insert(refusals.end(), std::begin(own), std::end(own));
  return refusals;
}

}  // namespace cudavision::test
