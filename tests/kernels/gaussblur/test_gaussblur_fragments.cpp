// SPDX-License-Identifier: LGPL-2.1-or-later
// Multiplies the fragments of the GPU's blur as tensor cores do, and compares the sums with a plain
// convolution.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "cuda/gaussblur/fragments.h"
#include "cuda/gaussblur/tables.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

std::uint64_t dot(std::uint32_t left, const std::uint8_t* right) {
  std::uint64_t sum = 0;
  for (int b = 0; b < 4; ++b)
    sum += static_cast<std::uint64_t>(left >> (8 * b) & 0xff) * right[b];
  return sum;
}

/// Returns the coefficient at a distance; the identity kernel's only coefficient is `identity`.
std::uint64_t coefficient(const GaussKernel& kernel, int distance, std::uint32_t identity) {
  if (distance < -kernel.radius() || distance > kernel.radius())
    return 0;
  return kernel.identity() ? identity : kernel.coefficient(distance);
}

template <class Depth>
struct Fragments : testing::Test {
  using Table = ToeplitzTable<Depth>;
  static constexpr int fraction_bits = 8 * Depth::coefficient_bytes;

  Random random{2003};

  std::vector<std::uint8_t> bytes(int count) {
    std::vector<std::uint8_t> bytes(count);
    for (auto& byte : bytes)
      byte = static_cast<std::uint8_t>(random.between(0, 255));
    return bytes;
  }

  static std::uint64_t sample(const std::uint8_t* at) {
    return Depth::sample_bytes == 1 ? at[0] : at[0] | at[1] << 8;
  }

  void check_rows(const RowKernels& kernels, int slices) {
    std::vector<std::uint32_t> table(Table::row_words(slices));
    make_row_table<Depth>(kernels, slices, table.data());
    const int halo = window_halo(slices);
    ASSERT_GE(halo, kernels.halo_bytes());
    const std::vector<std::uint8_t> window = bytes(slice_length * slices);

    std::set<int> positions;  // every sample of a tile's row must occur
    for (int group = 0; group < Depth::groups; ++group)
      for (int i = 0; i < 16; ++i) {
        const int position = byte_of_row<Depth>(group, i);
        positions.insert(position);
        std::uint64_t sum = 0;
        for (int s = 0; s < Depth::row_sums; ++s)
          for (int slice = 0; slice < slices; ++slice)
            for (int t = 0; t < 4; ++t) {
              const bool alone = slice + 1 == slices && slice % 2 == 0;
              const int word =
                  alone ? last_window_word(slice, t) : window_word(slice / 2, t, slice % 2);
              sum += dot(table[Table::row_start(slices, s, group, i) + word], &window[4 * word])
                     << (8 * s);
            }

        const GaussKernel& kernel = *kernels.kernel[position % 4];
        const int step = kernels.step[position % 4];
        std::uint64_t expected = 0;
        for (int d = -kernel.radius(); d <= kernel.radius(); ++d)
          expected += coefficient(kernel, d, identity_in_row<Depth>) *
                      sample(&window[halo + position + d * step]);
        ASSERT_EQ(sum, expected) << "group " << group << ", row " << i << ", " << slices
                                 << " slices, step " << step << ", radius " << kernel.radius();
      }
    ASSERT_EQ(positions.size() * Depth::sample_bytes, tile_bytes);
  }

  void check_columns(const GaussKernel& kernel, int slices) {
    std::vector<std::uint32_t> table(Table::column_words(slices));
    make_column_table<Depth>(kernel, slices, table.data());
    const int halo = column_halo(slices);
    ASSERT_GE(halo, kernel.radius());
    const std::vector<std::uint8_t> column = bytes(slice_length * slices);

    for (int i = 0; i < tile_rows; ++i) {
      std::uint64_t sum = 0, expected = 0;
      for (int byte = 0; byte < Depth::coefficient_bytes; ++byte)
        for (int slice = 0; slice < slices; ++slice)
          for (int t = 0; t < 4; ++t)
            sum += dot(table[Table::column_start(slices, byte, i) + 4 * slice + t],
                       &column[slice_length * slice + 4 * t])
                   << (8 * byte);
      for (int d = -kernel.radius(); d <= kernel.radius(); ++d)
        expected += coefficient(kernel, d, identity_in_column<Depth>) * column[halo + i + d];
      ASSERT_EQ(sum, expected) << "row " << i << ", " << slices << " slices";
    }
  }
};

using Depths = testing::Types<SampleDepth<1, 1>, SampleDepth<1, 2>, SampleDepth<2, 2>>;
TYPED_TEST_SUITE(Fragments, Depths);

// After the first product, lane (g, t) already holds word t of the second product's operand.
TYPED_TEST(Fragments, ResultsBecomeOperandsWithoutChangingLanes) {
  for (int t = 0; t < 4; ++t)
    for (int e = 0; e < 2; ++e)
      for (int q = 0; q < 2; ++q)
        EXPECT_EQ(row_of_column(q, 2 * t + e), 4 * t + 2 * e + q);
}

TYPED_TEST(Fragments, RowsAreConvolved) {
  for (const int size : {1, 3, 5, 15, 31, 101})
    for (const int channels : {1, 2, 3, 4}) {
      const GaussKernel kernel(size, 0, this->fraction_bits);
      RowKernels kernels;
      kernels.kernel.fill(&kernel);
      kernels.step.fill(channels * TypeParam::sample_bytes);
      const int fewest = 2 + (kernels.halo_bytes() + 7) / 8;
      for (const int slices : {fewest, fewest + 1, fewest + 4})
        this->check_rows(kernels, slices);
    }
}

// As in YUY2, every second byte is luma, and each chroma channel has every fourth byte.
TYPED_TEST(Fragments, RowsOfMixedChannelsAreConvolved) {
  if (TypeParam::sample_bytes != 1)
    GTEST_SKIP() << "no layout of 16 bits mixes steps";
  const GaussKernel luma(15, 0, this->fraction_bits), chroma(7, 0, this->fraction_bits);
  const GaussKernel none(this->fraction_bits);
  for (const GaussKernel* other : {&chroma, &none}) {
    RowKernels kernels;
    kernels.kernel = {&luma, other, &luma, other};
    kernels.step = {2, 4, 2, 4};
    this->check_rows(kernels, 4);
    this->check_rows(kernels, 7);
  }
}

TYPED_TEST(Fragments, ColumnsAreSummed) {
  for (const int size : {1, 3, 5, 17, 33, 101}) {
    const GaussKernel kernel(size, 0, this->fraction_bits);
    const int fewest = 1 + (kernel.radius() + 7) / 8;
    for (const int slices : {fewest, fewest + 1, fewest + 3})
      this->check_columns(kernel, slices);
  }
}

std::uint32_t lane_factor(const std::vector<std::uint32_t>& factors, int lane, int number) {
  return factors[number / 4 * 128 + lane * 4 + number % 4];
}

TYPED_TEST(Fragments, FactorsEqualTheTables) {
  using Table = ToeplitzTable<TypeParam>;
  using Factors = LaneFactors<TypeParam>;
  const GaussKernel kernel(15, 0, this->fraction_bits);
  RowKernels kernels;
  kernels.kernel.fill(&kernel);
  kernels.step.fill(TypeParam::sample_bytes);
  for (const int row_slices : {4, 5})
    for (const int column_slices : {2, 3}) {
      std::vector<std::uint32_t> rows(Table::row_words(row_slices));
      std::vector<std::uint32_t> columns(Table::column_words(column_slices));
      make_row_table<TypeParam>(kernels, row_slices, rows.data());
      make_column_table<TypeParam>(kernel, column_slices, columns.data());
      std::vector<std::uint32_t> factors(Factors::words(row_slices, column_slices));
      make_factors<TypeParam>(rows.data(), row_slices, columns.data(), column_slices,
                              factors.data());

      for (int lane = 0; lane < 32; ++lane) {
        const int g = lane / 4, t = lane % 4;
        const auto factor = [&](int number) { return lane_factor(factors, lane, number); };
        for (int half = 0; half < 2; ++half) {
          for (int group = 0; group < TypeParam::groups; ++group)
            for (int sum = 0; sum < TypeParam::row_sums; ++sum)
              for (int k = 0; k < row_slices; ++k) {
                const int word = k == 4 ? last_window_word(k, t) : window_word(k / 2, t, k % 2);
                EXPECT_EQ(factor(Factors::row_word(row_slices, group, sum, k, half)),
                          rows[Table::row_start(row_slices, sum, group, g + 8 * half) + word]);
              }
          for (int byte = 0; byte < TypeParam::coefficient_bytes; ++byte)
            for (int k = 0; k < column_slices; ++k)
              EXPECT_EQ(
                  factor(Factors::column_word(row_slices, column_slices, byte, k, half)),
                  columns[Table::column_start(column_slices, byte, g + 8 * half) + 4 * k + t]);
        }
      }
    }
}

/* The tests below are about pixels of four bytes. Word t of each slice holds four neighbouring
   samples of a channel. */

// A lane's four sums along x form its operand word of the second product. Its results of the second
// product are four neighbouring pixels.
TEST(PixelFragments, ResultsBecomeOperandsAndPixelsWithoutChangingLanes) {
  for (int t = 0; t < 4; ++t)
    for (int e = 0; e < 2; ++e) {
      for (int q = 0; q < 2; ++q)
        EXPECT_EQ(pixel_row_of_column(q, 2 * t + e), 4 * t + 2 * q + e);
      for (int half = 0; half < 2; ++half)
        EXPECT_EQ(pixel_of_row(2 * t + e + 8 * half), 4 * t + 2 * half + e);
    }
}

TEST(PixelFragments, ChannelsAreConvolvedAlongBothAxes) {
  Random random(2005);
  for (const int size_x : {1, 3, 15, 17, 31})
    for (const int size_y : {1, 5, 31}) {
      const GaussKernel x(size_x, 0, 8), y(size_y, 0, 8);
      const auto slices = [](const GaussKernel& kernel) { return kernel.radius() <= 8 ? 2 : 3; };
      const int row_slices = slices(x), column_slices = slices(y);
      std::vector<std::uint32_t> factors(LaneFactors<PixelDepth>::words(row_slices, column_slices));
      make_pixel_factors(x, row_slices, y, column_slices, factors.data());

      std::vector<std::uint8_t> window(static_cast<std::size_t>(3 * slice_length));
      for (auto& byte : window)
        byte = static_cast<std::uint8_t>(random.between(0, 255));
      const auto check = [&](const GaussKernel& kernel, int first, int count, bool along_x) {
        std::set<int> centres;
        for (int i = 0; i < 16; ++i) {
          std::uint64_t sum = 0, expected = 0;
          for (int k = 0; k < count; ++k)
            for (int t = 0; t < 4; ++t)
              sum += dot(lane_factor(factors, 4 * (i % 8) + t, first + 2 * k + i / 8),
                         &window[slice_length * k + 4 * t]);
          const int centre = column_halo(count) + (along_x ? pixel_of_row(i) : i);
          centres.insert(centre);
          for (int d = -kernel.radius(); d <= kernel.radius(); ++d)
            expected += coefficient(kernel, d, identity_of_pixels) * window[centre + d];
          ASSERT_EQ(sum, expected)
              << size_x << "×" << size_y << ", along " << (along_x ? 'x' : 'y') << ", row " << i;
        }
        ASSERT_EQ(centres.size(), 16u);
      };
      check(x, 0, row_slices, true);
      check(y, 2 * row_slices, column_slices, false);
    }
}

}  // namespace
}  // namespace cudavision::test
