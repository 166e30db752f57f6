// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/kernels/clahe/clahe_case.h"

namespace cudavision::bench {

/// An adaptive equalisation to measure, with a clip limit of 2. `required` is the time in µs that
/// the project requires on an NVIDIA H200 for a natural picture, or 0 if there is none. With
/// any_content, all other contents are measured as well and may take 1.3 times as long.
struct ClaheSubject {
  const char* layout;
  int width, height;
  clahe::Tiles tiles;
  double required;
  bool any_content;

  test::ClaheCase make_case(test::Content content) const {
    return test::plain_clahe_case(test::layout_named(layout, width, height), tiles, 2, content, 3);
  }
};

constexpr ClaheSubject clahe_subjects[] = {
    {"GRAY8", 640, 480, {8, 8}, 5, true},     {"GRAY8", 1920, 1080, {8, 8}, 7, true},
    {"GRAY8", 3840, 2160, {8, 8}, 13, true},  {"GRAY8", 7680, 4320, {8, 8}, 42, true},
    {"GRAY8", 3840, 2160, {1, 1}, 12, false}, {"GRAY8", 3840, 2160, {64, 64}, 24, false},
    {"GRAY16", 1920, 1080, {8, 8}, 40, true}, {"GRAY16", 3840, 2160, {8, 8}, 110, false},
    {"NV12", 1920, 1080, {8, 8}, 0, false},   {"NV12", 3840, 2160, {8, 8}, 0, false},
    {"P010", 3840, 2160, {8, 8}, 0, false},   {"RGBx", 3840, 2160, {8, 8}, 0, false},
};

inline std::string clahe_name(const ClaheSubject& subject) {
  return "clahe " + std::to_string(subject.tiles.columns) + "x" +
         std::to_string(subject.tiles.rows);
}

}  // namespace cudavision::bench
