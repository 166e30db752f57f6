// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests what the lanes of the GPU's kernels for matrices do. Single steps are compared with plain
// code, and all steps of a block together with the CPU device. The test multiplies the lanes'
// matrices itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "cuda/nlmeans/productfill.h"
#include "cuda/nlmeans/productlane.h"
#include "cuda/nlmeans/weights.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

TEST(NlMeansProduct, MasksSelectTheBytesOfThePatch) {
  for (int patch = 1; patch <= 19; patch += 2)
    for (int row = 0; row < 20; ++row)
      for (int word = 0; word < 5; ++word)
        for (int byte = 0; byte < 4; ++byte)
          EXPECT_EQ(patch_mask(patch, row, word) >> (8 * byte) & 0xff,
                    row < patch && 4 * word + byte < patch ? 0xffu : 0u);
}

TEST(NlMeansProduct, DigitsMakeUpTheWeight) {
  for (const std::uint32_t weight : {0u, 1u, 254u, 255u, 256u, 19096u, 65024u, 65025u, 8421504u}) {
    const std::uint32_t word = weight_digits(weight);
    EXPECT_EQ(
        (word & 0xff) + (word >> 8 & 0xff) * digit_base + (word >> 16) * digit_base * digit_base,
        weight);
    EXPECT_LT(word, 1u << 24);
  }
}

/// A column of a second product must multiply one digit by a sample of one plane, or give a part of
/// the sum of the weights.
template <class Kind>
void expect_selections() {
  constexpr std::uint32_t samples = 0x44332211;
  for (int product = 0; product < Kind::products; ++product)
    for (int column = 0; column < 8; ++column)
      for (int sample = 0; sample < 4; ++sample) {
        const std::uint32_t word =
            select_bytes(samples, weight_constants, weight_selector<Kind>(product, column, sample));
        const int digit = column / 2, plane = 2 * product + column % 2;
        const std::uint32_t selected = 0x11u * static_cast<std::uint32_t>(sample + 1);
        if (digit < digits)
          EXPECT_EQ(word, plane < Kind::planes ? selected << (8 * digit) : 0u);
        else if (product == 0)
          EXPECT_EQ(word, column % 2 == 0 ? 1u | digit_base << 8 : 1u << 16);
        else
          EXPECT_EQ(word, 0u);
      }
}

TEST(NlMeansProduct, SelectorsPutASampleInPlaceOfADigit) {
  expect_selections<ProductKind<2, 1, 1>>();
  expect_selections<ProductKind<2, 1, 2>>();
  expect_selections<ProductKind<2, 3, 1>>();
  expect_selections<ProductKind<2, 3, 2>>();
}

/// Gives the strips of three pictures to blocks, as many as each takes at a time.
template <class Kind>
void expect_tiles_cover(unsigned at_once, int tile_strips, unsigned blocks) {
  NlMeansArguments a{};
  a.picture_count = 3;
  a.shape.strips = tile_strips;
  a.strips_at_once = at_once;
  const int sizes[][2] = {{Kind::strip_width * 2 + 1, Kind::strip_height * 5 + 1},
                          {1, 1},
                          {Kind::strip_width, Kind::strip_height * 3}};
  for (int i = 0; i < a.picture_count; ++i) {
    a.pictures[i].width = sizes[i][0];
    a.pictures[i].height = sizes[i][1];
    a.pictures[i].first_block = a.strips;
    a.strips +=
        static_cast<unsigned>((sizes[i][0] + Kind::strip_width - 1) / Kind::strip_width *
                              ((sizes[i][1] + Kind::strip_height - 1) / Kind::strip_height));
  }
  std::set<std::tuple<int, int, int>> covered;
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned strip = block * at_once; strip < a.strips;) {
      const ProductTile tile = tile_at<Kind>(a, strip, blocks);
      ASSERT_GT(tile.strips, 0);
      ASSERT_LE(tile.strips, tile_strips);
      EXPECT_EQ(tile.left % Kind::strip_width, 0);
      EXPECT_EQ(tile.top % Kind::strip_height, 0);
      EXPECT_LT(tile.left, sizes[tile.picture][0]);
      for (int i = 0; i < tile.strips; ++i) {
        const int top = tile.top + i * Kind::strip_height;
        EXPECT_LT(top, sizes[tile.picture][1]);
        EXPECT_TRUE(covered.insert({tile.picture, tile.left, top}).second);
      }
      strip = tile.next;
    }
  EXPECT_EQ(covered.size(), a.strips) << at_once << " at once, " << blocks << " blocks";
}

TEST(NlMeansProduct, TilesCoverEachPictureOnce) {
  for (const unsigned at_once : {1u, 2u, 4u, 7u, 100u})
    for (const int tile_strips : {1, 3, 4, 8})
      for (const unsigned blocks : {1u, 2u, 5u}) {
        expect_tiles_cover<ProductKind<2, 1, 1>>(at_once, tile_strips, blocks);
        expect_tiles_cover<ProductKind<2, 1, 2>>(at_once, tile_strips, blocks);
      }
}

/// Pixels must search the candidates up to the search radius from them, and no others.
TEST(NlMeansProduct, SearchesHaveTheirSize) {
  for (const int radius : {1, 2, 3, 4, 10, 11, 50}) {
    for (int candidate = -8; candidate < 2 * radius + 12; ++candidate)
      for (int x = 0; x < 4; ++x)
        EXPECT_EQ(searches(x, candidate, radius), candidate >= x && candidate <= x + 2 * radius);
    for (int pair_row = -4; pair_row < 2 * radius + 8; pair_row += 2)
      for (int row = 0; row < 2; ++row)
        for (int g = 0; g < 8; ++g)
          for (int half = 0; half < 2; ++half) {
            const int candidate = pair_row + row, y = pixel_y(g + 8 * half);
            const RowPair pair = row_pair(pair_row / 2, radius);
            const bool outside = skips(pair, half) || RowBias(g).of(pair, row, half) != 0;
            EXPECT_EQ(!outside, candidate >= y && candidate <= y + 2 * radius)
                << "radius " << radius << ", row " << candidate << ", pixel in row " << y;
          }
  }
}

/// The steps of a kernel, in which each square is two pairs of rows behind the one above it, must
/// give each square all of its pairs.
TEST(NlMeansProduct, StepsGiveEachSquareItsPairs) {
  for (int squares = 1; squares <= 4; ++squares)
    for (int radius = 2 * squares; radius < 2 * squares + 9; ++radius)
      for (int square = 0; square < squares; ++square) {
        int pair = -2 * square;
        for (int step = 0; step < 2 * squares; ++step, ++pair)
          EXPECT_EQ(pair_from_top(step - 2 * square), row_pair(pair, radius));
        for (int step = 2 * squares; step < radius; ++step, ++pair)
          EXPECT_EQ(pair_from_top(2 * squares - 2 * square), row_pair(pair, radius));
        for (int step = 0; step < 2 * squares; ++step, ++pair)
          EXPECT_EQ(pair_to_bottom(step - 2 * square), row_pair(pair, radius));
        EXPECT_GE(pair, radius + 2);
      }
}

template <class Kind>
void expect_disjoint_banks() {
  for (const int radius : {1, 2, 7, 10, 17, 50}) {
    const ProductShape shape = product_shape<Kind>(radius, 1 + radius % 5);
    std::set<int> banks;
    for (int lane = 0; lane < 32; ++lane)
      banks.insert(word_at(shape, lane / 4, lane % 4) % 32);
    EXPECT_EQ(banks.size(), 32u) << "radius " << radius;
    EXPECT_EQ(shape.plane_words % 4, 0);
    EXPECT_EQ(shape.candidate_rows % 4, 0);
  }
}

TEST(NlMeansProduct, LanesReadFromDifferentBanks) {
  expect_disjoint_banks<ProductKind<2, 1, 1>>();
  expect_disjoint_banks<ProductKind<3, 1, 2>>();
  expect_disjoint_banks<ProductKind<4, 1, 1>>();
}

/// Distances of samples of more than 8 bits are put together from products of their upper 8 and
/// their other bits.
template <class Kind>
void expect_exact_distances() {
  constexpr int patch = 4 * Kind::side - 1, samples = Kind::channels * patch * patch;
  Random random(3103);
  for (int bits = 9; bits <= 16; ++bits)
    for (int n = 0; n < 300; ++n) {
      const int low_bits = bits - 8;
      const std::uint32_t largest = (1u << bits) - 1, low_mask = (1u << low_bits) - 1;
      const int count = n % 3 == 0 ? samples : random.between(1, samples);
      std::uint64_t expected = 0;
      std::uint32_t squares[2][3] = {};
      int high = 0, mixed = 0, low = 0;
      for (int i = 0; i < count; ++i) {
        const auto sample = [&] {
          return n < 3 || random.one_in(8) ? (random.one_in(2) ? largest : 0)
                                           : static_cast<std::uint32_t>(random.next()) & largest;
        };
        const std::uint32_t p = n == 0 ? largest : sample(), q = n == 1 ? p : sample();
        expected += std::uint64_t{p > q ? p - q : q - p} * (p > q ? p - q : q - p);
        const std::uint32_t values[2][2] = {{p >> low_bits, p & low_mask},
                                            {q >> low_bits, q & low_mask}};
        for (int side = 0; side < 2; ++side) {
          squares[side][0] += values[side][0] * values[side][0];
          squares[side][1] += values[side][0] * values[side][1];
          squares[side][2] += values[side][1] * values[side][1];
        }
        high += static_cast<int>(values[0][0] * values[1][0]);
        mixed += static_cast<int>(values[0][0] * values[1][1] + values[0][1] * values[1][0]);
        low += static_cast<int>(values[0][1] * values[1][1]);
      }
      const Norm pixel = norm_of<Kind>(squares[0][0], squares[0][1], squares[0][2], low_bits);
      const Norm candidate = norm_of<Kind>(squares[1][0], squares[1][1], squares[1][2], low_bits);
      for (const int scale_log2 : {0, 1, 2}) {
        const int scale = 1 << scale_log2, candidate_high = static_cast<int>(candidate.high);
        const std::uint32_t limit = joined_limit;
        const int distance =
            Kind::joins_planes
                ? high * (-2 * scale) + (candidate_high - joined_limit) * scale +
                      joined_rest((mixed << low_bits) + low,
                                  static_cast<int>(candidate.low + (limit << (2 * low_bits))),
                                  static_cast<int>(pixel.low), 2 * low_bits - scale_log2)
                : scaled_distance(high, mixed, low, candidate_high * scale,
                                  static_cast<int>(candidate.low), static_cast<int>(pixel.low),
                                  low_bits, scale_log2, -2 * scale);
        // Joined planes leave bits below the distance's.
        ASSERT_EQ((std::int64_t{distance} + std::int64_t{pixel.high} * scale) >> scale_log2,
                  static_cast<std::int64_t>(expected >> (2 * low_bits)))
            << bits << " bits, case " << n;
      }
    }
}

TEST(NlMeansProduct, DistancesOfDeepSamplesAreExact) {
  expect_exact_distances<ProductKind<2, 1, 2>>();
  expect_exact_distances<ProductKind<4, 3, 2>>();
}

/// The words of 32 lanes that make up two matrices, and the sums that make up their product.
struct WarpProduct {
  std::uint32_t left[32][4] = {}, right[32][2] = {};

  /// Adds the product to the lanes' sums, with the layout of mma.m16n8k32.
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

/// Does everything that a block does, one warp after the other.
template <class Kind>
class Block {
 public:
  Block(const NlMeansArguments& a, const ProductTile& tile)
      : a_(a),
        picture_(a.pictures[0]),
        tile_(tile),
        pixels_(static_cast<std::size_t>(Kind::planes * a.shape.plane_words), 0xdeadbeef),
        norms_(static_cast<std::size_t>(Kind::sample_bytes * a.shape.norm_words())),
        kept_(static_cast<std::size_t>(KeptFrame<Kind>(a.shape.strips).words()), 0xdeadbeef) {}

  void run() {
    for (tile_.frame = 0; tile_.frame < a_.frame_count; ++tile_.frame)
      search_frame();
  }

 private:
  using Lane = ProductLane<Kind>;
  static constexpr int first_entry = 1024 + 128;  // where the table might begin

  void search_frame() {
    for (int thread = 0; thread < product_threads; ++thread)
      load_samples<Kind>(a_, tile_, thread, pixels_.data());
    for (int thread = 0; thread < product_threads; ++thread)
      copy_samples<Kind>(a_.shape, thread, pixels_.data());
    for (int thread = 0; thread < product_threads; ++thread)
      find_norms<Kind>(a_, tile_.strips, thread, pixels_.data(), norms_.data());
    for (int thread = 0; tile_.frame == 0 && thread < product_threads; ++thread)
      keep_frame<Kind>(a_, tile_.strips, thread, pixels_.data(), norms_.data(), kept_.data());
    for (int warp = 0; warp < product_warps; ++warp)
      for (int strip = 0; strip < tile_.strips; ++strip)
        if (tile_.left + 4 * warp < picture_.width)
          run_warp(warp, strip * Kind::strip_height);
  }

  void run_warp(int warp, int top) {
    lanes_.clear();
    for (int lane = 0; lane < 32; ++lane) {
      places_[lane] = {pixels_.data(), norms_.data(), a_.frame_count > 1 ? kept_.data() : nullptr,
                       32 * warp + lane, top};
      lanes_.push_back(std::make_unique<Lane>(a_, places_[lane], first_entry << a_.index_shift));
    }
    std::fill_n(&sums_[0][0][0][0], sizeof sums_ / sizeof(int), 0);
    for (int group = 0; group < a_.shape.column_groups; ++group)
      for (int y = 0; y < 4 * Kind::squares + 2 * a_.search_radius; ++y) {
        for (int lane = 0; lane < 32; ++lane) {
          const Lane& loading = *lanes_[static_cast<std::size_t>(lane)];
          candidates_[lane] = loading.candidates(places_[lane], group);
          rows_[lane] = loading.load(candidates_[lane], y);
        }
        for (int s = 0; s < Kind::squares; ++s)
          add(s, y - 4 * s);
      }
    for (int pixel = 0; pixel < 2 * Kind::squares; ++pixel)
      for (int g = 0; g < 8; ++g)
        put(pixel, g);
  }

  /// Adds one product of planes to the lanes' sums.
  void multiply(int s, int left, int right, int (&sums)[32][4]) const {
    for (int i = 0; i < Kind::words; i += 2) {
      WarpProduct product;
      for (int lane = 0; lane < 32; ++lane)
        for (int second = 0; second < 2 && i + second < Kind::words; ++second) {
          for (int half = 0; half < 2; ++half)
            product.left[lane][2 * second + half] =
                lanes_[static_cast<std::size_t>(lane)]->left(s, left)[2 * (i + second) + half];
          product.right[lane][second] = rows_[lane].right[right][i + second];
        }
      product.add_to(sums);
    }
  }

  void add(int s, int row) {
    const int first = row - (row & 1);
    const RowPair pair = row_pair(first / 2, a_.search_radius);
    int high[32][4] = {}, mixed[32][4] = {}, low[32][4] = {};
    for (int c = 0; c < Kind::channels; ++c) {
      constexpr int bytes = Kind::sample_bytes;
      multiply(s, bytes * c, bytes * c, high);
      if (bytes == 2) {
        multiply(s, 2 * c, 2 * c + 1, mixed);
        multiply(s, 2 * c + 1, 2 * c, mixed);
        if (Kind::joins_planes)
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 4; ++i)
              low[lane][i] = mixed[lane][i] << a_.low_bits;
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
                  a_.weights[(lanes_[static_cast<std::size_t>(lane)]->distance(
                                  s, half, column, candidates_[lane], rows_[lane], pair,
                                  row - first, high[lane][i], mixed[lane][i], low[lane][i]) >>
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
    const LanePlace& place = places_[4 * g];
    const KeptFrame<Kind> kept(a_.shape.strips);
    std::uint32_t* const before =
        kept_.data() + kept.sums() + place.y(pixel) * Kind::strip_width + place.x();
    for (int i = 0; i <= Kind::planes; ++i) {
      if (tile_.frame > 0)
        sums[i] += before[i * kept.pixels];
      before[i * kept.pixels] = sums[i];
    }
    if (tile_.frame + 1 < a_.frame_count)
      return;
    const int x = tile_.left + place.x(), y = tile_.top + place.y(pixel);
    if (x >= picture_.width || y >= picture_.height)
      return;
    for (int c = 0; c < Kind::channels; ++c) {
      const DenoisedPlane& plane = picture_.planes[c];
      const std::uint32_t word = mean_of<Kind>(sums, c, a_.low_bits) << a_.shift;
      std::uint8_t* const to = plane.out + static_cast<std::ptrdiff_t>(y) * plane.out_pitch +
                               plane.offset + static_cast<std::ptrdiff_t>(x) * plane.step;
      for (int byte = 0; byte < Kind::sample_bytes; ++byte)
        to[byte] = static_cast<std::uint8_t>(word >> (8 * byte));
    }
  }

  const NlMeansArguments& a_;
  const DenoisedPicture& picture_;
  ProductTile tile_;
  std::vector<std::uint32_t> pixels_;
  std::vector<int> norms_;
  std::vector<std::uint32_t> kept_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  LanePlace places_[32];
  typename Lane::Candidates candidates_[32];
  typename Lane::CandidateRow rows_[32];
  int sums_[Kind::squares][Kind::products][32][4];
};

template <class Kind>
void expect_blocks_equal_cpu(const char* name, int width, int height,
                             const nlmeans::Parameters& parameters,
                             Content content = Content::natural) {
  SCOPED_TRACE(testing::Message() << name << ' ' << width << "×" << height << ", search "
                                  << parameters.search << ", patch " << parameters.patch << ", "
                                  << parameters.frames << " frames");
  const auto device = make_cpu_device();
  const NlMeansCase test =
      plain_nlmeans_case(layout_named(name, width, height), parameters, content, 5);
  const std::vector<std::uint8_t> input = input_block(test);
  const std::vector<std::uint8_t> expected = NlMeansRunner(*device, test).run(input, 0xcd);

  std::vector<std::uint8_t> block(test.out.bytes, 0xcd);
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  const Frame out = frame_in(test.layout, test.out, block.data());
  NlMeansArguments a{};
  DenoisedPicture& picture = a.pictures[0];
  picture.width = width;
  picture.height = height;
  for (int c = 0; c < Kind::channels; ++c) {
    const Channel& channel = test.layout.channels[static_cast<std::size_t>(c)];
    const auto p = static_cast<std::size_t>(channel.plane);
    picture.planes[c] = {channel.plane, out.planes[p].data, static_cast<int>(out.planes[p].pitch),
                         channel.offset * Kind::sample_bytes, channel.step * Kind::sample_bytes};
    a.frames[0][p] = {in.planes[p].data, static_cast<int>(in.planes[p].pitch)};
  }
  const std::vector<ConstFrame> neighbours = test.neighbours(in);
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    for (std::size_t p = 0; p < neighbours[i].planes.size(); ++p)
      a.frames[i + 1][p] = {neighbours[i].planes[p].data, a.frames[0][p].pitch};
  a.frame_count = parameters.frames;
  std::vector<std::uint32_t> weights(static_cast<std::size_t>(max_patch_weights(Kind::channels)));
  const int bits = test.layout.bits;
  const int count =
      make_patch_weights(parameters, parameters.strength, bits, Kind::channels, weights.data());
  weights[static_cast<std::size_t>(count)] = 0;
  for (std::uint32_t& weight : weights)
    weight = weight_digits(weight);
  a.weights = weights.data();
  a.search_radius = parameters.search / 2;
  a.patch_radius = parameters.patch / 2;
  a.bits = bits;
  a.shift = test.layout.shift;
  a.shape = product_shape<Kind>(a.search_radius, Kind::tile_strips);
  a.low_bits = Kind::sample_bytes == 2 ? bits - 8 : 0;
  a.scale_log2 = 2;
  a.product_scale = -8;
  a.joined_shift = 2 * a.low_bits - 2;
  a.index_shift = distance_shift(parameters, bits) - 2 * a.low_bits + 2;
  a.max_distance = count << a.index_shift;
  a.strips = static_cast<unsigned>((width + Kind::strip_width - 1) / Kind::strip_width *
                                   ((height + Kind::strip_height - 1) / Kind::strip_height));
  a.strips_at_once = a.strips;
  for (unsigned strip = 0; strip < a.strips;) {
    const ProductTile tile = tile_at<Kind>(a, strip, 1);
    Block<Kind>(a, tile).run();
    strip = tile.next;
  }
  EXPECT_EQ(block, expected);
}

TEST(NlMeansProduct, BlocksGiveWhatTheCpuGives) {
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

/// The middle of the first frame's tile is kept, and sums are added up over the frames.
TEST(NlMeansProduct, BlocksSearchSeveralFrames) {
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

/// Sums are the largest where all samples are the largest possible, and distances where they are
/// the largest or 0.
TEST(NlMeansProduct, TheLargestSumsFit) {
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
