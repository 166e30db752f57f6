// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formatfacts.h"

#include <gst/check/gstcheck.h>

#include <cstring>

namespace check {

const std::vector<FormatFacts>& formats() {
  static const PlaneFacts full = {1, 1, 1}, word = {1, 2, 1}, half = {2, 1, 1}, quarter = {2, 1, 2};
  static const std::vector<FormatFacts> table = {
      {"GRAY8", Family::gray, 8, 0, {{0, 0, 1}}, {full}},
      {"GRAY16_LE", Family::gray, 16, 0, {{0, 0, 2}}, {word}},
      {"I420", Family::yuv, 8, 0, {{0, 0, 1}}, {full, quarter, quarter}},
      {"YV12", Family::yuv, 8, 0, {{0, 0, 1}}, {full, quarter, quarter}},
      {"NV12", Family::yuv, 8, 0, {{0, 0, 1}}, {full, {2, 2, 2}}},
      {"NV21", Family::yuv, 8, 0, {{0, 0, 1}}, {full, {2, 2, 2}}},
      {"Y42B", Family::yuv, 8, 0, {{0, 0, 1}}, {full, half, half}},
      {"Y444", Family::yuv, 8, 0, {{0, 0, 1}}, {full, full, full}},
      {"YUY2", Family::yuv, 8, 0, {{0, 0, 2}}, {{2, 4, 1}}},
      {"UYVY", Family::yuv, 8, 0, {{0, 1, 2}}, {{2, 4, 1}}},
      {"P010_10LE", Family::yuv, 10, 6, {{0, 0, 2}}, {word, {2, 4, 2}}},
      {"I420_10LE", Family::yuv, 10, 0, {{0, 0, 2}}, {word, {2, 2, 2}, {2, 2, 2}}},
      {"RGB", Family::rgb, 8, 0, {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}, {{1, 3, 1}}},
      {"BGR", Family::rgb, 8, 0, {{0, 2, 3}, {0, 1, 3}, {0, 0, 3}}, {{1, 3, 1}}},
      {"RGBx", Family::rgb, 8, 0, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}}, {{1, 4, 1}}},
      {"BGRx", Family::rgb, 8, 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}}, {{1, 4, 1}}},
      {"xRGB", Family::rgb, 8, 0, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}}, {{1, 4, 1}}},
      {"xBGR", Family::rgb, 8, 0, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}}, {{1, 4, 1}}},
      {"RGBA", Family::rgb, 8, 0, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}}, {{1, 4, 1}}},
      {"BGRA", Family::rgb, 8, 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}}, {{1, 4, 1}}},
      {"ARGB", Family::rgb, 8, 0, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}}, {{1, 4, 1}}},
      {"ABGR", Family::rgb, 8, 0, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}}, {{1, 4, 1}}},
      {"GBR", Family::rgb, 8, 0, {{2, 0, 1}, {0, 0, 1}, {1, 0, 1}}, {full, full, full}},
  };
  return table;
}

const FormatFacts& format_named(const char* name) {
  const FormatFacts* found = nullptr;
  for (const FormatFacts& format : formats())
    if (std::strcmp(format.name, name) == 0)
      found = &format;
  fail_unless(found != nullptr, "no such format in the table: %s", name);
  return *found;
}

}  // namespace check
