// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Does on the host what a block of the GPU's kernel for patches of bytes does, with the functions
// that its threads call, and compares the results with the CPU device.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/nlmeans/tile.h"
#include "cuda/nlmeans/weights.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

struct PatchTable {
  const std::uint32_t* weights;
  std::uint32_t last;
  int shift;
};

/// Does everything that a block of the tile kernel does, one thread after the other.
template <int kRadius, int kChannels, int kRows>
class Block {
 public:
  Block(const DenoisedPicture& picture, const SearchedPlane* frame,
        const nlmeans::Parameters& parameters, const PatchTable& table, int left, int top)
      : picture_(picture),
        frame_(frame),
        search_radius_(parameters.search / 2),
        reach_(search_radius_ + kRadius),
        rows_(DenoisingTile::rows(kRows, reach_)),
        table_(table),
        left_(left),
        top_(top) {}

  void run() {
    const auto channel_words = static_cast<std::size_t>(rows_ * DenoisingTile::pitch);
    std::vector<std::uint32_t> words(kChannels * channel_words, 0xdeadbeef);
    std::vector<std::uint32_t> later(words.size(), 0xdeadbeef);
    for (int c = 0; c < kChannels; ++c)
      for (int thread = 0; thread < 32 * DenoisingTile::warps; ++thread)
        load_tile(picture_, picture_.planes[c], frame_[picture_.planes[c].number],
                  left_ - DenoisingTile::left_margin, top_ - reach_, rows_, thread % 32,
                  thread / 32, words.data() + static_cast<std::size_t>(c) * channel_words);
    std::vector<PatchSums<kRadius, kChannels, kRows>> sums(32 * DenoisingTile::warps);
    for (int phase = 0; phase < 4; ++phase) {
      for (std::size_t i = 0; i + 1 < words.size(); ++i)
        later[i] = bytes_from(words[i], words[i + 1], phase);
      for (int thread = 0; thread < 32 * DenoisingTile::warps; ++thread)
        add_shifts(
            sums[static_cast<std::size_t>(thread)],
            {words.data(), static_cast<int>(channel_words), thread % 32, thread / 32 * kRows},
            later.data(), phase, search_radius_, [&](std::uint32_t distance) {
              return table_.weights[std::min(distance >> table_.shift, table_.last)];
            });
    }
    for (int thread = 0; thread < 32 * DenoisingTile::warps; ++thread)
      for (int y = 0; y < kRows; ++y)
        for (int i = 0; i < 4; ++i)
          for (int c = 0; c < kChannels; ++c)
            put(c, left_ + 4 * (thread % 32) + i, top_ + thread / 32 * kRows + y,
                sums[static_cast<std::size_t>(thread)].mean(y, c, i));
  }

 private:
  void put(int channel, int x, int y, std::uint32_t value) const {
    const DenoisedPlane& plane = picture_.planes[channel];
    if (x < picture_.width && y < picture_.height)
      plane.out[static_cast<std::ptrdiff_t>(y) * plane.out_pitch + plane.offset + x * plane.step] =
          static_cast<std::uint8_t>(value);
  }

  const DenoisedPicture& picture_;
  const SearchedPlane* frame_;  // its planes
  int search_radius_, reach_, rows_;
  const PatchTable& table_;
  int left_, top_;
};

template <int kRadius, int kChannels, int kRows>
void expect_blocks_equal_cpu(const char* name, int width, int height, int search, double strength) {
  SCOPED_TRACE(testing::Message() << name << ' ' << width << "×" << height << ", search " << search
                                  << ", patch " << 2 * kRadius + 1);
  const auto device = make_cpu_device();
  const nlmeans::Parameters parameters{search, 2 * kRadius + 1, strength};
  const NlMeansCase test =
      plain_nlmeans_case(layout_named(name, width, height), parameters, Content::natural, 5);
  const std::vector<std::uint8_t> input = input_block(test);
  const std::vector<std::uint8_t> expected = NlMeansRunner(*device, test).run(input, 0xcd);

  std::vector<std::uint8_t> block(test.out.bytes, 0xcd);
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  const Frame out = frame_in(test.layout, test.out, block.data());
  DenoisedPicture picture{};
  picture.width = width;
  picture.height = height;
  SearchedPlane frame[FrameLayout::max_planes];
  for (int c = 0; c < kChannels; ++c) {
    const Channel& channel = test.layout.channels[static_cast<std::size_t>(c)];
    const auto p = static_cast<std::size_t>(channel.plane);
    frame[p] = {in.planes[p].data, static_cast<int>(in.planes[p].pitch)};
    picture.planes[c] = {channel.plane, out.planes[p].data, static_cast<int>(out.planes[p].pitch),
                         channel.offset, channel.step};
  }
  std::vector<std::uint32_t> weights(static_cast<std::size_t>(max_patch_weights(kChannels)));
  const int count =
      make_patch_weights(parameters, parameters.strength, 8, kChannels, weights.data());
  const PatchTable table{weights.data(), static_cast<std::uint32_t>(count - 1),
                         distance_shift(parameters, 8)};
  for (int y = 0; y < height; y += DenoisingTile::warps * kRows)
    for (int x = 0; x < width; x += DenoisingTile::width)
      Block<kRadius, kChannels, kRows>(picture, frame, parameters, table, x, y).run();
  EXPECT_EQ(block, expected);
}

TEST(NlMeansTile, BlocksGiveWhatTheCpuGives) {
  expect_blocks_equal_cpu<3, 1, 8>("GRAY8", 131, 35, 21, 10);
  expect_blocks_equal_cpu<2, 1, 8>("GRAY8", 255, 64, 7, 30);
  expect_blocks_equal_cpu<1, 1, 8>("GRAY8", 9, 5, 23, 100);
  expect_blocks_equal_cpu<3, 1, 5>("GRAY8", 1, 1, 57, 255);
  expect_blocks_equal_cpu<3, 3, 4>("RGB", 130, 18, 9, 20);
  expect_blocks_equal_cpu<2, 3, 4>("GBR", 40, 7, 11, 20);
  expect_blocks_equal_cpu<1, 3, 3>("RGBMixed", 33, 25, 5, 60);
}

TEST(NlMeansTile, TheLargestSearchStaysWithinTheTile) {
  expect_blocks_equal_cpu<3, 1, 8>("GRAY8", 129, 9, 2 * DenoisingTile::max_search_radius + 1, 10);
  // The outermost lanes must not read words outside the tile.
  EXPECT_GE(DenoisingTile::word(0, -DenoisingTile::max_search_radius), 0);
  EXPECT_LT(DenoisingTile::word(31, DenoisingTile::max_search_radius) + 2, DenoisingTile::pitch);
}

}  // namespace
}  // namespace cudavision::test
