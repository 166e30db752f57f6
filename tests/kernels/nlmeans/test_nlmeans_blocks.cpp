// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs blocks of the tensor-core kernels on the host, by calling each lane's functions in turn.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/nlmeans/productfill.h"
#include "cuda/nlmeans/productlane.h"
#include "tests/kernels/nlmeans/host_denoising.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

/// The two factors of a warp's matrix product, as registers of its 32 lanes.
struct WarpProduct {
  std::uint32_t left[32][4] = {}, right[32][2] = {};

  /// Adds the product to the lanes' sums. Registers have the layout of mma.m16n8k32.
  void add_to(int (&sums)[32][4]) const {
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        std::uint32_t sum = 0;
        for (int t = 0; t < 4; ++t)
          for (int second = 0; second < 2; ++second)
            sum = dot_bytes(left[row % 8 * 4 + t][2 * second + row / 8],
                            right[column * 4 + t][second], sum);
        sums[row % 8 * 4 + column / 2][row / 8 * 2 + column % 2] += static_cast<int>(sum);
      }
  }
};

template <class Kind>
class Block {
 public:
  Block(const NlMeansArguments& a, const ProductTile& tile)
      : a_(a),
        picture_(a.pictures[0]),
        tile_(tile),
        pixels_(static_cast<std::size_t>(Kind::planes * a.shape.plane_words), 0xdeadbeef),
        norms_(static_cast<std::size_t>(Kind::sample_bytes * a.shape.norm_words())),
        kept_(static_cast<std::size_t>(ReferenceFrame<Kind>(a.shape.strips).words()), 0xdeadbeef) {}

  void run() {
    for (tile_.frame = 0; tile_.frame < a_.frame_count; ++tile_.frame)
      search_frame();
  }

 private:
  using Lane = ProductLane<Kind>;
  static constexpr int first_entry = 1024 + 128;  // arbitrary offset of the table

  void search_frame() {
    for (int thread = 0; thread < product_threads; ++thread)
      load_samples<Kind>(a_, tile_, thread, pixels_.data());
    for (int thread = 0; thread < product_threads; ++thread)
      copy_samples<Kind>(a_.shape, thread, pixels_.data());
    for (int thread = 0; thread < product_threads; ++thread)
      find_norms<Kind>(a_, tile_.strips, thread, pixels_.data(), norms_.data());
    for (int thread = 0; tile_.frame == 0 && thread < product_threads; ++thread)
      store_reference<Kind>(a_, tile_.strips, thread, pixels_.data(), norms_.data(), kept_.data());
    for (int warp = 0; warp < product_warps; ++warp)
      for (int strip = 0; strip < tile_.strips; ++strip)
        if (tile_.left + 4 * warp < picture_.width)
          run_warp(warp, strip * Kind::strip_height);
  }

  void run_warp(int warp, int top) {
    lanes_.clear();
    for (int lane = 0; lane < 32; ++lane) {
      positions_[lane] = {pixels_.data(), norms_.data(),
                          a_.frame_count > 1 ? kept_.data() : nullptr, 32 * warp + lane, top};
      lanes_.push_back(std::make_unique<Lane>(a_, positions_[lane], first_entry << a_.index_shift));
    }
    std::fill_n(&sums_[0][0][0][0], sizeof sums_ / sizeof(int), 0);
    for (int group = 0; group < a_.shape.column_groups; ++group)
      for (int y = 0; y < 4 * Kind::squares + 2 * a_.search_radius; ++y) {
        for (int lane = 0; lane < 32; ++lane) {
          const Lane& loading = *lanes_[lane];
          candidates_[lane] = loading.candidates(positions_[lane], group);
          rows_[lane] = loading.load(candidates_[lane], y);
        }
        for (int s = 0; s < Kind::squares; ++s)
          add(s, y - 4 * s);
      }
    for (int pixel = 0; pixel < 2 * Kind::squares; ++pixel)
      for (int g = 0; g < 8; ++g)
        put(pixel, g);
  }

  void multiply(int s, int left, int right, int (&sums)[32][4]) const {
    for (int i = 0; i < Kind::words; i += 2) {
      WarpProduct product;
      for (int lane = 0; lane < 32; ++lane)
        for (int second = 0; second < 2 && i + second < Kind::words; ++second) {
          for (int half = 0; half < 2; ++half)
            product.left[lane][2 * second + half] =
                lanes_[lane]->left(s, left)[2 * (i + second) + half];
          product.right[lane][second] = rows_[lane].right[right][i + second];
        }
      product.add_to(sums);
    }
  }

  void add(int s, int row) {
    const int first = row - (row & 1);
    const RowPair pair = defined_row_pair(first / 2, a_.search_radius);
    int high[32][4] = {}, cross[32][4] = {}, low[32][4] = {};
    for (int c = 0; c < Kind::channels; ++c) {
      constexpr int bytes = Kind::sample_bytes;
      multiply(s, bytes * c, bytes * c, high);
      if (bytes == 2) {
        multiply(s, 2 * c, 2 * c + 1, cross);
        multiply(s, 2 * c + 1, 2 * c, cross);
        if (Kind::joins_planes)
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 4; ++i)
              low[lane][i] = cross[lane][i] << a_.low_bits;
        multiply(s, 2 * c + 1, 2 * c + 1, low);
      }
    }
    for (int m = 0; m < Kind::products; ++m) {
      WarpProduct product;
      for (int lane = 0; lane < 32; ++lane)
        for (int column = 0; column < 2; ++column) {
          product.right[lane][column] = rows_[lane].samples[m][column];
          for (int half = 0; half < 2; ++half) {
            const int i = 2 * half + column;
            if (!skips(pair, half))
              product.left[lane][2 * column + half] =
                  a_.weights[(lanes_[lane]->distance(s, half, column, candidates_[lane],
                                                     rows_[lane], pair, row - first, high[lane][i],
                                                     cross[lane][i], low[lane][i]) >>
                              a_.index_shift) -
                             first_entry];
          }
        }
      product.add_to(sums_[s][m]);
    }
  }

  void put(int pixel, int g) {
    std::uint32_t sums[Kind::planes + 1] = {};
    const int half = pixel % 2 * 2;
    for (int t = 0; t < 4; ++t) {
      const int number = 4 * g + t;
      for (int plane = 0; plane < Kind::planes; ++plane)
        sums[plane] += plane_part(t, sums_[pixel / 2][plane / 2][number][half + plane % 2]);
      const auto& first = sums_[pixel / 2][0][number];
      sums[Kind::planes] += weight_part(t, first[half], first[half + 1]);
    }
    const LanePosition& position = positions_[4 * g];
    const ReferenceFrame<Kind> reference(a_.shape.strips);
    std::uint32_t* const before =
        kept_.data() + reference.sums() + reference.pixel(position.x(), position.y(pixel));
    for (int i = 0; i <= Kind::planes; ++i) {
      if (tile_.frame > 0)
        sums[i] += before[i * reference.pixels];
      before[i * reference.pixels] = sums[i];
    }
    if (tile_.frame + 1 < a_.frame_count)
      return;
    const int x = tile_.left + position.x(), y = tile_.top + position.y(pixel);
    if (x >= picture_.width || y >= picture_.height)
      return;
    for (int c = 0; c < Kind::channels; ++c)
      store_sample<Kind::sample_bytes>(a_, picture_.planes[c], x, y,
                                       mean_of<Kind>(sums, c, a_.low_bits));
  }

  const NlMeansArguments& a_;
  const DenoisedPicture& picture_;
  ProductTile tile_;
  std::vector<std::uint32_t> pixels_;
  std::vector<int> norms_;
  std::vector<std::uint32_t> kept_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  LanePosition positions_[32];
  typename Lane::Candidates candidates_[32];
  typename Lane::CandidateRow rows_[32];
  int sums_[Kind::squares][Kind::products][32][4];
};

template <class Kind>
void expect_blocks_equal_cpu(const char* name, int width, int height,
                             const nlmeans::Parameters& parameters,
                             Content content = Content::natural) {
  HostDenoising host(name, width, height, parameters, content, Kind::channels);
  NlMeansArguments& a = host.arguments;
  host.weights[host.weight_count] = 0;
  for (std::uint32_t& weight : host.weights)
    weight = weight_digits(weight);
  a.weights = host.weights.data();
  a.shape = product_shape<Kind>(a.search_radius, Kind::tile_strips);
  a.low_bits = Kind::sample_bytes == 2 ? a.bits - 8 : 0;
  a.scale_log2 = 2;
  a.product_scale = -8;
  a.joined_shift = 2 * a.low_bits - 2;
  a.index_shift = distance_shift(parameters, a.bits) - 2 * a.low_bits + 2;
  a.max_distance = host.weight_count << a.index_shift;
  a.strips = static_cast<unsigned>((width + Kind::strip_width - 1) / Kind::strip_width *
                                   ((height + Kind::strip_height - 1) / Kind::strip_height));
  a.shares = 1;
  a.strips_of_share = a.strips;
  for (unsigned strip = 0; strip < a.strips;) {
    const ProductTile tile = tile_at<Kind>(a, 0, strip);
    Block<Kind>(a, tile).run();
    strip = tile.next;
  }
  host.expect_what_the_cpu_gives();
}

TEST(NlMeansBlocks, GiveWhatTheCpuGives) {
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 37, 19, {9, 7, 10});
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 7, 35, {7, 5, 30});
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 9, 5, {3, 3, 100});
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 1, 1, {15, 1, 255});
  expect_blocks_equal_cpu<ProductKind<3, 1, 1>>("GRAY8", 5, 17, {5, 11, 20});
  expect_blocks_equal_cpu<ProductKind<3, 1, 1>>("GRAY8", 5, 3, {13, 9, 20}, Content::random);
  expect_blocks_equal_cpu<ProductKind<4, 1, 1>>("GRAY8", 5, 9, {5, 15, 20});
  expect_blocks_equal_cpu<ProductKind<4, 1, 1>>("GRAY8", 4, 2, {3, 13, 255}, Content::random);
  expect_blocks_equal_cpu<ProductKind<2, 3, 1>>("RGB", 33, 5, {5, 7, 20});
  expect_blocks_equal_cpu<ProductKind<3, 3, 1>>("RGBMixed", 3, 5, {5, 9, 60});
  expect_blocks_equal_cpu<ProductKind<2, 1, 2>>("GRAY16", 5, 17, {9, 7, 20});
  expect_blocks_equal_cpu<ProductKind<3, 1, 2>>("GRAY16", 5, 3, {5, 11, 90}, Content::random);
  expect_blocks_equal_cpu<ProductKind<4, 1, 2>>("GRAY16", 5, 3, {5, 15, 40});
}

/// The reference pixels of the first frame are kept, and sums accumulate over all frames.
TEST(NlMeansBlocks, SearchSeveralFrames) {
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 37, 19, with_frames({13, 7, 10}, 3));
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 7, 51, with_frames({15, 5, 30}, 2));
  expect_blocks_equal_cpu<ProductKind<2, 1, 1, true>>("GRAY8", 35, 37, with_frames({3, 7, 30}, 4));
  expect_blocks_equal_cpu<ProductKind<3, 1, 1>>("GRAY8", 33, 17, with_frames({11, 11, 20}, 3));
  expect_blocks_equal_cpu<ProductKind<4, 1, 1>>("GRAY8", 5, 9, with_frames({5, 15, 20}, 9));
  expect_blocks_equal_cpu<ProductKind<2, 3, 1>>("RGB", 33, 17, with_frames({5, 7, 20}, 3));
  expect_blocks_equal_cpu<ProductKind<3, 3, 1>>("RGBMixed", 3, 5, with_frames({7, 9, 60}, 2));
  expect_blocks_equal_cpu<ProductKind<2, 1, 2>>("GRAY16", 5, 17, with_frames({9, 7, 20}, 3));
  expect_blocks_equal_cpu<ProductKind<4, 1, 2>>("GRAY16", 5, 3, with_frames({5, 15, 40}, 2));
}

/// White frames give the largest sums; white and black pixels give the largest distances.
TEST(NlMeansBlocks, TheLargestSumsFit) {
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 1, 2, {51, 7, 255}, Content::maximum);
  expect_blocks_equal_cpu<ProductKind<4, 1, 2>>("GRAY16", 1, 2, {9, 15, 255}, Content::maximum);
  expect_blocks_equal_cpu<ProductKind<2, 1, 2>>("GRAY16", 3, 2, {3, 3, 255}, Content::two_valued);
  expect_blocks_equal_cpu<ProductKind<3, 3, 1>>("RGB", 3, 2, {3, 11, 255}, Content::two_valued);
  expect_blocks_equal_cpu<ProductKind<2, 1, 1>>("GRAY8", 1, 2, with_frames({51, 7, 255}, 9),
                                                Content::maximum);
  expect_blocks_equal_cpu<ProductKind<2, 1, 2>>("GRAY16", 3, 2, with_frames({9, 7, 255}, 9),
                                                Content::maximum);
}

}  // namespace
}  // namespace cudavision::test
