// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/integral/integral_definition.h"

namespace cudavision::test {
namespace {

using namespace integral;

CUDAVISION_RANDOM_CASES(IntegralCases, make_integral_case);

/// Tiny, narrow and low frames, and frames with the largest sums.
struct Picture : Extreme<Parameters> {
  int picture_bits;
};

constexpr auto sum = TableKind::sum, squared_sum = TableKind::squared_sum,
               tilted_sum = TableKind::tilted_sum;
constexpr auto uint32 = TableElement::uint32, uint64 = TableElement::uint64,
               float32 = TableElement::float32, float64 = TableElement::float64;

constexpr Picture extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, {sum, uint32}, 8},
    {"OnePixelSquared16", "GRAY16", 1, 1, Content::maximum, {squared_sum, uint32}, 8},
    {"OnePixelTilted", "GRAY8", 1, 1, Content::random, {tilted_sum, uint32}, 8},
    {"OnePixelRgb", "RGB", 1, 1, Content::random, {sum, float32}, 0},
    {"OnePixelYuy2", "YUY2", 1, 1, Content::random, {squared_sum, float64}, 0},
    {"TwoPixels", "GRAY8", 2, 1, Content::random, {tilted_sum, uint32}, 0},
    {"Zeros", "GRAY8", 99, 55, Content::zeros, {sum, uint32}, 8},
    {"ZerosTilted", "GRAY16", 99, 55, Content::zeros, {tilted_sum, float32}, 16},
    {"OneRow", "GRAY8", 65535, 1, Content::natural, {sum, uint32}, 8},
    {"OneRow16", "GRAY16", 65535, 1, Content::maximum, {sum, uint32}, 16},
    {"OneRowSquared16", "GRAY16", 65535, 1, Content::maximum, {squared_sum, uint64}, 16},
    {"OneRowSquaredModulo", "GRAY16", 65535, 1, Content::random, {squared_sum, uint32}, 0},
    {"OneRowTilted", "GRAY8", 65535, 1, Content::random, {tilted_sum, uint32}, 8},
    {"OneColumn16", "GRAY16", 1, 65535, Content::maximum, {sum, uint32}, 16},
    {"OneColumnSquared16", "GRAY16", 1, 65535, Content::maximum, {squared_sum, uint64}, 8},
    {"OneColumnSquaredModulo", "GRAY16", 1, 65535, Content::random, {squared_sum, uint32}, 0},
    {"OneColumnTilted", "GRAY8", 1, 65535, Content::random, {tilted_sum, uint32}, 8},
    {"OneColumnFloat", "GRAY16", 1, 65535, Content::random, {squared_sum, float64, true}, 0},
    {"ThreeColumnsTilted", "GRAY8", 3, 65535, Content::random, {tilted_sum, uint32}, 0},
    {"ThreeRowsTilted", "GRAY8", 65535, 3, Content::random, {tilted_sum, uint32}, 0},
    {"WideTilted", "GRAY8", 2049, 65, Content::random, {tilted_sum, uint32}, 8},
    {"HighTilted", "GRAY8", 65, 2049, Content::random, {tilted_sum, uint32}, 16},
    {"SquareTilted16", "GRAY16", 513, 511, Content::maximum, {tilted_sum, uint64}, 16},
    {"TiltedModulo", "GRAY16", 701, 403, Content::maximum, {tilted_sum, uint32}, 0},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, {squared_sum, float64}, 0},
    {"FullHdRgbx", "RGBx", 1920, 1080, Content::natural, {squared_sum, uint64}, 16},
    {"FullHdSquared16", "GRAY16", 1920, 1080, Content::maximum, {squared_sum, uint64}, 16},
    {"FullHdSquaredFloat16", "GRAY16", 1920, 1080, Content::maximum, {squared_sum, float32}, 0},
    // Some of these sums are odd and larger than 2^53, so binary64 must round them.
    {"QhdSquaredDouble16", "GRAY16", 2560, 1440, Content::maximum, {squared_sum, float64}, 0},
    {"Uhd8kWide", "GRAY8", 7680, 4320, Content::maximum, {sum, uint64}, 8},
};

std::vector<IntegralCase> dense(const Picture& picture) {
  return {plain_integral_case(layout_named(picture.layout, picture.width, picture.height),
                              picture.parameters, picture.content, 77, picture.picture_bits)};
}

CUDAVISION_TABLE_CASES(IntegralExtremes, extremes, dense);

/// Compares CUDA with the CPU only, because the definition of tilted sums is too slow for 8K.
TEST(IntegralLarge, CudaEqualsCpuInTiltedSums) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(7680 * 4320);
  CudaTestDevice device;
  for (const char* layout : {"GRAY8", "GRAY16"})
    for (const TableElement element : table_elements)
      expect_equal_devices(
          *device, plain_integral_case(layout_named(layout, 7680, 4320), {tilted_sum, element},
                                       Content::maximum, 78));
}

}  // namespace
}  // namespace cudavision::test
