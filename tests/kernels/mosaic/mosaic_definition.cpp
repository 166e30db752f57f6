// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/mosaic/mosaic_definition.h"

#include <cstdint>
#include <map>
#include <tuple>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Block = std::tuple<int, int, int>;

Block block_of(const Channel& channel, const mosaic::Parameters& parameters, int x, int y) {
  const int field = parameters.fields ? y % 2 : 0;
  const int row = parameters.fields ? y / 2 : y;
  return {field, row * channel.subsampling_y / parameters.block_size,
          x * channel.subsampling_x / parameters.block_size};
}

struct Samples {
  std::int64_t sum = 0, count = 0;

  /// Rounds half up.
  int mean() const { return static_cast<int>((2 * sum + count) / (2 * count)); }
};

}  // namespace

void defined_mosaic(const FrameLayout& layout, const mosaic::Parameters& parameters,
                    const ConstFrame& in, const Frame& out) {
  copy_rows(layout, in, out);
  for (int c = 0; c < layout.channel_count; ++c) {
    const auto number = static_cast<std::size_t>(c);
    const Channel& channel = layout.channels[number];
    if (channel.role == Role::alpha && !parameters.hide_alpha)
      continue;
    std::map<Block, Samples> blocks;
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x) {
        Samples& block = blocks[block_of(channel, parameters, x, y)];
        block.sum += defined_sample(layout, in, channel, x, y);
        ++block.count;
      }
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x)
        put_sample(layout, out, channel, x, y,
                   parameters.solid ? parameters.values[number]
                                    : blocks[block_of(channel, parameters, x, y)].mean());
  }
}

}  // namespace cudavision::test
