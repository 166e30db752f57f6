// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the parameters of the GPU's direct kernel, partly by emulating its dot products.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/gaussblur/arguments.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

constexpr int fraction_bits = 8;

struct UniformPlane {
  Plane plane;
  RowKernels along_x;

  UniformPlane(int step, int width, int rows, const GaussKernel& x) {
    for (int phase = 0; phase < 4; ++phase) {
      plane.grids[phase] = {step, width};
      along_x.kernel[phase] = &x;
      along_x.step[phase] = step;
      if (x.identity())
        plane.row_identity |= 1 << phase;
    }
    plane.rows = rows;
    plane.row_bytes = plane.inner_bytes = step * width;
    plane.period = step;
    plane.row_radius = along_x.halo_bytes();
  }
  std::optional<DirectPlane> described(Border border, const GaussKernel& y) const {
    return describe_direct(plane, border, along_x, y);
  }
};

GaussKernel kernel(int size) {
  return GaussKernel(size, size, fraction_bits);
}

std::uint32_t word_at(const std::vector<std::uint8_t>& row, int position) {
  std::uint32_t word = 0;
  for (int b = 0; b < 4; ++b)
    word |= static_cast<std::uint32_t>(row[position + b]) << (8 * b);
  return word;
}

/// Emulates CUDA's __byte_perm().
std::uint32_t permuted(std::uint32_t first, std::uint32_t second, std::uint32_t selector) {
  const std::uint64_t bytes = first | static_cast<std::uint64_t>(second) << 32;
  std::uint32_t word = 0;
  for (int b = 0; b < 4; ++b)
    word |= static_cast<std::uint32_t>(bytes >> (8 * (selector >> (4 * b) & 7)) & 0xff) << (8 * b);
  return word;
}

std::uint32_t dot(std::uint32_t left, std::uint32_t right) {
  std::uint32_t sum = 0;
  for (int b = 0; b < 4; ++b)
    sum += (left >> (8 * b) & 0xff) * (right >> (8 * b) & 0xff);
  return sum;
}

/// Computes a row's sums along x as the kernel does: dot products of 4-byte words and factors.
std::vector<std::uint32_t> sums_by_words(const DirectPlane& direct,
                                         const std::vector<std::uint8_t>& row) {
  const int bytes = static_cast<int>(row.size());
  std::vector<std::uint32_t> words{permuted(word_at(row, 4), word_at(row, 0), direct.before_row)};
  for (int i = 0; i < bytes; i += 4)
    words.push_back(word_at(row, i));
  words.push_back(permuted(word_at(row, bytes - 8), word_at(row, bytes - 4), direct.after_row));
  std::vector<std::uint32_t> sums;
  for (std::size_t i = 0; i < row.size(); ++i) {
    sums.push_back(0);
    for (std::size_t w = 0; w < 3; ++w) {
      const std::uint32_t factors = direct.row_factors[i % 4][w];
      sums.back() += dot(words[i / 4 + w], factors);
      // The kernel skips these products unless the plane is `wide`.
      if (!direct.wide && w == (i % 4 < 2 ? 2u : 0u)) {
        EXPECT_EQ(factors, 0u) << "byte " << i;
      }
    }
  }
  return sums;
}

std::uint32_t plain_sum(const std::vector<std::uint8_t>& row, int step, Border border,
                        const GaussKernel& kernel, int byte) {
  std::uint32_t sum = 0;
  for (int d = -kernel.radius(); d <= kernel.radius(); ++d) {
    const int source = border_index(byte / step + d, static_cast<int>(row.size()) / step, border);
    sum += kernel.coefficient(d) * row[source * step + byte % step];
  }
  return sum;
}

struct Shape {
  int step, size;
};
constexpr Shape shapes[] = {{1, 3}, {1, 5}, {1, 7}, {1, 9}, {2, 3}, {2, 5}, {3, 3}, {4, 3}};

TEST(DirectPlane, SumsOfRowsAreThePlainOnes) {
  Random random(2101);
  for (const Shape& shape : shapes)
    for (const int width : {8, 16, 24, 264})
      for (const Border border : {Border::reflect_101, Border::replicate, Border::reflect}) {
        SCOPED_TRACE(testing::Message() << shape.size << " taps, step " << shape.step << ", "
                                        << width << " samples, border " << int(border));
        const GaussKernel x = kernel(shape.size), y = kernel(3);
        const auto direct = UniformPlane(shape.step, width, 8, x).described(border, y);
        ASSERT_TRUE(direct);
        std::vector<std::uint8_t> row(static_cast<std::size_t>(width * shape.step));
        for (auto& byte : row)
          byte = static_cast<std::uint8_t>(random.between(0, 255));
        const auto sums = sums_by_words(*direct, row);
        for (std::size_t i = 0; i < row.size(); ++i)
          ASSERT_EQ(sums[i], plain_sum(row, shape.step, border, x, static_cast<int>(i)))
              << "byte " << i;
      }
}

TEST(DirectPlane, FactorsOfRowPairsAreTheCoefficientsAlongY) {
  const GaussKernel x = kernel(5);
  for (const int size : {3, 5}) {
    const GaussKernel y = kernel(size);
    const auto direct = UniformPlane(1, 16, 8, x).described(Border::reflect_101, y);
    ASSERT_TRUE(direct);
    for (int lower = 0; lower < 2; ++lower)
      for (int row = 0; row < 2 * (DirectPlane::max_radius + 1); ++row) {
        // Rows −2 to 3 contribute to the results in rows 0 and 1.
        const int distance = row - DirectPlane::max_radius - lower;
        const bool counts = distance >= -y.radius() && distance <= y.radius();
        EXPECT_EQ(direct->column_factors[row / 2] >> (16 * lower + 8 * (row % 2)) & 0xff,
                  counts ? y.coefficient(distance) : 0)
            << size << " taps, row " << row << ", result " << lower;
      }
  }
}

TEST(DirectPlane, RowsBeyondAreTheBorders) {
  const GaussKernel x = kernel(5);
  for (const int rows : {4, 5, 9, 1080})
    for (const Border border : {Border::reflect_101, Border::replicate, Border::reflect}) {
      const auto direct = UniformPlane(1, 16, rows, x).described(border, x);
      ASSERT_TRUE(direct);
      const auto& beyond = direct->rows_beyond;
      for (int d = 1; d <= DirectPlane::max_radius; ++d) {
        EXPECT_EQ(-d * beyond.factor + beyond.above, border_index(-d, rows, border));
        EXPECT_EQ((rows - 1 + d) * beyond.factor + beyond.below,
                  border_index(rows - 1 + d, rows, border));
      }
      // A thread may read one row further, which must exist.
      const int after = (rows + DirectPlane::max_radius) * beyond.factor + beyond.below;
      EXPECT_GE(after, 0);
      EXPECT_LT(after, rows);
    }
}

TEST(DirectPlane, RefusesPlanesThatItCannotBlur) {
  const GaussKernel few = kernel(5), many = kernel(11), none(1, 0, fraction_bits);
  const auto possible = [](const UniformPlane& plane, Border border, const GaussKernel& y) {
    return plane.described(border, y).has_value();
  };
  const UniformPlane good(1, 64, 48, few);
  ASSERT_TRUE(possible(good, Border::reflect_101, few));
  EXPECT_FALSE(possible(good, Border::constant, few)) << "no word of the row holds the constant";
  EXPECT_FALSE(possible(good, Border::wrap, few)) << "neither word at an end holds the other end";
  EXPECT_FALSE(possible(good, Border::reflect_101, none)) << "256 does not fit a byte";
  EXPECT_FALSE(possible(good, Border::reflect_101, kernel(7))) << "needs more rows than slots";
  EXPECT_FALSE(possible(UniformPlane(1, 64, 48, none), Border::reflect_101, few))
      << "256 does not fit a byte";
  EXPECT_FALSE(possible(UniformPlane(1, 64, 48, many), Border::reflect_101, few))
      << "needs samples five bytes away";
  EXPECT_FALSE(possible(UniformPlane(4, 16, 48, few), Border::reflect_101, few))
      << "needs samples eight bytes away";
  EXPECT_FALSE(possible(UniformPlane(1, 63, 48, few), Border::reflect_101, few))
      << "the last thread has fewer bytes than the others";
  EXPECT_FALSE(possible(UniformPlane(1, 64, 3, few), Border::reflect_101, few))
      << "rows are mirrored more than once";
  UniformPlane copied = good, ragged = good, mixed = good;
  copied.plane.copied = 1;
  EXPECT_FALSE(possible(copied, Border::reflect_101, few)) << "some bytes are copied";
  ragged.plane.inner_bytes -= 1;
  EXPECT_FALSE(possible(ragged, Border::reflect_101, few)) << "bytes follow the samples";
  mixed.plane.grids[1].step = 2;
  EXPECT_FALSE(possible(mixed, Border::reflect_101, few)) << "the steps differ";
}

}  // namespace
}  // namespace cudavision::test
