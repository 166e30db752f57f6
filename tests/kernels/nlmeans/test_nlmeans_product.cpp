// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the tiles, steps, bank accesses and exact distances of the tensor-core kernels.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <tuple>

#include "cuda/nlmeans/productfill.h"
#include "cuda/nlmeans/productlane.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/nlmeans/host_denoising.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

template <class Kind>
void expect_tiles_cover(unsigned shares, int tile_strips) {
  NlMeansArguments a{};
  a.picture_count = 3;
  a.shape.strips = tile_strips;
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
  a.shares = shares;
  a.strips_of_share = a.strips / shares;
  a.longer_shares = a.strips % shares;
  std::set<std::tuple<int, int, int>> covered;
  unsigned strip = 0;
  for (unsigned share = 0; share < shares; ++share) {
    ASSERT_EQ(strip, first_strip(a, share));
    while (strip < first_strip(a, share + 1)) {
      const ProductTile tile = tile_at<Kind>(a, share, strip);
      ASSERT_GT(tile.strips, 0);
      ASSERT_LE(tile.strips, tile_strips);
      EXPECT_EQ(tile.share, share);
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
  }
  EXPECT_EQ(strip, a.strips);
  EXPECT_EQ(covered.size(), a.strips) << shares << " shares";
}

TEST(NlMeansProduct, TilesCoverEachPictureOnce) {
  for (const unsigned shares : {1u, 2u, 4u, 7u, 13u})
    for (const int tile_strips : {1, 3, 4, 8}) {
      expect_tiles_cover<ProductKind<2, 1, 1>>(shares, tile_strips);
      expect_tiles_cover<ProductKind<2, 1, 2>>(shares, tile_strips);
    }
}

/// Each square starts two steps after the square above it, and must still get all its row pairs.
TEST(NlMeansProduct, StepsGiveEachSquareItsPairs) {
  for (int squares = 1; squares <= 4; ++squares)
    for (int radius = 2 * squares; radius < 2 * squares + 9; ++radius)
      for (int square = 0; square < squares; ++square) {
        int pair = -2 * square;
        for (int step = 0; step < 2 * squares; ++step, ++pair)
          EXPECT_EQ(pair_from_top(step - 2 * square), defined_row_pair(pair, radius));
        for (int step = 2 * squares; step < radius; ++step, ++pair)
          EXPECT_EQ(pair_from_top(2 * squares - 2 * square), defined_row_pair(pair, radius));
        for (int step = 0; step < 2 * squares; ++step, ++pair)
          EXPECT_EQ(pair_to_bottom(step - 2 * square), defined_row_pair(pair, radius));
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
  }
}

TEST(NlMeansProduct, LanesReadFromDifferentBanks) {
  expect_disjoint_banks<ProductKind<2, 1, 1>>();
  expect_disjoint_banks<ProductKind<3, 1, 2>>();
  expect_disjoint_banks<ProductKind<4, 1, 1>>();
}

/// Distances of deep samples combine products of their upper 8 bits and of their lower bits.
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
      SquareSum<Kind> squares[2] = {};
      int high = 0, cross = 0, low = 0;
      for (int i = 0; i < count; ++i) {
        const auto sample = [&] {
          return n < 3 || random.one_in(8) ? (random.one_in(2) ? largest : 0)
                                           : static_cast<std::uint32_t>(random.next()) & largest;
        };
        const std::uint32_t p = n == 0 ? largest : sample(), q = n == 1 ? p : sample();
        expected += std::uint64_t{p > q ? p - q : q - p} * (p > q ? p - q : q - p);
        const std::uint32_t values[2][2] = {{p >> low_bits, p & low_mask},
                                            {q >> low_bits, q & low_mask}};
        squares[0] += std::uint64_t{p} * p;
        squares[1] += std::uint64_t{q} * q;
        high += static_cast<int>(values[0][0] * values[1][0]);
        cross += static_cast<int>(values[0][0] * values[1][1] + values[0][1] * values[1][0]);
        low += static_cast<int>(values[0][1] * values[1][1]);
      }
      const Norm pixel = norm_of<Kind>(squares[0], low_bits);
      const Norm candidate = norm_of<Kind>(squares[1], low_bits);
      for (const int scale_log2 : {0, 1, 2}) {
        const int scale = 1 << scale_log2, candidate_high = static_cast<int>(candidate.high);
        const std::uint32_t limit = joined_limit;
        const int distance =
            Kind::joins_planes
                ? high * (-2 * scale) + (candidate_high - joined_limit) * scale +
                      joined_rest((cross << low_bits) + low,
                                  static_cast<int>(candidate.low + (limit << (2 * low_bits))),
                                  static_cast<int>(pixel.low), 2 * low_bits - scale_log2)
                : scaled_distance(high, cross, low, candidate_high * scale,
                                  static_cast<int>(candidate.low), static_cast<int>(pixel.low),
                                  low_bits, scale_log2, -2 * scale);
        // Joined planes keep more low bits, which the shift drops.
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

}  // namespace
}  // namespace cudavision::test
