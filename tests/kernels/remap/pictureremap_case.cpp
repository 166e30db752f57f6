// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/remap/pictureremap_case.h"

#include <algorithm>
#include <cstring>

namespace cudavision::test {
namespace {

constexpr int largest_picture = 32767;

bool is_full(const FrameLayout& layout, const Channel& channel) {
  return channel.width == layout.width && channel.height == layout.height;
}

/// Returns the first channel that is smaller than the picture, or nullptr.
const Channel* reduced_channel(const FrameLayout& layout) {
  for (int c = 0; c < layout.channel_count; ++c)
    if (const Channel& channel = layout.channels[static_cast<std::size_t>(c)];
        !is_full(layout, channel))
      return &channel;
  return nullptr;
}

HostMap reduced_map(const FrameLayout& layout, const PictureMapParameters& parameters) {
  const Channel* const channel = reduced_channel(layout);
  return {{parameters.kind, parameters.seed + 1},
          channel ? channel->width : 1,
          channel ? channel->height : 1};
}

/// The definition, one channel at a time.
class DefinedChannel {
 public:
  DefinedChannel(const FrameLayout& layout, const Channel& channel, int black)
      : layout_(layout), channel_(channel) {
    border_ = channel.role == Role::chroma  ? 1 << layout.bits >> 1
              : channel.role == Role::alpha ? (1 << layout.bits) - 1
                                            : black;
  }

  std::int64_t at(const ConstFrame& in, std::int64_t x, std::int64_t y) const {
    if (x < 0 || x >= channel_.width || y < 0 || y >= channel_.height)
      return border_;
    const std::uint8_t* const from = address(in, x, y);
    if (layout_.bits == 8)
      return *from;
    std::uint16_t word;
    std::memcpy(&word, from, sizeof word);
    return std::min(word >> layout_.shift, (1 << layout_.bits) - 1);
  }

  void put(const Frame& out, std::int64_t x, std::int64_t y, std::int64_t value) const {
    std::uint8_t* const to = address(out, x, y);
    if (layout_.bits == 8) {
      *to = static_cast<std::uint8_t>(value);
    } else {
      const auto word = static_cast<std::uint16_t>(value << layout_.shift);
      std::memcpy(to, &word, sizeof word);
    }
  }

 private:
  template <class Byte>
  Byte* address(const BasicFrame<Byte>& frame, std::int64_t x, std::int64_t y) const {
    return frame.planes[static_cast<std::size_t>(channel_.plane)].row(static_cast<int>(y)) +
           (channel_.offset + channel_.step * x) * layout_.sample_bytes();
  }

  const FrameLayout& layout_;
  const Channel& channel_;
  int border_;
};

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
    const auto& plane = to.planes[static_cast<std::size_t>(p)];
    for (int y = 0; y < plane.height; ++y)
      std::memset(plane.row(y), 255, static_cast<std::size_t>(plane.width));
  }
  const HostPictureMaps maps(layout, parameters);
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[static_cast<std::size_t>(c)];
    const DefinedChannel defined(layout, channel, parameters.black);
    const remap::Map map = maps.of(layout, channel).view();
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x) {
        const int u = map.places.row(y)[2 * x], v = map.places.row(y)[2 * x + 1];
        const int fx = map.fractions.row(y)[x] % 32, fy = map.fractions.row(y)[x] / 32 % 32;
        const std::int64_t sum = (32 - fx) * (32 - fy) * defined.at(from, u, v) +
                                 fx * (32 - fy) * defined.at(from, u + 1, v) +
                                 (32 - fx) * fy * defined.at(from, u, v + 1) +
                                 fx * fy * defined.at(from, u + 1, v + 1);
        defined.put(to, x, y, (sum + 512) / 1024);
      }
  }
}

PictureRemapCase make_picture_remap_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const LayoutKind& kind = layout_kind_of_case(number);
  PictureRemapCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  const auto [width, height] = random_picture_size(random, max_pixels);
  test.layout = kind.make(std::min(width, largest_picture), std::min(height, largest_picture));
  test.out_layout = test.layout;
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
