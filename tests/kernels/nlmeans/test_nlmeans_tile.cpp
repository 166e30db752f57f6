// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a block of the byte-patch kernel on the host, and compares the result with the CPU device.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/nlmeans/search_tile.h"
#include "tests/kernels/nlmeans/host_denoising.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

struct PatchTable {
  const std::uint32_t* weights;
  std::uint32_t last;
  int shift;
};

template <int kRadius, int kChannels, int kRows>
class Block {
 public:
  Block(const DenoisedPicture& picture, const SearchedPlane* frame,
        const nlmeans::Parameters& parameters, const PatchTable& table, int left, int top)
      : picture_(picture),
        frame_(frame),
        search_radius_(parameters.search / 2),
        margin_(search_radius_ + kRadius),
        rows_(DenoisingTile::rows(kRows, margin_)),
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
                  left_ - DenoisingTile::left_margin, top_ - margin_, rows_, thread % 32,
                  thread / 32, words.data() + static_cast<std::size_t>(c) * channel_words);
    std::vector<PatchSums<kRadius, kChannels, kRows>> sums(32 * DenoisingTile::warps);
    for (int phase = 0; phase < 4; ++phase) {
      for (std::size_t i = 0; i + 1 < words.size(); ++i)
        later[i] = bytes_from(words[i], words[i + 1], phase);
      for (int thread = 0; thread < 32 * DenoisingTile::warps; ++thread)
        add_shifts(
            sums[thread],
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
                sums[thread].mean(y, c, i));
  }

 private:
  void put(int channel, int x, int y, std::uint32_t value) const {
    const DenoisedPlane& plane = picture_.planes[channel];
    if (x < picture_.width && y < picture_.height)
      plane.out[static_cast<std::ptrdiff_t>(y) * plane.out_pitch + plane.offset + x * plane.step] =
          static_cast<std::uint8_t>(value);
  }

  const DenoisedPicture& picture_;
  const SearchedPlane* frame_;  // the planes of the searched frame
  int search_radius_, margin_, rows_;
  const PatchTable& table_;
  int left_, top_;
};

template <int kRadius, int kChannels, int kRows>
void expect_blocks_equal_cpu(const char* name, int width, int height, int search, double strength) {
  const nlmeans::Parameters parameters{search, 2 * kRadius + 1, strength};
  HostDenoising host(name, width, height, parameters, Content::natural, kChannels);
  const PatchTable table{host.weights.data(), static_cast<std::uint32_t>(host.weight_count - 1),
                         distance_shift(parameters, 8)};
  for (int y = 0; y < height; y += DenoisingTile::warps * kRows)
    for (int x = 0; x < width; x += DenoisingTile::width)
      Block<kRadius, kChannels, kRows>(host.arguments.pictures[0], host.arguments.frames[0],
                                       parameters, table, x, y)
          .run();
  host.expect_what_the_cpu_gives();
}

TEST(NlMeansTile, BlocksGiveWhatTheCpuGives) {
  expect_blocks_equal_cpu<3, 1, 8>("GRAY8", 131, 35, 11, 10);
  expect_blocks_equal_cpu<2, 1, 8>("GRAY8", 255, 64, 7, 30);
  expect_blocks_equal_cpu<1, 1, 8>("GRAY8", 9, 5, 23, 100);
  expect_blocks_equal_cpu<3, 1, 5>("GRAY8", 1, 1, 57, 255);
  expect_blocks_equal_cpu<3, 3, 4>("RGB", 130, 18, 9, 20);
  expect_blocks_equal_cpu<2, 3, 4>("GBR", 40, 7, 11, 20);
  expect_blocks_equal_cpu<1, 3, 3>("RGBMixed", 33, 25, 5, 60);
}

TEST(NlMeansTile, TheLargestSearchStaysWithinTheTile) {
  expect_blocks_equal_cpu<3, 1, 8>("GRAY8", 65, 9, 2 * DenoisingTile::max_search_radius + 1, 10);
  // The outermost lanes must not read words outside the tile.
  EXPECT_GE(DenoisingTile::word(0, -DenoisingTile::max_search_radius), 0);
  EXPECT_LT(DenoisingTile::word(31, DenoisingTile::max_search_radius) + 2, DenoisingTile::pitch);
}

}  // namespace
}  // namespace cudavision::test
