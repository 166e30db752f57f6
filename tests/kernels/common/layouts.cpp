// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/layouts.h"

#include <stdexcept>

namespace cudavision::test {
namespace {

int half(int samples) {
  return (samples + 1) / 2;
}

FrameLayout empty(int width, int height, int bits, int shift) {
  FrameLayout layout;
  layout.width = width;
  layout.height = height;
  layout.bits = bits;
  layout.shift = shift;
  return layout;
}

int add_plane(FrameLayout& layout, int row_samples, int rows) {
  layout.planes[layout.plane_count] = {row_samples * layout.sample_bytes(), rows};
  return layout.plane_count++;
}

/// Adds a channel. Chroma channels may have half the frame's width, height or both.
void add_channel(FrameLayout& layout, Role role, int plane, int offset, int step, int width,
                 int height, bool half_width = false, bool half_height = false) {
  layout.channels[layout.channel_count++] = {
      role, plane, offset, step, width, height, half_width ? 2 : 1, half_height ? 2 : 1};
}

FrameLayout planar_yuv(int width, int height, int bits, bool half_width, bool half_height) {
  FrameLayout layout = empty(width, height, bits, 0);
  add_channel(layout, Role::luma, add_plane(layout, width, height), 0, 1, width, height);
  const int chroma_width = half_width ? half(width) : width;
  const int chroma_height = half_height ? half(height) : height;
  for (int c = 0; c < 2; ++c)
    add_channel(layout, Role::chroma, add_plane(layout, chroma_width, chroma_height), 0, 1,
                chroma_width, chroma_height, half_width, half_height);
  return layout;
}

/// Luma has a plane of its own; the two chroma channels alternate in a second plane.
FrameLayout semiplanar_yuv(int width, int height, int bits, int shift) {
  FrameLayout layout = empty(width, height, bits, shift);
  add_channel(layout, Role::luma, add_plane(layout, width, height), 0, 1, width, height);
  const int plane = add_plane(layout, 2 * half(width), half(height));
  for (int c = 0; c < 2; ++c)
    add_channel(layout, Role::chroma, plane, c, 2, half(width), half(height), true, true);
  return layout;
}

/// Four bytes hold two pixels. If the width is odd, each row's last luma byte belongs to no pixel.
FrameLayout macropixel_yuv(int width, int height, int luma, int first_chroma, int second_chroma) {
  FrameLayout layout = empty(width, height, 8, 0);
  const int plane = add_plane(layout, 4 * half(width), height);
  add_channel(layout, Role::luma, plane, luma, 2, width, height);
  add_channel(layout, Role::chroma, plane, first_chroma, 4, half(width), height, true);
  add_channel(layout, Role::chroma, plane, second_chroma, 4, half(width), height, true);
  return layout;
}

/// `alpha` is the position of alpha in the pixel, or −1 if there is none.
FrameLayout packed_rgb(int width, int height, int step, int red, int green, int blue, int alpha) {
  FrameLayout layout = empty(width, height, 8, 0);
  const int plane = add_plane(layout, step * width, height);
  add_channel(layout, Role::red, plane, red, step, width, height);
  add_channel(layout, Role::green, plane, green, step, width, height);
  add_channel(layout, Role::blue, plane, blue, step, width, height);
  if (alpha >= 0)
    add_channel(layout, Role::alpha, plane, alpha, step, width, height);
  return layout;
}

FrameLayout planar_gbr(int width, int height, bool with_alpha) {
  FrameLayout layout = empty(width, height, 8, 0);
  for (const Role role : {Role::green, Role::blue, Role::red})
    add_channel(layout, role, add_plane(layout, width, height), 0, 1, width, height);
  if (with_alpha)
    add_channel(layout, Role::alpha, add_plane(layout, width, height), 0, 1, width, height);
  return layout;
}

/// The plane has bytes outside its channel; operations copy these bytes.
FrameLayout roomy_gray(int width, int height) {
  FrameLayout layout = gray_layout(width, height);
  layout.planes[0].row_bytes += 5;
  layout.planes[0].rows += height + 2;
  return layout;
}

/// Red and green are interleaved in one plane; blue has a plane of its own.
FrameLayout mixed_rgb(int width, int height) {
  FrameLayout layout = empty(width, height, 8, 0);
  const int pairs = add_plane(layout, 2 * width, height);
  const int single = add_plane(layout, width, height);
  add_channel(layout, Role::red, pairs, 1, 2, width, height);
  add_channel(layout, Role::green, pairs, 0, 2, width, height);
  add_channel(layout, Role::blue, single, 0, 1, width, height);
  return layout;
}

FrameLayout packed_luma(int width, int height) {
  FrameLayout layout = empty(width, height, 8, 0);
  const int plane = add_plane(layout, 4 * width, height);
  add_channel(layout, Role::alpha, plane, 0, 4, width, height);
  add_channel(layout, Role::luma, plane, 1, 4, width, height);
  add_channel(layout, Role::chroma, plane, 2, 4, width, height);
  add_channel(layout, Role::chroma, plane, 3, 4, width, height);
  return layout;
}

}  // namespace

FrameLayout gray_layout(int width, int height, int bits, int shift) {
  FrameLayout layout = empty(width, height, bits, shift);
  add_channel(layout, Role::luma, add_plane(layout, width, height), 0, 1, width, height);
  return layout;
}

const std::vector<LayoutKind>& layout_kinds() {
  static const std::vector<LayoutKind> kinds = {
      {"GRAY8", [](int w, int h) { return gray_layout(w, h); }},
      {"GRAY16", [](int w, int h) { return gray_layout(w, h, 16); }},
      {"I420", [](int w, int h) { return planar_yuv(w, h, 8, true, true); }},
      {"NV12", [](int w, int h) { return semiplanar_yuv(w, h, 8, 0); }},
      {"Y42B", [](int w, int h) { return planar_yuv(w, h, 8, true, false); }},
      {"Y444", [](int w, int h) { return planar_yuv(w, h, 8, false, false); }},
      {"YUY2", [](int w, int h) { return macropixel_yuv(w, h, 0, 1, 3); }},
      {"UYVY", [](int w, int h) { return macropixel_yuv(w, h, 1, 0, 2); }},
      {"P010", [](int w, int h) { return semiplanar_yuv(w, h, 10, 6); }},
      {"I420_10", [](int w, int h) { return planar_yuv(w, h, 10, true, true); }},
      {"RGB", [](int w, int h) { return packed_rgb(w, h, 3, 0, 1, 2, -1); }},
      {"BGR", [](int w, int h) { return packed_rgb(w, h, 3, 2, 1, 0, -1); }},
      {"RGBx", [](int w, int h) { return packed_rgb(w, h, 4, 0, 1, 2, -1); }},
      {"BGRx", [](int w, int h) { return packed_rgb(w, h, 4, 2, 1, 0, -1); }},
      {"xRGB", [](int w, int h) { return packed_rgb(w, h, 4, 1, 2, 3, -1); }},
      {"xBGR", [](int w, int h) { return packed_rgb(w, h, 4, 3, 2, 1, -1); }},
      {"RGBA", [](int w, int h) { return packed_rgb(w, h, 4, 0, 1, 2, 3); }},
      {"BGRA", [](int w, int h) { return packed_rgb(w, h, 4, 2, 1, 0, 3); }},
      {"ARGB", [](int w, int h) { return packed_rgb(w, h, 4, 1, 2, 3, 0); }},
      {"ABGR", [](int w, int h) { return packed_rgb(w, h, 4, 3, 2, 1, 0); }},
      {"GBR", [](int w, int h) { return planar_gbr(w, h, false); }},
      {"GBRA", [](int w, int h) { return planar_gbr(w, h, true); }},
      {"GRAY9", [](int w, int h) { return gray_layout(w, h, 9); }},
      {"GRAY12High", [](int w, int h) { return gray_layout(w, h, 12, 4); }},
      {"GRAY14Middle", [](int w, int h) { return gray_layout(w, h, 14, 1); }},
      {"GRAY8Roomy", roomy_gray},
      {"AYUV", packed_luma},
      {"RGBMixed", mixed_rgb},
  };
  return kinds;
}

FrameLayout layout_named(const std::string& name, int width, int height) {
  for (const LayoutKind& kind : layout_kinds())
    if (kind.name == name)
      return kind.make(width, height);
  throw std::invalid_argument("the tests have no layout named " + name);
}

}  // namespace cudavision::test
