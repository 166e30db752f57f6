// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/remap/pictureremap_case.h"

#include <cstring>

#include "tests/kernels/remap/remap_definition.h"

namespace cudavision::test {
namespace {

bool is_full(const FrameLayout& layout, const Channel& channel) {
  return channel.width == layout.width && channel.height == layout.height;
}

const Channel* reduced_channel(const FrameLayout& layout) {
  for (int c = 0; c < layout.channel_count; ++c)
    if (const Channel& channel = layout.channels[c]; !is_full(layout, channel))
      return &channel;
  return nullptr;
}

HostMap reduced_map(const FrameLayout& layout, const PictureMapParameters& parameters) {
  const Channel* const channel = reduced_channel(layout);
  return {{parameters.kind, parameters.seed + 1},
          channel ? channel->width : 1,
          channel ? channel->height : 1};
}

}  // namespace

HostPictureMaps::HostPictureMaps(const FrameLayout& layout, const PictureMapParameters& parameters)
    : full({parameters.kind, parameters.seed}, layout.width, layout.height),
      reduced(reduced_map(layout, parameters)),
      has_reduced(reduced_channel(layout) != nullptr) {}

remap::PictureMaps HostPictureMaps::view() const {
  return {full.view(), has_reduced ? reduced.view() : remap::Map{}};
}

const HostMap& HostPictureMaps::of(const FrameLayout& layout, const Channel& channel) const {
  return is_full(layout, channel) ? full : reduced;
}

void PictureRemapCase::define(const ConstFrame& from, const Frame& to) const {
  for (int p = 0; p < layout.plane_count; ++p) {
    const auto& plane = to.planes[p];
    for (int y = 0; y < plane.height; ++y)
      std::memset(plane.row(y), 255, static_cast<std::size_t>(plane.width));
  }
  const HostPictureMaps maps(layout, parameters);
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const std::int64_t border = channel.role == Role::chroma  ? 1 << layout.bits >> 1
                                : channel.role == Role::alpha ? (1 << layout.bits) - 1
                                                              : parameters.black;
    const auto at = [&](int x, int y) {
      const bool inside = x >= 0 && x < channel.width && y >= 0 && y < channel.height;
      return inside ? std::int64_t{defined_sample(layout, from, channel, x, y)} : border;
    };
    const remap::Map map = maps.of(layout, channel).view();
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x)
        put_sample(layout, to, channel, x, y,
                   static_cast<int>((defined_remap_sum(at, map, x, y) + 512) / 1024));
  }
}

PictureRemapCase make_picture_remap_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<PictureRemapCase>(number, max_pixels, random, 32767);
  test.parameters.kind = static_cast<MapKind>(random.between(0, map_kind_count - 1));
  test.parameters.seed = random.next();
  test.parameters.black = random.one_in(2) ? 0 : random.between(0, (1 << test.layout.bits) - 1);
  draw_placements(test, random);
  draw_content(test, random);
  return test;
}

std::string describe(const PictureRemapCase& test) {
  return describe(test, std::string("map ") + name(test.parameters.kind) + " with seed " +
                            std::to_string(test.parameters.seed) + ", black " +
                            std::to_string(test.parameters.black));
}

}  // namespace cudavision::test
