// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/formats.h"

#include <cstring>

#include "tests/check/common/gstcheck.h"

namespace check {

const std::vector<FormatSpec>& formats() {
  static const PlaneSpec full = {1, 1, 1}, word = {1, 2, 1}, half = {2, 1, 1}, quarter = {2, 1, 2};
  // Chroma (U and V, in separate planes or interleaved) and alpha.
  using Others = std::vector<Component>;
  static const Others uv_420 = {{{1, 0, 1}, 2, 2}, {{2, 0, 1}, 2, 2}};
  static const Others vu_420 = {{{2, 0, 1}, 2, 2}, {{1, 0, 1}, 2, 2}};
  static const Others uv_pairs_420 = {{{1, 0, 2}, 2, 2}, {{1, 1, 2}, 2, 2}};
  static const Others vu_pairs_420 = {{{1, 1, 2}, 2, 2}, {{1, 0, 2}, 2, 2}};
  static const Others uv_422 = {{{1, 0, 1}, 2, 1}, {{2, 0, 1}, 2, 1}};
  static const Others uv_444 = {{{1, 0, 1}, 1, 1}, {{2, 0, 1}, 1, 1}};
  static const Others yuyv = {{{0, 1, 4}, 2, 1}, {{0, 3, 4}, 2, 1}};
  static const Others uyvy = {{{0, 0, 4}, 2, 1}, {{0, 2, 4}, 2, 1}};
  static const Others word_uv_pairs_420 = {{{1, 0, 4}, 2, 2}, {{1, 2, 4}, 2, 2}};
  static const Others word_uv_420 = {{{1, 0, 2}, 2, 2}, {{2, 0, 2}, 2, 2}};
  static const Others word_uv_422 = {{{1, 0, 2}, 2, 1}, {{2, 0, 2}, 2, 1}};
  static const Others word_uv_444 = {{{1, 0, 2}, 1, 1}, {{2, 0, 2}, 1, 1}};
  static const Others uv_and_alpha = {{{0, 1, 4}, 1, 1}, {{0, 0, 4}, 1, 1}, {{0, 3, 4}, 1, 1}};
  static const PlaneSpec half_word = {2, 2, 1}, quarter_word = {2, 2, 2};
  static const std::vector<Place> word_gbr = {{2, 0, 2}, {0, 0, 2}, {1, 0, 2}};
  static const Others alpha_first = {{{0, 0, 4}}}, alpha_last = {{{0, 3, 4}}};
  static const Others word_alpha_first = {{{0, 0, 8}}}, word_alpha_last = {{{0, 6, 8}}};
  static const std::vector<PlaneSpec> rgba64 = {{1, 8, 1}};
  static const Place low_10 = {0, 0, 4, 0, 10}, middle_10 = {0, 0, 4, 10, 10},
                     high_10 = {0, 0, 4, 20, 10};
  static const Others two_bits = {{{0, 0, 4, 30, 2}}};
  static const std::vector<FormatSpec> table = {
    {"GRAY8", Family::gray, 8, 0, {{0, 0, 1}}, {full}},
    {"GRAY16_LE", Family::gray, 16, 0, {{0, 0, 2}}, {word}},
    {"I420", Family::yuv, 8, 0, {{0, 0, 1}}, {full, quarter, quarter}, uv_420},
    {"YV12", Family::yuv, 8, 0, {{0, 0, 1}}, {full, quarter, quarter}, vu_420},
    {"NV12", Family::yuv, 8, 0, {{0, 0, 1}}, {full, {2, 2, 2}}, uv_pairs_420},
    {"NV21", Family::yuv, 8, 0, {{0, 0, 1}}, {full, {2, 2, 2}}, vu_pairs_420},
    {"Y42B", Family::yuv, 8, 0, {{0, 0, 1}}, {full, half, half}, uv_422},
    {"Y444", Family::yuv, 8, 0, {{0, 0, 1}}, {full, full, full}, uv_444},
    {"YUY2", Family::yuv, 8, 0, {{0, 0, 2}}, {{2, 4, 1}}, yuyv},
    {"UYVY", Family::yuv, 8, 0, {{0, 1, 2}}, {{2, 4, 1}}, uyvy},
    {"P010_10LE", Family::yuv, 10, 6, {{0, 0, 2}}, {word, {2, 4, 2}}, word_uv_pairs_420},
    {"I420_10LE", Family::yuv, 10, 0, {{0, 0, 2}}, {word, {2, 2, 2}, {2, 2, 2}}, word_uv_420},
    {"RGB", Family::rgb, 8, 0, {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}, {{1, 3, 1}}},
    {"BGR", Family::rgb, 8, 0, {{0, 2, 3}, {0, 1, 3}, {0, 0, 3}}, {{1, 3, 1}}},
    {"RGBx", Family::rgb, 8, 0, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}}, {{1, 4, 1}}},
    {"BGRx", Family::rgb, 8, 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}}, {{1, 4, 1}}},
    {"xRGB", Family::rgb, 8, 0, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}}, {{1, 4, 1}}},
    {"xBGR", Family::rgb, 8, 0, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}}, {{1, 4, 1}}},
    {"RGBA", Family::rgb, 8, 0, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}}, {{1, 4, 1}}, alpha_last},
    {"BGRA", Family::rgb, 8, 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}}, {{1, 4, 1}}, alpha_last},
    {"ARGB", Family::rgb, 8, 0, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}}, {{1, 4, 1}}, alpha_first},
    {"ABGR", Family::rgb, 8, 0, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}}, {{1, 4, 1}}, alpha_first},
    {"GBR", Family::rgb, 8, 0, {{2, 0, 1}, {0, 0, 1}, {1, 0, 1}}, {full, full, full}},
    {"GRAY16_BE", Family::gray, 16, 0, {{0, 0, 2}}, {word}, {}, true},
    {"P012_LE", Family::yuv, 12, 4, {{0, 0, 2}}, {word, {2, 4, 2}}, word_uv_pairs_420},
    {"P016_LE", Family::yuv, 16, 0, {{0, 0, 2}}, {word, {2, 4, 2}}, word_uv_pairs_420},
    {"I420_12LE", Family::yuv, 12, 0, {{0, 0, 2}}, {word, quarter_word, quarter_word}, word_uv_420},
    {"I422_10LE", Family::yuv, 10, 0, {{0, 0, 2}}, {word, half_word, half_word}, word_uv_422},
    {"I422_12LE", Family::yuv, 12, 0, {{0, 0, 2}}, {word, half_word, half_word}, word_uv_422},
    {"Y444_10LE", Family::yuv, 10, 0, {{0, 0, 2}}, {word, word, word}, word_uv_444},
    {"Y444_12LE", Family::yuv, 12, 0, {{0, 0, 2}}, {word, word, word}, word_uv_444},
    {"Y444_16LE", Family::yuv, 16, 0, {{0, 0, 2}}, {word, word, word}, word_uv_444},
    {"VUYA", Family::yuv, 8, 0, {{0, 2, 4}}, {{1, 4, 1}}, uv_and_alpha},
    {"RGBP", Family::rgb, 8, 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, {full, full, full}},
    {"BGRP", Family::rgb, 8, 0, {{2, 0, 1}, {1, 0, 1}, {0, 0, 1}}, {full, full, full}},
    {"GBR_10LE", Family::rgb, 10, 0, word_gbr, {word, word, word}},
    {"GBR_12LE", Family::rgb, 12, 0, word_gbr, {word, word, word}},
#if GST_CHECK_VERSION(1, 24, 0)
    {"GBR_16LE", Family::rgb, 16, 0, word_gbr, {word, word, word}},
#endif
    {"ARGB64_LE", Family::rgb, 16, 0, {{0, 2, 8}, {0, 4, 8}, {0, 6, 8}}, rgba64, word_alpha_first},
    {"RGBA64_LE", Family::rgb, 16, 0, {{0, 0, 8}, {0, 2, 8}, {0, 4, 8}}, rgba64, word_alpha_last},
    {"RGB10A2_LE", Family::rgb, 10, 0, {low_10, middle_10, high_10}, {{1, 4, 1}}, two_bits},
    {"BGR10A2_LE", Family::rgb, 10, 0, {high_10, middle_10, low_10}, {{1, 4, 1}}, two_bits},
  };
  return table;
}

const FormatSpec& native_format(const FormatSpec& format) {
  static const PlaneSpec word = {1, 2, 1};
  static const FormatSpec planes = {
      "planes of words",        Family::rgb,  10, 0, {{0, 0, 2}, {1, 0, 2}, {2, 0, 2}},
      {word, word, word, word}, {{{3, 0, 2}}}};
  return format.is_packed() ? planes : format_named("GRAY16_LE");
}

const FormatSpec& format_named(const char* name) {
  const FormatSpec* found = nullptr;
  for (const FormatSpec& format : formats())
    if (std::strcmp(format.name, name) == 0)
      found = &format;
  fail_unless(found != nullptr, "the table has no format %s", name);
  return *found;
}

}  // namespace check
