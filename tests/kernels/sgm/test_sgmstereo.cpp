// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SgmStereo on the CPU device against the definition, and on the CUDA device against the CPU
// device, in every byte.

#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

// Two that differ in every bit, so that a byte which is not written shows in one run or the other.
constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

/// Runs the case on device three times, another pair in between, and compares all of what it wrote.
void expect_blocks(Device& device, const SgmCase& test, const SgmInput& input,
                   const SgmOutput& expected) {
  SgmRunner runner(device, test);
  const SgmOutput output = runner.run(input, poison);
  ASSERT_EQ(difference(test, expected, output), "");

  SgmCase another = test;
  another.content = Content::random;
  another.content_seed += 1;
  runner.run(input_blocks(another), poison);
  const SgmOutput again = runner.run(input, other_poison);
  ASSERT_EQ(hash(test, again), hash(test, output)) << "a second run gives something else";
}

void expect_definition(const SgmCase& test) {
  SCOPED_TRACE(describe(test));
  const auto device = make_cpu_device();
  const SgmInput input = input_blocks(test);
  expect_blocks(*device, test, input, defined_blocks(test, input, poison));
}

void expect_equal_devices(Device& cuda, const SgmCase& test) {
  SCOPED_TRACE(describe(test));
  const auto cpu = make_cpu_device();
  const SgmInput input = input_blocks(test);
  expect_blocks(cuda, test, input, SgmRunner(*cpu, test).run(input, poison));
}

class SgmCases : public LayoutCases {};

TEST_P(SgmCases, CpuEqualsDefinition) {
  for_each_case(make_sgm_case, expect_definition);
}

TEST_P(SgmCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_sgm_case, [&](const SgmCase& test) { expect_equal_devices(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, SgmCases, every_layout(), layout_name);

/// What is unlike the defaults.
using Change = void (*)(sgm::Parameters&);

/// Pictures and parameters at the ends of what there may be.
struct Extreme {
  const char* name;
  const char* layout;
  int width, height;
  Content content;
  Change change;
};

using Census = sgm::Parameters::Census;
using Compatibility = sgm::Parameters::Compatibility;

const Extreme extremes[] = {
    // Smaller than a census, a median, a search; down to a single pixel.
    {"OnePixel", "GRAY8", 1, 1, Content::random, [](sgm::Parameters&) {}},
    {"OnePixelFilled", "GRAY8", 1, 1, Content::random,
     [](sgm::Parameters& p) { p.median = false, p.fill_holes = true; }},
    {"OnePixelLargest", "GRAY16", 1, 1, Content::random,
     [](sgm::Parameters& p) { p.disparities = 1024, p.census = Census::neighbours_9x7; }},
    {"TwoByTwo", "RGB", 2, 2, Content::random, [](sgm::Parameters& p) { p.fill_holes = true; }},
    {"OneRow", "GRAY8", 999, 1, Content::random, [](sgm::Parameters& p) { p.median = false; }},
    {"OneColumn", "GRAY8", 1, 999, Content::random, [](sgm::Parameters& p) { p.median = false; }},
    {"OneRowLibsgm", "GRAY8", 333, 1, Content::random,
     [](sgm::Parameters& p) { p.compatibility = Compatibility::libsgm; }},
    {"WidestRow", "GRAY8", 65535, 1, Content::natural,
     [](sgm::Parameters& p) { p.disparities = 32; }},
    {"HighestColumn", "GRAY8", 1, 65535, Content::natural,
     [](sgm::Parameters& p) { p.disparities = 32, p.median = false; }},
    {"SevenRows", "GRAY8", 130, 7, Content::random,
     [](sgm::Parameters& p) { p.compatibility = Compatibility::libsgm; }},
    // The ends of the search.
    {"LargestMinimum", "GRAY8", 140, 9, Content::random,
     [](sgm::Parameters& p) { p.minimum = 2047 - 128; }},
    {"LeastMinimum", "GRAY8", 140, 9, Content::random,
     [](sgm::Parameters& p) { p.minimum = -2047; }},
    {"LeastMinimumLibsgm", "GRAY8", 140, 9, Content::random,
     [](sgm::Parameters& p) { p.minimum = -2047, p.compatibility = Compatibility::libsgm; }},
    {"MostDisparities", "GRAY8", 1100, 3, Content::random,
     [](sgm::Parameters& p) { p.disparities = 1024, p.median = false; }},
    {"MinimumBeforeZero", "GRAY8", 211, 33, Content::natural,
     [](sgm::Parameters& p) { p.minimum = -64; }},
    // Costs and sums at their largest.
    {"LargestPenalties31", "GRAY8", 90, 45, Content::random,
     [](sgm::Parameters& p) { p.p1 = 223, p.p2 = 224, p.adaptive_p2 = false; }},
    {"LargestPenalties62", "GRAY16", 90, 45, Content::random,
     [](sgm::Parameters& p) { p.p1 = 192, p.p2 = 193, p.census = Census::neighbours_9x7; }},
    {"LargestPenalties24", "GRAY8", 90, 45, Content::two_valued,
     [](sgm::Parameters& p) { p.p1 = 1, p.p2 = 231, p.census = Census::neighbours_5x5; }},
    {"LeastPenalties", "GRAY8", 90, 45, Content::random,
     [](sgm::Parameters& p) { p.p1 = 1, p.p2 = 2; }},
    // Nothing to see: sums that are all alike, and all 0.
    {"Black", "GRAY8", 90, 45, Content::zeros, [](sgm::Parameters& p) { p.fill_holes = true; }},
    {"BlackLibsgm", "GRAY8", 90, 45, Content::zeros,
     [](sgm::Parameters& p) { p.compatibility = Compatibility::libsgm, p.lr_max_diff = -1; }},
    {"BlackWithoutUniqueness", "GRAY8", 90, 45, Content::zeros,
     [](sgm::Parameters& p) { p.uniqueness = 1, p.lr_max_diff = -1; }},
    {"Spark", "GRAY8", 90, 45, Content::spark, [](sgm::Parameters& p) { p.uniqueness = 0; }},
    // Speckles of everything, and of nothing.
    {"OnlySpeckles", "GRAY8", 90, 45, Content::natural,
     [](sgm::Parameters& p) { p.speckle_size = 0x7fffffff, p.fill_holes = true; }},
    {"SpecklesOfOne", "GRAY8", 90, 45, Content::natural,
     [](sgm::Parameters& p) { p.speckle_size = 1, p.speckle_range = 0; }},
    // Several stretches of columns and bands of rows.
    {"Wide", "GRAY8", 700, 20, Content::natural, [](sgm::Parameters& p) { p.disparities = 64; }},
    {"High", "P010", 41, 300, Content::natural, [](sgm::Parameters& p) { p.disparities = 32; }},
    {"FourPaths", "NV12", 211, 75, Content::natural,
     [](sgm::Parameters& p) { p.paths = 4, p.disparities = 96; }},
    {"LibsgmWhole", "GRAY8", 211, 75, Content::natural,
     [](sgm::Parameters& p) { p.compatibility = Compatibility::libsgm, p.subpixel = false; }},
    {"LibsgmWholeFrom7", "RGBx", 211, 75, Content::natural,
     [](sgm::Parameters& p) {
       p.compatibility = Compatibility::libsgm, p.subpixel = false, p.minimum = 7;
     }},
};

void PrintTo(const Extreme& extreme, std::ostream* stream) {
  *stream << extreme.layout << ' ' << extreme.width << "×" << extreme.height << ' '
          << name(extreme.content);
}

SgmCase case_of(const Extreme& extreme, std::uint64_t seed) {
  sgm::Parameters parameters;
  extreme.change(parameters);
  return plain_sgm_case(layout_named(extreme.layout, extreme.width, extreme.height), parameters,
                        extreme.content, seed);
}

class SgmExtremes : public testing::TestWithParam<Extreme> {
 protected:
  static int pixels() { return GetParam().width * GetParam().height; }
};

TEST_P(SgmExtremes, CpuEqualsDefinition) {
  CUDAVISION_NEEDS_PIXELS(pixels());
  expect_definition(case_of(GetParam(), 77));
}

TEST_P(SgmExtremes, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(pixels());
  CudaTestDevice device;
  expect_equal_devices(*device, case_of(GetParam(), 77));
}

INSTANTIATE_TEST_SUITE_P(Pairs, SgmExtremes, testing::ValuesIn(extremes),
                         [](const auto& info) { return std::string(info.param.name); });

/// Pairs that the definition would take too long for: the CPU device is held against it with
/// smaller ones.
const Extreme large[] = {
    {"Vga", "GRAY8", 640, 480, Content::natural, [](sgm::Parameters&) {}},
    {"VgaFourPaths", "NV12", 641, 479, Content::natural,
     [](sgm::Parameters& p) { p.paths = 4, p.disparities = 64, p.speckle_size = 100; }},
    {"VgaLibsgm", "GRAY8", 640, 480, Content::random,
     [](sgm::Parameters& p) { p.compatibility = Compatibility::libsgm; }},
    {"VgaNeighbours", "P010", 640, 480, Content::natural,
     [](sgm::Parameters& p) {
       p.census = Census::neighbours_9x7, p.disparities = 256, p.speckle_size = 1000;
       p.fill_holes = true;
     }},
    {"VgaMost", "GRAY8", 640, 480, Content::natural,
     [](sgm::Parameters& p) { p.disparities = 1024; }},
    {"FullHd", "RGBx", 1920, 1080, Content::natural,
     [](sgm::Parameters& p) { p.speckle_size = 200, p.fill_holes = true; }},
};

class SgmLarge : public testing::TestWithParam<Extreme> {};

TEST_P(SgmLarge, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(GetParam().width * GetParam().height);
  CudaTestDevice device;
  expect_equal_devices(*device, case_of(GetParam(), 79));
}

INSTANTIATE_TEST_SUITE_P(Pairs, SgmLarge, testing::ValuesIn(large),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cudavision::test
