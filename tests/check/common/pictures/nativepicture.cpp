// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/nativepicture.h"

#include <algorithm>

namespace check {

using cudavision::FrameLayout;
using cudavision::Role;

namespace {

template <class Frame, class SomePicture>
Frame frame_in(SomePicture& picture) {
  Frame frame;
  for (std::size_t p = 0; p < picture.planes.size(); ++p)
    frame.planes[p] = {picture.planes[p].bytes.data(), picture.planes[p].row_bytes,
                       picture.planes[p].rows, picture.planes[p].row_bytes};
  return frame;
}

void add_channel(FrameLayout& layout, const Component& component, Role role) {
  const int bytes = layout.sample_bytes();
  const int width = (layout.width + component.pixels - 1) / component.pixels;
  const int height = (layout.height + component.lines - 1) / component.lines;
  layout.channels[layout.channel_count++] = {role,
                                             component.place.plane,
                                             component.place.offset / bytes,
                                             component.place.step / bytes,
                                             width,
                                             height,
                                             component.pixels,
                                             component.lines};
}

/// Equalises the luminance, and adds the change to red, green and blue.
Picture recolored(const Picture& picture, const Work& equalize) {
  const Picture before = luminance_picture(picture);
  Picture after = before;
  equalize(before, after);
  Picture out = picture;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const int change = after.sample(0, x, y) - before.sample(0, x, y);
      for (int c = 0; c < 3; ++c)
        out.set_sample(c, x, y,
                       std::clamp(picture.sample(c, x, y) + change, 0, picture.format->peak()));
    }
  return out;
}

}  // namespace

Picture native(const Picture& picture) {
  if (picture.format->is_native())
    return picture;
  const FormatSpec& format = native_format(*picture.format);
  Picture result =
      picture_with(format, picture.width, picture.height,
                   [&](int place, int x, int y) { return picture.sample(place, x, y); });
  for (std::size_t i = 0; i < format.others.size(); ++i) {
    const Place& place = picture.format->others[i].place;
    const int maximum = (1 << place.depth) - 1, peak = format.peak();
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x)
        result.set_sample_at(format.others[i].place, x, y,
                             (2 * picture.sample_at(place, x, y) * peak + maximum) / (2 * maximum));
  }
  return result;
}

FrameLayout layout_of(const Picture& picture) {
  const FormatSpec& format = *picture.format;
  FrameLayout layout;
  layout.width = picture.width;
  layout.height = picture.height;
  layout.bits = format.bits;
  layout.shift = format.shift;
  for (const Picture::Plane& plane : picture.planes)
    layout.planes[layout.plane_count++] = {plane.row_bytes, plane.rows};
  const bool rgb = format.family == Family::rgb;
  constexpr Role colors[] = {Role::red, Role::green, Role::blue};
  for (std::size_t i = 0; i < format.places.size(); ++i)
    add_channel(layout, {format.places[i]}, rgb ? colors[i] : Role::luma);
  for (std::size_t i = 0; i < format.others.size(); ++i)
    add_channel(layout, format.others[i], rgb || i == 2 ? Role::alpha : Role::chroma);
  return layout;
}

cudavision::ConstFrame frame_of(const Picture& picture) {
  return frame_in<cudavision::ConstFrame>(picture);
}

cudavision::Frame frame_of(Picture& picture) {
  return frame_in<cudavision::Frame>(picture);
}

Picture in_native_format(const Picture& picture, const Work& work) {
  const Picture in = native(picture);
  Picture out = in;
  work(in, out);
  if (picture.format->is_native())
    return out;
  Picture result = picture;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      for (int place = 0; place < static_cast<int>(picture.format->places.size()); ++place)
        result.set_sample(place, x, y, out.sample(place, x, y));
      for (std::size_t i = 0; i < picture.format->others.size(); ++i) {
        const Place& place = picture.format->others[i].place;
        const int maximum = (1 << place.depth) - 1, peak = picture.format->peak();
        const int sample = out.sample_at(out.format->others[i].place, x, y);
        result.set_sample_at(place, x, y, (2 * sample * maximum + peak) / (2 * peak));
      }
    }
  return result;
}

Picture in_equalizable_format(const Picture& picture, const Work& equalize) {
  return picture.format->family == Family::rgb && picture.format->bits > 8
             ? recolored(picture, equalize)
             : in_native_format(picture, equalize);
}

}  // namespace check
