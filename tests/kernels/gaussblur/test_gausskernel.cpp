// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/core/border.h"
#include "cuda/gaussblur/gausskernel.h"
#include "tests/kernels/common/settings.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

constexpr Border borders[] = {Border::reflect_101, Border::replicate, Border::reflect, Border::wrap,
                              Border::constant};

std::vector<std::int64_t> coefficients(const GaussKernel& kernel, int radius) {
  std::vector<std::int64_t> values;
  for (int i = -radius; i <= radius; ++i)
    values.push_back(kernel.coefficient(i));
  return values;
}

void expect_definition(int size, double sigma, int fraction_bits) {
  SCOPED_TRACE("size " + std::to_string(size) + ", sigma " + std::to_string(sigma) + ", " +
               std::to_string(fraction_bits) + " bits");
  const GaussKernel kernel(size, sigma, fraction_bits);
  const auto expected = defined_kernel(size, sigma, fraction_bits);
  ASSERT_EQ(coefficients(kernel, size / 2), expected);

  int radius = 0;
  std::int64_t sum = 0;
  for (int i = 0; i < size; ++i) {
    const std::int64_t value = expected[i];
    ASSERT_GE(value, 0);
    sum += value;
    if (value != 0)
      radius = std::max(radius, std::abs(i - size / 2));
  }
  ASSERT_EQ(sum, std::int64_t{1} << fraction_bits);
  ASSERT_EQ(kernel.radius(), radius);
  ASSERT_EQ(kernel.identity(), radius == 0);
  ASSERT_EQ(kernel.identity(), kernel.coefficient(0) == 1u << fraction_bits);
  for (int i = size / 2 + 1; i <= GaussKernel::max_radius; ++i)
    ASSERT_EQ(kernel.coefficient(i), 0u) << "coefficient " << i << ", beyond the edge";
}

TEST(GaussKernel, EverySizeWithItsUsualSigma) {
  for (int size = 1; size <= GaussKernel::max_size; size += 2)
    for (const int bits : {8, 16})
      expect_definition(size, 0, bits);
}

TEST(GaussKernel, EverySigmaWithItsUsualSize) {
  for (int i = 1; i <= 127 * 32; ++i)
    for (const int sample_bits : {8, 16})
      expect_definition(GaussKernel::size_for(i / 32.0, sample_bits), i / 32.0, sample_bits);
}

TEST(GaussKernel, ExtremeSigmas) {
  for (const double sigma : {5e-324, 1e-300, 1e-20, 1e-3, 0.1, 127.0})
    for (const int size : {1, 3, 1023})
      for (const int bits : {8, 16})
        expect_definition(size, sigma, bits);
}

TEST(GaussKernel, SizeBySigma) {
  // The size is 6σ + 1 for 8 bits and 8σ + 1 for deeper samples, rounded half to even and made odd.
  for (int i = 1; i <= 127 * 64; ++i)
    for (const int bits : {8, 9, 10, 12, 16})
      ASSERT_EQ(GaussKernel::size_for(i / 64.0, bits), defined_kernel_size(i / 64.0, bits))
          << "sigma " << i / 64.0 << ", " << bits << " bits";
}

TEST(GaussKernel, TheIdentity) {
  for (const int bits : {8, 16}) {
    const GaussKernel identity(bits);
    EXPECT_EQ(identity, GaussKernel(1, 0, bits));
    EXPECT_EQ(identity, GaussKernel(3, 0.1, bits)) << "the outer coefficients round to 0";
    EXPECT_NE(identity, GaussKernel(3, 0, bits));
  }
  EXPECT_NE(GaussKernel(8), GaussKernel(16));
}

TEST(BorderIndex, MatchesTheDefinition) {
  for (const Border border : borders)
    for (int count = 1; count <= 40; ++count)
      for (int index = -1100; index <= 1100; ++index)
        ASSERT_EQ(border_index(index, count, border), defined_border_index(index, count, border))
            << "border " << static_cast<int>(border) << ", " << count << " samples";
}

}  // namespace
}  // namespace cudavision::test
