// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/pictureremap.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

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

/// A group and the size of its channels.
struct SizedGroup {
  ChannelGroup channels;
  bool full;
};

std::vector<SizedGroup> groups_of(const FrameLayout& layout, int black) {
  std::vector<SizedGroup> groups;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const bool full = is_full(layout, channel);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const SizedGroup& other) {
      return other.channels.plane == channel.plane && other.channels.step == channel.step &&
             other.full == full;
    });
    if (group == groups.end()) {
      group = groups.insert(group, {{}, full});
      group->channels.plane = channel.plane;
      group->channels.step = channel.step;
    }
    ChannelGroup& channels = group->channels;
    channels.offset[channels.count] = channel.offset;
    channels.border[channels.count++] = border_of(channel.role, layout.bits, black);
  }
  return groups;
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

std::optional<PackedMap> packed(Device& device, const FrameLayout& layout, const Map& map) {
  if (!map.fractions)
    return std::nullopt;
  return std::optional<PackedMap>(std::in_place, device,
                                  ImageSize{map.fractions.width, map.fractions.height, layout.bits},
                                  map);
}

}  // namespace

class PictureRemap::State {
 public:
  State(Device& device, const FrameLayout& layout, const PictureMaps& maps, int black)
      : layout_(layout),
        groups_(groups_of(layout, black)),
        full_(packed(device, layout, maps.full)),
        reduced_(packed(device, layout, maps.reduced)) {
    const SampleCoding coding{layout.bits, layout.shift};
    backend_ = device.kind() == DeviceKind::cuda ? make_picture_remap_cuda(device, coding)
                                                 : make_picture_remap_cpu(coding);
    for (int p = 0; p < layout.plane_count; ++p)
      if (has_padding(layout, p))
        padded_planes_.push_back(p);
  }

  void run(const ConstFrame& in, const Frame& out) {
    check_frame(operation, layout_, in, "input");
    check_frame(operation, layout_, out, "output");
    for (int p = 0; p < layout_.plane_count; ++p) {
      kernel_pitch(operation, in.planes[p].pitch);
      kernel_pitch(operation, out.planes[p].pitch);
    }
    for (const int plane : padded_planes_)
      backend_->fill(out.planes[plane]);
    for (const SizedGroup& group : groups_) {
      const int plane = group.channels.plane;
      backend_->run(group.channels, group.full ? *full_ : *reduced_, in.planes[plane],
                    out.planes[plane]);
    }
  }

 private:
  FrameLayout layout_;
  std::vector<SizedGroup> groups_;
  std::optional<PackedMap> full_, reduced_;
  std::unique_ptr<Backend> backend_;
  std::vector<int> padded_planes_;
};

PictureRemap::PictureRemap(Device& device, const FrameLayout& layout, const PictureMaps& maps,
                           int black) {
  check(layout, maps, black);
  state_ = std::make_unique<State>(device, layout, maps, black);
}

PictureRemap::~PictureRemap() = default;

void PictureRemap::run(const ConstFrame& in, const Frame& out) {
  state_->run(in, out);
}

}  // namespace cudavision::remap
