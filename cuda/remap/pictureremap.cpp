// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/pictureremap.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/remap/pictureremap_backend.h"

namespace cudavision::remap {
namespace {

constexpr char operation[] = "remap of pictures";
constexpr int largest_picture = 32767;

std::string text(int width, int height) {
  return std::to_string(width) + "×" + std::to_string(height);
}

bool is_full(const FrameLayout& layout, const Channel& channel) {
  return channel.width == layout.width && channel.height == layout.height;
}

void check_map(const Map& map, const Channel& channel) {
  if (!map.places || !map.fractions)
    refuse(operation,
           "there is no map for channels of " + text(channel.width, channel.height) + " samples");
  if (map.fractions.width != channel.width || map.fractions.height != channel.height ||
      map.places.width != 2 * channel.width || map.places.height != channel.height)
    refuse(operation, "a map of " + text(map.fractions.width, map.fractions.height) +
                          " pixels for channels of " + text(channel.width, channel.height) +
                          " samples; they must have the same size");
}

void check(const FrameLayout& layout, const PictureMaps& maps, int black) {
  check_layout(operation, layout);
  if (layout.width > largest_picture || layout.height > largest_picture)
    refuse(operation, "a picture of " + text(layout.width, layout.height) +
                          " pixels; width and height must be 1 to " +
                          std::to_string(largest_picture));
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    check_map(is_full(layout, channel) ? maps.full : maps.reduced, channel);
  }
  const int largest = (1 << layout.bits) - 1;
  if (black < 0 || black > largest)
    refuse(operation,
           "black is " + std::to_string(black) + "; it must be 0 to " + std::to_string(largest));
}

int border_of(Role role, int bits, int black) {
  switch (role) {
    case Role::chroma:
      return 1 << (bits - 1);
    case Role::alpha:
      return (1 << bits) - 1;
    default:
      return black;
  }
}

/// Returns true if the plane has samples that belong to no channel.
bool has_padding(const FrameLayout& layout, int plane) {
  const PlaneShape& shape = layout.planes[plane];
  std::int64_t samples = 0;
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[c].plane == plane)
      samples += std::int64_t{layout.channels[c].width} * layout.channels[c].height;
  return samples * layout.sample_bytes() < std::int64_t{shape.row_bytes} * shape.rows;
}

std::unique_ptr<const PackedMap> packed(Device& device, const FrameLayout& layout, const Map& map) {
  if (!map.fractions)
    return nullptr;
  return std::make_unique<PackedMap>(
      device, PlaneSize{map.fractions.width, map.fractions.height, layout.bits}, map);
}

}  // namespace

/// The channels that one launch resamples.
struct PictureRemap::Launch {
  ChannelGroup channels;
  const PackedMap* map;
};

PictureRemap::PictureRemap(Device& device, const FrameLayout& layout, const PictureMaps& maps,
                           int black)
    : layout_(layout) {
  check(layout, maps, black);
  full_ = packed(device, layout, maps.full);
  reduced_ = packed(device, layout, maps.reduced);
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const PackedMap* const map = (is_full(layout, channel) ? full_ : reduced_).get();
    auto launch = std::find_if(launches_.begin(), launches_.end(), [&](const Launch& other) {
      return other.channels.plane == channel.plane && other.channels.step == channel.step &&
             other.map == map;
    });
    if (launch == launches_.end()) {
      launch = launches_.insert(launch, {{}, map});
      launch->channels.plane = channel.plane;
      launch->channels.step = channel.step;
    }
    ChannelGroup& channels = launch->channels;
    channels.offset[channels.count] = channel.offset;
    channels.border[channels.count++] = border_of(channel.role, layout.bits, black);
  }
  for (int p = 0; p < layout.plane_count; ++p)
    if (has_padding(layout, p))
      padded_planes_.push_back(p);
  backend_ = dispatch<make_picture_remap_cuda, make_picture_remap_cpu>(
      device, SampleCoding{layout.bits, layout.shift});
}

PictureRemap::~PictureRemap() = default;

void PictureRemap::run(const ConstFrame& in, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  for (int p = 0; p < layout_.plane_count; ++p) {
    kernel_pitch(operation, in.planes[p].pitch);
    kernel_pitch(operation, out.planes[p].pitch);
  }
  for (const int plane : padded_planes_)
    backend_->fill(out.planes[plane]);
  for (const Launch& launch : launches_) {
    const int plane = launch.channels.plane;
    backend_->run(launch.channels, *launch.map, in.planes[plane], out.planes[plane]);
  }
}

}  // namespace cudavision::remap
