// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares optimised arithmetic with straightforward formulas, and tests patches and launch shapes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/clahe/arithmetic.h"
#include "cuda/clahe/count_shape.h"
#include "cuda/clahe/estimate.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace clahe;

/// Calls check(axis) for axes of many sizes, from tiny to the largest.
template <class Check>
void for_each_axis(const Check& check) {
  std::vector<int> sizes = {640, 1080, 1920, 3840, 7680, 65534, 65535};
  for (int size = 1; size < 150; ++size)
    sizes.push_back(size);
  for (const int size : sizes)
    for (int tiles = 1; tiles <= Tiles::range.max; tiles += size < 150 ? 1 : 3)
      for (const int other : {tiles, tiles + 1})  // the height, divisible by `tiles` or not
        check(make_tiling(size, other, Tiles{tiles, tiles}).x);
}

/// Patches begin at cell borders and, with half_tiles, also at tile borders.
TEST(ClahePatches, CoverThePictureAndLieInTheirCells) {
  for_each_axis([](const TiledAxis& axis) {
    const CellBegins cells(axis);
    ASSERT_GE(axis.tiles * axis.tile_size, axis.size);
    ASSERT_LE(axis.tiles * axis.tile_size, axis.size + axis.tiles);
    for (const Patches kind : {Patches::cells, Patches::half_tiles}) {
      const int patches = patches_along(axis, kind);
      ASSERT_EQ(patch_begin(axis, cells, 0, kind), 0);
      ASSERT_EQ(patch_begin(axis, cells, patches, kind), axis.size);
      for (int patch = 0; patch < patches; ++patch) {
        const int begin = patch_begin(axis, cells, patch, kind),
                  end = patch_begin(axis, cells, patch + 1, kind);
        ASSERT_LE(begin, end);
        for (int pixel = begin; pixel < end; ++pixel) {
          const int cell = cell_of_patch(patch, kind);
          ASSERT_EQ(axis.cell_of(pixel), cell)
              << "pixel " << pixel << " of " << axis.size << " in " << axis.tiles << " tiles";
          ASSERT_EQ(axis.weight_in_cell(pixel, cell), axis.weight(pixel));
        }
      }
    }
  });
}

std::uint32_t biased(std::uint32_t level) {
  return level_bias_bits | level;
}

/// Returns the weights of all pixels of common image sizes, extreme weights and random weights.
std::vector<float> usual_weights() {
  std::vector<float> weights = {0.0f, 1.0f, 0x1p-24f, 1.0f - 0x1p-24f};
  for (const int size : {480, 640, 720, 1080, 1280, 1920, 2160, 3840, 1001, 777})
    for (const int tiles : {1, 7, 8, 64}) {
      const TiledAxis axis = make_tiling(size, size, Tiles{tiles, tiles}).x;
      for (int pixel = 0; pixel < axis.size; ++pixel)
        weights.push_back(axis.weight(pixel));
    }
  Random random(2);
  for (int i = 0; i < 20000; ++i)
    weights.push_back(static_cast<float>(random.between(0, 1 << 24)) * 0x1p-24f);
  return weights;
}

TEST(ClaheBiasedLevels, AreInterpolatedAsLevels) {
  Random random(4);
  const std::vector<float> weights = usual_weights();
  for (int i = 0; i < 500000; ++i) {
    const int largest = i % 2 == 0 ? 255 : 65535;
    std::uint32_t four[4];
    for (std::uint32_t& level : four)
      level = static_cast<std::uint32_t>(random.between(0, largest));
    const auto any = [&] {
      return weights[random.between(0, static_cast<int>(weights.size()) - 1)];
    };
    const float right = any(), lower = any();
    const Levels levels = {static_cast<float>(four[0]), static_cast<float>(four[1]),
                           static_cast<float>(four[2]), static_cast<float>(four[3])};
    ASSERT_EQ(level_between({biased(four[0]), biased(four[1]), biased(four[2]), biased(four[3])},
                            right, lower),
              interpolated(levels, right, lower))
        << four[0] << ' ' << four[1] << ' ' << four[2] << ' ' << four[3] << " at " << right << ' '
        << lower;
  }
}

std::uint32_t quad_of(const std::uint32_t (&levels)[4]) {
  return levels[0] | levels[1] << 8 | levels[2] << 16 | levels[3] << 24;
}

/// One axis of an image, and the scale of the integer estimates along it.
struct EstimatedAxis {
  TiledAxis axis;
  EstimateScale scale;

  explicit EstimatedAxis(const TiledAxis& a) : axis(a), scale(a) {}

  EstimateDoubt doubt(int pixel) const {
    return {scale, scale.uncertain_bits[axis.cell_of(pixel)]};
  }
  std::uint32_t weights(int pixel) const {
    return WeightPairs(axis, scale, pixel, axis.cell_of(pixel)).first;
  }
};

/// Stepping from the previous pixel gives the same weights. uncertain_bits bounds their error.
TEST(ClaheEstimates, HaveTheWeightsOfTheirColumns) {
  for_each_axis([](const TiledAxis& axis) {
    const EstimatedAxis columns(axis);
    const std::uint32_t sum = 2 * axis.tile_size * columns.scale.factor;
    ASSERT_LE(sum * 255, std::uint32_t{1} << 23);
    for (int pixel = 0; pixel < axis.size; ++pixel) {
      const int cell = axis.cell_of(pixel);
      const double right = (pixel + 0.5 * axis.tile_size) / axis.tile_size - cell;
      const double difference = std::abs(axis.weight(pixel) - right);
      const int bits = columns.scale.uncertain_bits[cell];
      if (sum == 0) {
        ASSERT_EQ(bits, 15) << "every estimate is in doubt";
        ASSERT_TRUE(columns.doubt(pixel).about(0x7fff));
        continue;
      }
      ASSERT_GE(1 << (bits - 1), 6 + 255 * difference * 32768);
      ASSERT_LE(bits, 8) << "few estimates are in doubt";
      const std::uint32_t weights = columns.weights(pixel);
      ASSERT_EQ((weights & 0xffff) + (weights >> 16), sum);
      ASSERT_NEAR(static_cast<double>(weights >> 16) / sum, right, 1e-9);
      if (pixel == 0)
        continue;
      const WeightPairs before(axis, columns.scale, pixel - 1, axis.cell_of(pixel - 1));
      ASSERT_EQ(before.first + before.step + (axis.cell_of(pixel - 1) == cell ? 0 : before.wrap),
                weights)
          << "pixel " << pixel << " of " << axis.size << " in " << axis.tiles << " tiles";
    }
  });
}

/// An estimate equals interpolated() or is in doubt. If factor > 0, doubts occur only near a half.
TEST(ClaheEstimates, HaveTheLevelUnlessInDoubt) {
  Random random(5);
  int in_doubt = 0, near_halves = 0, estimated = 0;
  for (const int size : {8, 120, 333, 640, 1001, 1366, 1920, 3840, 4096, 7680, 20000, 65535})
    for (const int tiles : {1, 2, 3, 8, 17, 64}) {
      const Tiling tiling = make_tiling(size, size + 1, Tiles{tiles, tiles});
      const EstimatedAxis columns(tiling.x);
      for (int i = 0; i < 20000; ++i) {
        const int x = random.between(0, size - 1), y = random.between(0, size - 1);
        const float right = tiling.x.weight(x), lower = tiling.y.weight(y);
        std::uint32_t four[4];
        double exact = 0, from_half = 1;
        for (int draw = 0; draw < (i % 2 == 0 ? 1 : 30); ++draw) {
          std::uint32_t drawn[4];
          for (std::uint32_t& level : drawn)
            level = i % 3 == 0 ? static_cast<std::uint32_t>(random.between(0, 1)) * 255
                               : static_cast<std::uint32_t>(random.between(0, 255));
          const double value =
              (drawn[0] * (1.0 - right) + drawn[1] * double{right}) * (1.0 - lower) +
              (drawn[2] * (1.0 - right) + drawn[3] * double{right}) * lower;
          const double distance = std::abs(value - std::floor(value) - 0.5);
          if (draw > 0 && distance >= from_half)
            continue;
          from_half = distance;
          exact = value;
          std::copy(drawn, drawn + 4, four);
        }
        const Levels levels = {static_cast<float>(four[0]), static_cast<float>(four[1]),
                               static_cast<float>(four[2]), static_cast<float>(four[3])};
        const EstimateDoubt doubt = columns.doubt(x);
        const std::uint32_t bits = estimate(quad_of(four), columns.weights(x),
                                            estimate_row(columns.scale, lower), doubt.offset);
        near_halves += from_half < 1e-3;
        ++estimated;
        if (columns.scale.factor != 0 && doubt.about(bits)) {
          ++in_doubt;
          ASSERT_LT(from_half, 0.01) << exact;
        }
        if (!doubt.about(bits)) {
          ASSERT_EQ(bits >> 15 & 0xff, interpolated(levels, right, lower))
              << size << " in " << tiles << " tiles at " << x << ", " << y << ": " << four[0] << ' '
              << four[1] << ' ' << four[2] << ' ' << four[3];
        }
      }
    }
  EXPECT_GT(near_halves, estimated / 100);
  EXPECT_GT(in_doubt, estimated / 1000);
  EXPECT_LT(in_doubt, estimated / 10);
}

/// Several blocks share a tile only if all blocks are resident on the GPU at once.
TEST(ClaheCountShape, DividesFewTilesAlone) {
  constexpr int pack_pixels = 16;
  for (const int multiprocessors : {1, 16, 30, 132, 188})
    for (const int tiles : {1, 2, 3, 8, 16, 17, 64})
      for (const int size : {1, 5, 64, 640, 1080, 2160, 7680, 65535})
        for (const bool even : {false, true}) {
          const Tiling tiling = make_tiling(size, size, Tiles{tiles, tiles});
          const CountShape shape = count_shape(tiling, pack_pixels, multiprocessors, even);
          ASSERT_EQ(shape.threads % 32, 0);
          ASSERT_GE(shape.threads, 64);
          ASSERT_LE(shape.threads, kCountThreads);
          ASSERT_GE(shape.parts, 1);
          ASSERT_LE(shape.parts, tiling.y.tile_size);
          if (shape.parts > 1) {
            ASSERT_LE(shape.parts * tiling.tiles() * shape.threads,
                      multiprocessors * 2 * kCountThreads);
            ASSERT_GE(tiling.area() / static_cast<unsigned>(pack_pixels),
                      static_cast<unsigned>(shape.threads));
          }
        }
}

TEST(ClaheBytes, BeforeANumberAreMasked) {
  for (int number = -20; number < 20; ++number)
    for (int byte = 0; byte < 4; ++byte)
      ASSERT_EQ(bytes_before(number) >> (8 * byte) & 0xff, byte < number ? 0xffu : 0u)
          << byte << " before " << number;
}

TEST(ClaheRedistribution, DividesAllBinsExactly) {
  for (const std::uint32_t bins : {256u, 4096u, 65536u})
    for (std::uint32_t residue = 0; residue < bins; residue += residue < 300 ? 1 : 97) {
      const Redistribution redistribution(residue, bins);
      for (std::uint32_t bin = 0; bin < bins; bin += bins == 65536 ? 7 : 1)
        ASSERT_EQ(redistribution.up_to(bin), std::min(bin / redistribution.step + 1, residue))
            << residue << " of " << bins << ", bin " << bin;
    }
}

}  // namespace
}  // namespace cudavision::test
