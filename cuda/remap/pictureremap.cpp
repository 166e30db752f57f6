// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/pictureremap.h"

#include <algorithm>
#include <vector>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/remap/backend.h"

namespace cudavision::remap {
namespace {

constexpr char operation[] = "picture remapping";

void check_map(const Map& map, const Channel& channel) {
  if (!map.places || !map.fractions)
    refuse(operation, "there is no map for channels of ", text_of(channel.width, channel.height),
           " samples");
  if (map.fractions.width != channel.width || map.fractions.height != channel.height ||
      map.places.width != 2 * channel.width || map.places.height != channel.height)
    refuse(operation, "a map of ", text_of(map.fractions.width, map.fractions.height),
           " pixels for channels of ", text_of(channel.width, channel.height),
           " samples; they must have the same size");
}

void check(const FrameLayout& layout, const PictureMaps& maps, int black) {
  check_layout(operation, layout);
  if (layout.width > largest_picture || layout.height > largest_picture)
    refuse(operation, "a picture of ", text_of(layout.width, layout.height),
           " pixels; width and height must be 1 to ", largest_picture);
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    check_map(layout.is_full(channel) ? maps.full : maps.reduced, channel);
  }
  const int largest = (1 << layout.bits) - 1;
  if (black < 0 || black > largest)
    refuse(operation, "black is ", black, "; it must be 0 to ", largest);
}

bool has_padding(const FrameLayout& layout, int plane) {
  const PlaneShape& shape = layout.planes[plane];
  std::int64_t samples = 0;
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[c].plane == plane)
      samples += std::int64_t{layout.channels[c].width} * layout.channels[c].height;
  return samples * layout.sample_bytes() < std::int64_t{shape.row_bytes} * shape.rows;
}

bool has_whole_pixels(const FrameLayout& layout, const std::vector<ChannelGroup>& groups,
                      const ChannelGroup& group) {
  const PlaneShape& plane = layout.planes[group.plane];
  return plane.row_bytes == group.step * group.map->view().width * layout.sample_bytes() &&
         plane.rows == group.map->view().height &&
         std::all_of(groups.begin(), groups.end(), [&](const ChannelGroup& other) {
           return &other == &group || other.plane != group.plane;
         });
}

std::unique_ptr<const PackedMap> packed(Device& device, const FrameLayout& layout, const Map& map) {
  if (!map.fractions)
    return nullptr;
  return std::make_unique<PackedMap>(
      device, PlaneSize{map.fractions.width, map.fractions.height, layout.bits}, map);
}

}  // namespace

PictureRemap::PictureRemap(Device& device, const FrameLayout& layout, const PictureMaps& maps,
                           int black)
    : layout_(layout) {
  check(layout, maps, black);
  full_ = packed(device, layout, maps.full);
  reduced_ = packed(device, layout, maps.reduced);
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const PackedMap* const map = (layout.is_full(channel) ? full_ : reduced_).get();
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const ChannelGroup& other) {
      return other.plane == channel.plane && other.step == channel.step && other.map == map;
    });
    if (group == groups_.end()) {
      group = groups_.insert(group, ChannelGroup());
      group->map = map;
      group->plane = channel.plane;
      group->step = channel.step;
    }
    group->offset[group->count] = channel.offset;
    group->border[group->count++] = channel.role == Role::chroma  ? 1 << (layout.bits - 1)
                                    : channel.role == Role::alpha ? (1 << layout.bits) - 1
                                                                  : black;
  }
  for (ChannelGroup& group : groups_)
    group.whole_pixels = has_whole_pixels(layout, groups_, group);
  for (int p = 0; p < layout.plane_count; ++p)
    if (has_padding(layout, p))
      padded_planes_.push_back(p);
  backend_ = dispatch<make_remap_cuda, make_remap_cpu>(device);
}

PictureRemap::~PictureRemap() = default;

void PictureRemap::run(const ConstFrame& in, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  for (int p = 0; p < layout_.plane_count; ++p) {
    kernel_pitch(operation, in.planes[p].pitch);
    kernel_pitch(operation, out.planes[p].pitch);
  }
  const SampleCoding coding{layout_.bits, layout_.shift};
  GroupPlanes planes[FrameLayout::max_channels];
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const ChannelGroup& group = groups_[i];
    planes[i] = {&group, in.planes[group.plane], out.planes[group.plane]};
  }
  const std::span<const GroupPlanes> all(planes, groups_.size());
  const bool whole = backend_->writes_whole_pixels(coding, all);
  for (const int plane : padded_planes_) {
    const bool padding_is_set =
        whole && std::any_of(groups_.begin(), groups_.end(), [&](const ChannelGroup& group) {
          return group.plane == plane && group.whole_pixels;
        });
    if (!padding_is_set)
      backend_->fill(out.planes[plane]);
  }
  backend_->run(coding, coding.shift, all);
}

}  // namespace cudavision::remap
