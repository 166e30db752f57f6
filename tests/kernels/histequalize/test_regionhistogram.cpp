// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests equalisation with the histograms of regions, and the contract of RegionHistogram.
#include <algorithm>
#include <numeric>

#include "cuda/histequalize/regionhistogram.h"
#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/regions/regions_case.h"
#include "tests/kernels/regions/regions_definition.h"

namespace cudavision::test {
namespace {

using histequalize::HistogramEqualize;
using histequalize::RegionHistogram;
using Channels = histequalize::Parameters::Channels;
using Counts = std::vector<std::uint32_t>;

constexpr int max_weights = 1 << 20;  // limits the definition's work for a case

struct RegionCase {
  HistEqualizeCase frame;
  regions::Parameters regions, others;
};

RegionCase make_region_case(std::uint64_t seed, int number, int max_pixels) {
  constexpr std::uint64_t own = 0x5e1ec7;
  Random random = random_of_case(seed ^ own, number);
  const int maximum = random.one_in(8) ? regions::Parameters::max_count : 12;
  const int pixels = std::min(max_pixels, max_weights / maximum);
  RegionCase test{make_histequalize_case(seed ^ own, number, pixels), {}, {}};
  const FrameLayout& layout = test.frame.layout;
  test.regions = random_regions(layout.width, layout.height, maximum, random);
  test.others = random_regions(layout.width, layout.height, maximum, random);
  return test;
}

std::string describe(const RegionCase& test) {
  RegionBlendCase blend =
      plain_region_blend_case(test.frame.layout, test.regions, Content::zeros, 1);
  return describe(test.frame) + "\n" + describe(blend);
}

Counts defined_counts(const RegionCase& test, const ConstFrame& in) {
  const FrameLayout& layout = test.frame.layout;
  const auto bins = std::size_t{1} << layout.bits;
  const bool rgb = is_rgb(layout) && layout.bits == 8;
  Counts counts(bins * (rgb ? 4 : 1), 0);
  const DefinedLuminance luminance(layout, in);
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x) {
      if (defined_weight(test.regions, x, y) == 0)
        continue;
      ++counts[luminance.at(x, y)];
      for (std::size_t c = 0; rgb && c < 3; ++c)
        ++counts[bins * (c + 1) + static_cast<std::size_t>(defined_sample(
                                      layout, in, channel_of(layout, rgb_roles[c]), x, y))];
    }
  return counts;
}

using Smoothing = std::optional<histogramaverage::Parameters>;
constexpr Smoothing smoothings[] = {{}, {{30000, 65536}}};

/// Equalises the frame with the regions test.others, restarts, and equalises it with test.regions.
HistEqualizeBlocks equalized_by_regions(Device& device, const RegionCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        const Smoothing& smoothing) {
  const HistEqualizeFrames frames(device, test.frame, input, poison);
  HistogramEqualize equalize(device, test.frame.layout, test.frame.parameters);
  RegionHistogram count(device, test.frame.layout, test.others);
  equalize.run(frames.in, frames.out, frames.histogram, {{30000, 65536}}, &count);
  count.set_parameters(test.regions);
  equalize.restart();
  equalize.run(frames.in, frames.out, frames.histogram, smoothing, &count);
  device.finish();
  EXPECT_EQ(frames.input(), input) << "the operation wrote to its input";
  return frames.output();
}

void expect_definition(const RegionCase& test) {
  SCOPED_TRACE(describe(test));
  const FrameLayout& layout = test.frame.layout;
  const histequalize::Parameters& p = test.frame.parameters;
  const auto input = input_block(test.frame);
  const ConstFrame in = frame_in(layout, test.frame.in, input.data());
  const Counts counts = defined_counts(test, in);
  const auto bins = std::ptrdiff_t{1} << layout.bits;
  const bool each = p.channels == Channels::each;
  std::vector<std::vector<int>> tables;
  for (int t = each ? 1 : 0; t < (each ? 4 : 1); ++t) {
    const auto first = counts.begin() + bins * t;
    tables.push_back(defined_table(Counts(first, first + bins), p.low, p.high));
  }
  std::vector<std::uint8_t> expected(test.frame.out.bytes, poison);
  defined_mapping(layout, p, tables, in, frame_in(layout, test.frame.out, expected.data()));

  const auto cpu = make_cpu_device();
  for (const Smoothing& smoothing : smoothings) {
    const HistEqualizeBlocks output = equalized_by_regions(*cpu, test, input, smoothing);
    const FrameCase& frame = test.frame;
    ASSERT_EQ(difference(frame, expected, output.out), "");
    if (test.frame.histogram) {
      ASSERT_TRUE(std::equal(counts.begin(), counts.begin() + bins,
                             output.histogram.begin() + test.frame.histogram_start));
    }
  }
}

void expect_equal_devices(Device& cuda, const RegionCase& test) {
  SCOPED_TRACE(describe(test));
  const auto input = input_block(test.frame);
  const auto cpu = make_cpu_device();
  for (const Smoothing& smoothing : smoothings)
    ASSERT_EQ(difference(test.frame, equalized_by_regions(*cpu, test, input, smoothing),
                         equalized_by_regions(cuda, test, input, smoothing)),
              "");
}

CUDAVISION_NUMBERED_CASES(EqualizedByRegions, make_region_case);

TEST(EqualizedByRegions, CudaEqualsCpuForLargeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(3840 * 2160);
  CudaTestDevice cuda;
  for (const char* layout : {"GRAY8", "NV12", "YUY2", "P010", "GRAY16", "RGB", "RGBx", "GBR"})
    for (const bool invert : {false, true}) {
      RegionCase test{
          plain_histequalize_case(layout_named(layout, 3840, 2160), Content::natural, 9),
          one_region({700, 300, 2900, 1900}, regions::Shape::ellipse, 40),
          one_region({5, 5, 900, 900}, regions::Shape::rectangle, 0)};
      test.regions.invert = invert;
      expect_equal_devices(*cuda, test);
    }
}

/* The contract of RegionHistogram */

CUDAVISION_ON_BOTH_DEVICES(RegionHistogramUse);

/// Switching between the whole frame and regions begins a new average.
TEST_P(RegionHistogramUse, OtherPixelsBeginANewAverage) {
  const HistEqualizeCase test = plain_histequalize_case(gray_layout(320, 200), Content::natural, 1);
  const HistEqualizeFrames frames(device, test);
  const auto whole = defined_output(test, frames.input(), HistEqualizeFrames::out_poison).out;
  RegionHistogram count(device, test.layout,
                        one_region({10, 10, 90, 90}, regions::Shape::rectangle, 0));
  HistogramEqualize equalize(device, test.layout, test.parameters);
  const auto run = [&](RegionHistogram* regions) {
    equalize.run(frames.in, frames.out, {}, {{100, 65536}}, regions);
    device.finish();
    return frames.output().out;
  };
  EXPECT_EQ(run(nullptr), whole);
  const auto by_regions = run(&count);
  EXPECT_NE(by_regions, whole);
  EXPECT_EQ(run(&count), by_regions);
  EXPECT_EQ(run(nullptr), whole);
}

TEST_P(RegionHistogramUse, RefusesWhatIsWrongAndWorksOn) {
  const HistEqualizeCase test =
      plain_histequalize_case(layout_named("NV12", 34, 10), Content::natural, 1);
  const auto valid = one_region({1, 1, 20, 9}, regions::Shape::rectangle, 0);
  auto wrong = valid;
  wrong.feather = -1;
  CUDAVISION_EXPECT_ERROR(RegionHistogram(device, test.layout, wrong), invalid_argument,
                          "a feather of -1");
  FrameLayout no_luminance = test.layout;
  no_luminance.channels[0].role = Role::chroma;
  CUDAVISION_EXPECT_ERROR(RegionHistogram(device, no_luminance, valid), invalid_argument,
                          "histogram equalisation");

  RegionHistogram count(device, test.layout, valid);
  wrong.feather = 0;
  wrong.count = 1025;
  CUDAVISION_EXPECT_ERROR(count.set_parameters(wrong), invalid_argument, "1025 regions");
  HistEqualizeFrames frames(device, test);
  const auto untouched = frames.output().bins;
  View<std::uint32_t> bins = frames.bins;
  bins.width = 255;
  CUDAVISION_EXPECT_ERROR(count.run(frames.in, bins), invalid_argument, "must be one row");
  CUDAVISION_EXPECT_ERROR(count.run_each(frames.in, frames.bins), invalid_argument, "luma");
  ConstFrame spoilt = frames.in;
  spoilt.planes[0].data = nullptr;
  CUDAVISION_EXPECT_ERROR(count.run(spoilt, frames.bins), invalid_argument, "input");
  device.finish();
  EXPECT_EQ(frames.output().bins, untouched) << "a refused run wrote";

  const HistEqualizeCase rgb =
      plain_histequalize_case(layout_named("RGB", 34, 10), Content::natural, 1);
  const HistEqualizeFrames colours(device, rgb);
  CUDAVISION_EXPECT_ERROR(
      RegionHistogram(device, rgb.layout, valid).run_each(colours.in, colours.bins),
      invalid_argument, "three contiguous rows");

  count.run(frames.in, frames.bins);
  device.finish();
  const Counts after = frames.output().bins;
  EXPECT_EQ(std::accumulate(after.begin() + test.histogram_start,
                            after.begin() + test.histogram_start + 256, 0u),
            19u * 8u);
}

TEST_P(RegionHistogramUse, AllocatesNothingAfterConstruction) {
  WatchedDevice watched(device);
  const HistEqualizeCase test =
      plain_histequalize_case(layout_named("RGB", 97, 41), Content::natural, 1);
  const HistEqualizeFrames frames(device, test);
  const DeviceBlock<std::uint32_t> rows(device, Counts(3 * 256));
  auto parameters = one_region({1, 1, 20, 9}, regions::Shape::ellipse, 3);
  RegionHistogram count(watched, test.layout, parameters);
  expect_no_allocations(watched, 20, [&](int i) {
    parameters.boxes[0].x1 = 20 + i;
    parameters.invert = i % 3 == 0;
    count.set_parameters(parameters);
    count.run(frames.in, frames.bins);
    count.run_each(frames.in, {rows.data(), 256, 3, 1024});
  });
}

}  // namespace
}  // namespace cudavision::test
