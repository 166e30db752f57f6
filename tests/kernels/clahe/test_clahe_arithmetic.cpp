// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the arithmetic that the kernels share with the CPU with its plain form.

#include <limits>
#include <vector>

#include "cuda/clahe/arithmetic.h"
#include "cuda/core/border.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/common/rounding.h"

namespace cudavision::test {
namespace {

using namespace clahe;

TEST(ClaheRounding, RoundsHalvesToEven) {
  for (int i = 0; i < 70000; ++i)
    for (const float fraction : {0.0f, 0.25f, 0.5f, 0.75f}) {
      const float value = static_cast<float>(i) + fraction;
      ASSERT_EQ(clahe::rounded(value), nearest(value)) << value;
      const float above = std::nextafter(value, 1e9f);
      ASSERT_EQ(clahe::rounded(above), nearest(above)) << above;
    }
}

/// Calls check(axis) for axes of many sizes, among them the largest and those smaller than their
/// grid.
template <class Check>
void for_each_axis(const Check& check) {
  std::vector<int> sizes = {640, 1080, 1920, 3840, 7680, 65534, 65535};
  for (int size = 1; size < 150; ++size)
    sizes.push_back(size);
  for (const int size : sizes)
    for (int tiles = 1; tiles <= Tiles::range.max; tiles += size < 150 ? 1 : 3)
      for (const int other : {tiles, tiles + 1})  // the other dimension is divisible, or not
        check(make_tiling(size, other, Tiles{tiles, tiles}).x);
}

TEST(ClaheCells, BeginWhereThePositionReachesThem) {
  for_each_axis([](const TiledAxis& axis) {
    ASSERT_GE(axis.tiles * axis.tile_size, axis.size);
    ASSERT_LE(axis.tiles * axis.tile_size, axis.size + axis.tiles);
    int cell = 0;
    for (int pixel = 0; pixel < axis.size; ++pixel)
      for (; cell <= axis.cell_of(pixel); ++cell)
        ASSERT_EQ(axis.cell_begin(cell), pixel)
            << "cell " << cell << " of " << axis.size << " pixels in " << axis.tiles << " tiles";
    for (; cell <= axis.cells(); ++cell)
      ASSERT_EQ(axis.cell_begin(cell), axis.size) << "cell " << cell;
  });
}

TEST(ClaheCells, HaveTheTilesOnBothSides) {
  const TiledAxis axis = make_tiling(640, 480, {8, 8}).x;
  EXPECT_EQ(axis.cells(), 9);
  EXPECT_EQ(axis.tile_before(0), 0);
  EXPECT_EQ(axis.tile_after(0), 0);
  EXPECT_EQ(axis.tile_before(3), 2);
  EXPECT_EQ(axis.tile_after(3), 3);
  EXPECT_EQ(axis.tile_before(8), 7);
  EXPECT_EQ(axis.tile_after(8), 7);
  EXPECT_EQ(axis.cell_begin(1), 40);
  EXPECT_EQ(axis.cell_begin(8), 600);
  EXPECT_EQ(axis.cell_begin(9), 640);
}

TEST(ClaheCells, HaveTheWeightsOfTheirPixels) {
  for_each_axis([](const TiledAxis& axis) {
    for (int pixel = 0; pixel < axis.size; ++pixel)
      ASSERT_EQ(axis.weight_in_cell(pixel, axis.cell_of(pixel)), axis.weight(pixel))
          << "pixel " << pixel << " of " << axis.size << " in " << axis.tiles << " tiles";
  });
}

TEST(ClahePatches, CoverThePictureAndLieInTheirCells) {
  for_each_axis([](const TiledAxis& axis) {
    const CellBegins cells(axis);
    for (const Patches kind : {Patches::cells, Patches::half_tiles}) {
      const int patches = patches_along(axis, kind);
      ASSERT_EQ(patch_begin(axis, cells, 0, kind), 0);
      ASSERT_EQ(patch_begin(axis, cells, patches, kind), axis.size);
      for (int patch = 0; patch < patches; ++patch) {
        const int begin = patch_begin(axis, cells, patch, kind),
                  end = patch_begin(axis, cells, patch + 1, kind);
        ASSERT_LE(begin, end);
        for (int pixel = begin; pixel < end; ++pixel)
          ASSERT_EQ(axis.cell_of(pixel), cell_of_patch(patch, kind))
              << "pixel " << pixel << " of " << axis.size << " in " << axis.tiles << " tiles";
      }
    }
  });
}

std::uint32_t biased(std::uint32_t level) {
  return level_bias_bits | level;
}

/// The weights of all pixels of usual pictures, those between which they lie, and the limits.
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

TEST(ClaheBiasedLevels, HaveTheProductsOfTheLevels) {
  Random random(3);
  for (const float weight : usual_weights()) {
    for (std::uint32_t level = 0; level < 256; ++level)
      ASSERT_EQ(product(biased(level), BiasedWeight(weight)), static_cast<float>(level) * weight)
          << level << " · " << weight;
    for (int i = 0; i < 20; ++i) {
      const auto level = static_cast<std::uint32_t>(random.between(0, 65535));
      ASSERT_EQ(product(biased(level), BiasedWeight(weight)), static_cast<float>(level) * weight)
          << level << " · " << weight;
    }
  }
}

TEST(ClaheBiasedLevels, AreInterpolatedAsLevels) {
  Random random(4);
  const std::vector<float> weights = usual_weights();
  for (int i = 0; i < 2000000; ++i) {
    const int largest = i % 2 == 0 ? 255 : 65535;
    std::uint32_t four[4];
    for (std::uint32_t& level : four)
      level = static_cast<std::uint32_t>(random.between(0, largest));
    const auto any = [&] {
      return weights[static_cast<std::size_t>(
          random.between(0, static_cast<int>(weights.size()) - 1))];
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

TEST(ClaheRuns, AreTheReflectedPositionsInAnyOrder) {
  for (int size = 1; size <= 70; ++size)
    for (int begin = 0; begin < 140; begin += 1 + begin / 3) {
      const int end = begin + 1 + size % 7 * 20;
      std::vector<int> expected(static_cast<std::size_t>(size), 0), actual = expected;
      for (int place = begin; place < end; ++place)
        ++expected[static_cast<std::size_t>(border_index(place, size, Border::reflect_101))];
      for (int place = begin; place < end;) {
        const auto run = reflected_run(place, end, size);
        ASSERT_GE(run.count, 1);
        ASSERT_GE(run.first, 0);
        ASSERT_LE(run.first + run.count, size);
        for (int i = 0; i < run.count; ++i)
          ++actual[static_cast<std::size_t>(run.first + i)];
        place += run.count;
        ASSERT_LE(place, end);
      }
      ASSERT_EQ(actual, expected) << begin << " to " << end << " of " << size;
    }
}

TEST(ClaheRedistribution, GivesWhatOneByOneGives) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const auto bins = static_cast<std::uint32_t>(1 << random.between(8, 16));
    const auto excess = static_cast<std::uint32_t>(random.log_uniform(1 << 20) - 1);
    std::vector<std::uint32_t> more(bins, excess / bins);
    std::uint32_t residue = excess % bins;
    const std::uint32_t step = residue ? std::max(bins / residue, 1u) : 1;
    for (std::uint32_t bin = 0; bin < bins && residue > 0; bin += step, --residue)
      ++more[bin];
    const Redistribution redistribution(excess, bins);
    std::uint32_t sum = 0;
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
      sum += more[bin];
      ASSERT_EQ(redistribution.up_to(bin), sum) << excess << " pixels over " << bins << " bins";
    }
    ASSERT_EQ(sum, excess);
  }
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

TEST(ClaheClipCount, IsAtMinOneAndTruncated) {
  constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(clip_count(2, 4800, 256), 37u);
  EXPECT_EQ(clip_count(2, 100, 256), 1u);
  EXPECT_EQ(clip_count(1e-300, 4800, 256), 1u);
  EXPECT_EQ(clip_count(0, 4800, 256), unlimited);
  EXPECT_EQ(clip_count(-3, 4800, 256), unlimited);
  EXPECT_EQ(clip_count(1e300, 4800, 256), unlimited);
  EXPECT_EQ(clip_count(256, 4294836225u, 256), 4294836225u);
}

}  // namespace
}  // namespace cudavision::test
