// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Histogram and HistogramEqualize on the CPU device against the definition, and on the CUDA device
// against the CPU device, in every byte.

#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

// Two that differ in every bit, so that a byte which is not written shows in one run or the other.
constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

/// Runs the case on device three times, another picture in between, and compares all of what it
/// wrote.
void expect_blocks(Device& device, const HistEqualizeCase& test,
                   const std::vector<std::uint8_t>& input, const HistEqualizeBlocks& expected) {
  HistEqualizeRunner runner(device, test);
  const HistEqualizeBlocks blocks = runner.run(input, poison);
  ASSERT_EQ(difference(test, expected, blocks), "");

  HistEqualizeCase another = test;
  another.content = Content::random;
  another.content_seed += 1;
  runner.run(input_block(another), poison);
  const HistEqualizeBlocks again = runner.run(input, other_poison);
  ASSERT_EQ(hash(test, again), hash(test, blocks)) << "a second run gives something else";
}

void expect_definition(const HistEqualizeCase& test) {
  SCOPED_TRACE(describe(test));
  const auto device = make_cpu_device();
  const auto input = input_block(test);
  expect_blocks(*device, test, input, defined_blocks(test, input, poison));
}

void expect_equal_devices(Device& cuda, const HistEqualizeCase& test) {
  SCOPED_TRACE(describe(test));
  const auto cpu = make_cpu_device();
  const auto input = input_block(test);
  expect_blocks(cuda, test, input, HistEqualizeRunner(*cpu, test).run(input, poison));
}

class HistEqualizeCases : public LayoutCases {};

TEST_P(HistEqualizeCases, CpuEqualsDefinition) {
  for_each_case(make_histequalize_case, expect_definition);
}

TEST_P(HistEqualizeCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_histequalize_case,
                [&](const HistEqualizeCase& test) { expect_equal_devices(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, HistEqualizeCases, every_layout(), layout_name);

/// Pictures so large that counters narrower than 32 bits overflow, so wide or so high that one
/// block or thread gets very little or very much, and so small that most have nothing to do.
struct Extreme {
  const char* name;
  const char* layout;
  int width, height;
  Content content;
};

constexpr Extreme extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random},
    {"OnePixelRgb", "RGB", 1, 1, Content::random},
    {"OnePixelYuy2", "YUY2", 1, 1, Content::random},
    {"OnePixelP010", "P010", 1, 1, Content::random},
    {"TwoPixels", "GRAY8", 2, 1, Content::random},
    {"OneColumn", "GRAY8", 1, 65535, Content::natural},
    {"OneRow", "GRAY8", 65535, 1, Content::natural},
    {"OneColumnRgb", "RGB", 1, 65535, Content::random},
    {"OneRowRgbx", "RGBx", 65535, 1, Content::random},
    {"OneRow16", "GRAY16", 65535, 1, Content::random},
    {"FullHdNatural", "GRAY8", 1920, 1080, Content::natural},
    {"Uhd8kNatural", "GRAY8", 7680, 4320, Content::natural},
    {"Uhd8kFlat", "GRAY8", 7680, 4320, Content::flat},
    {"Uhd4kTwoValued", "GRAY8", 3840, 2160, Content::two_valued},
    {"Uhd8kSpark", "GRAY8", 7680, 4320, Content::spark},
    {"Uhd4kZeros", "GRAY8", 3840, 2160, Content::zeros},
    {"Uhd4kMaximum", "GRAY8", 3840, 2160, Content::maximum},
    {"Uhd8kFlat16", "GRAY16", 7680, 4320, Content::flat},
    {"Uhd8kSpark16", "GRAY16", 7680, 4320, Content::spark},
    {"Uhd4kRandom16", "GRAY16", 3840, 2160, Content::random},
    {"Uhd4kFlatRgbx", "RGBx", 3840, 2160, Content::flat},
    {"Uhd4kNaturalRgb", "RGB", 3840, 2160, Content::natural},
    {"Uhd4kTwoValuedP010", "P010", 3840, 2160, Content::two_valued},
    {"Uhd4kNaturalNv12", "NV12", 3840, 2160, Content::natural},
};

class HistEqualizeExtremes : public testing::TestWithParam<Extreme> {
 protected:
  HistEqualizeCase test() const {
    const Extreme& extreme = GetParam();
    return plain_histequalize_case(layout_named(extreme.layout, extreme.width, extreme.height),
                                   extreme.content, 77);
  }
  int pixels() const { return GetParam().width * GetParam().height; }
};

TEST_P(HistEqualizeExtremes, CpuEqualsDefinition) {
  CUDAVISION_NEEDS_PIXELS(pixels());
  expect_definition(test());
}

TEST_P(HistEqualizeExtremes, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(pixels());
  CudaTestDevice device;
  expect_equal_devices(*device, test());
}

INSTANTIATE_TEST_SUITE_P(Sizes, HistEqualizeExtremes, testing::ValuesIn(extremes),
                         [](const auto& info) { return std::string(info.param.name); });

void PrintTo(const Extreme& extreme, std::ostream* stream) {
  *stream << extreme.layout << ' ' << extreme.width << "×" << extreme.height << ' '
          << name(extreme.content);
}

}  // namespace
}  // namespace cudavision::test
