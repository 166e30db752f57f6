// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/planebytes.h"

#include <string>

#include "cuda/core/layoutcheck.h"

namespace cudavision::regions {
namespace {

constexpr int max_subsampling = 8;

void check_plane(const char* operation, const FrameLayout& layout, int plane) {
  const std::string of_plane = "the channels of plane " + std::to_string(plane) + " have ";
  const Channel* widest = nullptr;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != plane)
      continue;
    if (channel.step * layout.sample_bytes() > PlaneBytes::max_period)
      refuse(operation, "channel " + std::to_string(c) + " has a step of " +
                            std::to_string(channel.step) + " samples, which is more than 8 bytes");
    if (channel.subsampling_x > max_subsampling || channel.subsampling_y > max_subsampling)
      refuse(operation, "a sample of channel " + std::to_string(c) + " covers " +
                            std::to_string(channel.subsampling_x) + "×" +
                            std::to_string(channel.subsampling_y) +
                            " pixels; it may cover at most 8 along each axis");
    if (widest &&
        (channel.height != widest->height || channel.subsampling_y != widest->subsampling_y))
      refuse(operation, of_plane + "different heights or vertical subsampling");
    if (!widest || channel.step > widest->step)
      widest = &channel;
  }
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != plane)
      continue;
    if (widest->step % channel.step != 0 ||
        channel.subsampling_x * (widest->step / channel.step) != widest->subsampling_x)
      refuse(operation, of_plane + "steps of " + std::to_string(channel.step) + " and " +
                            std::to_string(widest->step) +
                            " samples; the larger must be a multiple of the smaller, and both "
                            "channels must cover equally many pixels per byte");
    if ((channel.width - 1) * channel.subsampling_x >= layout.width ||
        (channel.height - 1) * channel.subsampling_y >= layout.height)
      refuse(operation,
             "channel " + std::to_string(c) + " has samples that cover no pixel of the picture");
  }
}

}  // namespace

void check_plane_bytes(const char* operation, const FrameLayout& layout) {
  check_layout(operation, layout);
  for (int plane = 0; plane < layout.plane_count; ++plane)
    check_plane(operation, layout, plane);
}

PlaneBytes plane_bytes(const FrameLayout& layout, int number) {
  PlaneBytes plane;
  plane.rows = layout.planes[number].rows;
  plane.row_bytes = layout.planes[number].row_bytes;
  const int bytes = layout.sample_bytes();
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != number || channel.step * bytes < plane.period)
      continue;
    plane.period = channel.step * bytes;
    plane.period_pixels = channel.subsampling_x;
    plane.row_pixels = channel.subsampling_y;
    plane.sample_rows = channel.height;
  }
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.plane != number)
      continue;
    const int last = (channel.offset + channel.step * (channel.width - 1)) * bytes;
    for (int sample = 0; sample * channel.step * bytes < plane.period; ++sample)
      for (int b = 0; b < bytes; ++b) {
        const int at = (channel.offset + sample * channel.step) * bytes + b;
        plane.end[at] = last + bytes;
        plane.pixel[at] = static_cast<std::uint8_t>(sample * channel.subsampling_x);
        plane.pixels[at] = static_cast<std::uint8_t>(channel.subsampling_x);
        plane.channel[at] = static_cast<std::uint8_t>(c);
      }
  }
  return plane;
}

void copy_unused_rows(Device& device, const FrameLayout& layout, const ConstFrame& in,
                      const Frame& out) {
  std::array<int, FrameLayout::max_planes> used{};
  for (int c = 0; c < layout.channel_count; ++c)
    used[layout.channels[c].plane] = layout.channels[c].height;
  for (int p = 0; p < layout.plane_count; ++p) {
    const View<const std::uint8_t> from = in.planes[p];
    const View<std::uint8_t> to = out.planes[p];
    if (used[p] < from.height)
      device.copy({from.row(used[p]), from.width, from.height - used[p], from.pitch},
                  {to.row(used[p]), to.width, to.height - used[p], to.pitch});
  }
}

}  // namespace cudavision::regions
