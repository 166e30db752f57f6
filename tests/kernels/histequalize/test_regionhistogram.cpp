// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the histograms of regions with the definition on the CPU device, and with those of the
// CPU device on the CUDA device. Also tests equalisation by such histograms, and the contract.

#include <algorithm>
#include <numeric>

#include "cuda/histequalize/regionhistogram.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/no_allocations.h"
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

constexpr std::uint8_t poison = 0xcd;
constexpr int max_weights = 1 << 20;  // that the definition computes for a case

/// A frame and its regions.
struct RegionCase {
  HistEqualizeCase frame;
  regions::Parameters regions, others;
};

RegionCase make_region_case(int number) {
  constexpr std::uint64_t own = 0x5e1ec7;
  Random random = random_of_case(settings().seed ^ own, number);
  const int maximum = random.one_in(8) ? regions::Parameters::max_count : 12;
  const int pixels = std::min(settings().max_pixels, max_weights / maximum);
  RegionCase test{make_histequalize_case(settings().seed ^ own, number, pixels), {}, {}};
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

/// Returns the luminance histogram of the regions and, for RGB, those of red, green and blue.
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

/// Returns what the operation counts, which the test lets begin with other regions.
Counts counted(Device& device, const RegionCase& test, const std::vector<std::uint8_t>& input) {
  const FrameLayout& layout = test.frame.layout;
  const int bins = 1 << layout.bits;
  const bool rgb = is_rgb(layout) && layout.bits == 8;
  constexpr std::size_t margin = 16;
  constexpr std::uint32_t poisoned = 0xcdcdcdcd;
  const HistEqualizeFrames frames(device, test.frame, input, poison);
  const Counts start(margin + static_cast<std::size_t>(bins) * (rgb ? 4 : 1) + margin, poisoned);
  const DeviceBlock<std::uint32_t> block(device, start);
  std::uint32_t* first = block.data() + margin;
  RegionHistogram count(device, layout, test.others);
  const auto run = [&] {
    count.run(frames.in, {first, bins, 1, bins * std::ptrdiff_t{4}});
    if (rgb)
      count.run_each(frames.in, {first + bins, bins, 3, bins * std::ptrdiff_t{4}});
  };
  run();
  count.set_parameters(test.regions);
  run();
  device.finish();
  const Counts all = block.values();
  EXPECT_EQ(frames.input(), input) << "the input was written to";
  for (std::size_t i = 0; i < margin; ++i) {
    EXPECT_EQ(all[i], poisoned);
    EXPECT_EQ(all[all.size() - 1 - i], poisoned);
  }
  return {all.begin() + margin, all.end() - margin};
}

template <class Check>
void for_each_region_case(const Check& check) {
  for_each_case_number([&](int number) {
    const RegionCase test = make_region_case(number);
    SCOPED_TRACE(describe(test));
    check(test, input_block(test.frame));
  });
}

TEST(RegionHistograms, CpuEqualsDefinition) {
  int selected = 0;
  for_each_region_case([&](const RegionCase& test, const std::vector<std::uint8_t>& input) {
    const auto cpu = make_cpu_device();
    const Counts expected =
        defined_counts(test, frame_in(test.frame.layout, test.frame.in, input.data()));
    ASSERT_EQ(counted(*cpu, test, input), expected);
    selected += std::any_of(expected.begin(), expected.end(), [](auto count) { return count > 0; });
  });
  EXPECT_GT(selected, 0);
}

TEST(RegionHistograms, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_region_case([&](const RegionCase& test, const std::vector<std::uint8_t>& input) {
    ASSERT_EQ(counted(*cuda, test, input), counted(*cpu, test, input));
  });
}

TEST(RegionHistograms, CudaEqualsCpuForLargeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(3840 * 2160);
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for (const char* layout : {"GRAY8", "NV12", "YUY2", "P010", "GRAY16", "RGB", "RGBx", "GBR"})
    for (const bool invert : {false, true}) {
      RegionCase test{
          plain_histequalize_case(layout_named(layout, 3840, 2160), Content::natural, 9),
          one_region({700, 300, 2900, 1900}, regions::Shape::ellipse, 40),
          one_region({5, 5, 900, 900}, regions::Shape::rectangle, 0)};
      test.regions.invert = invert;
      const auto input = input_block(test.frame);
      EXPECT_EQ(counted(*cuda, test, input), counted(*cpu, test, input)) << layout << invert;
    }
}

/* Equalisation by the histogram of regions */

using Smoothing = std::optional<histogramaverage::Parameters>;
constexpr Smoothing smoothings[] = {{}, {{30000, 65536}}};

/// Equalises the case's frame twice: the second time, the average begins anew.
std::vector<std::uint8_t> equalized_by_regions(Device& device, const RegionCase& test,
                                               const std::vector<std::uint8_t>& input,
                                               const Smoothing& smoothing, Counts* histogram) {
  const HistEqualizeFrames frames(device, test.frame, input, poison);
  HistogramEqualize equalize(device, test.frame.layout, test.frame.parameters);
  RegionHistogram count(device, test.frame.layout, test.others);
  equalize.run(frames.in, frames.out, frames.histogram, {{30000, 65536}}, &count);
  count.set_parameters(test.regions);
  equalize.restart();
  equalize.run(frames.in, frames.out, frames.histogram, smoothing, &count);
  device.finish();
  *histogram = frames.output().histogram;
  return frames.output().out;
}

TEST(EqualizedByRegions, CpuEqualsDefinition) {
  for_each_region_case([&](const RegionCase& test, const std::vector<std::uint8_t>& input) {
    const auto cpu = make_cpu_device();
    const FrameLayout& layout = test.frame.layout;
    const histequalize::Parameters& p = test.frame.parameters;
    const ConstFrame in = frame_in(layout, test.frame.in, input.data());
    const Counts counts = defined_counts(test, in);
    const std::size_t bins = std::size_t{1} << layout.bits;
    const bool each = p.channels == Channels::each;
    std::vector<std::vector<int>> tables;
    for (std::size_t t = each ? 1 : 0; t < (each ? 4u : 1u); ++t) {
      const auto first = counts.begin() + static_cast<std::ptrdiff_t>(bins * t);
      tables.push_back(
          defined_table(Counts(first, first + static_cast<std::ptrdiff_t>(bins)), p.low, p.high));
    }
    std::vector<std::uint8_t> expected(test.frame.out.bytes, poison);
    defined_mapping(layout, p, tables, in, frame_in(layout, test.frame.out, expected.data()));

    for (const Smoothing& smoothing : smoothings) {
      Counts histogram;
      const auto out = equalized_by_regions(*cpu, test, input, smoothing, &histogram);
      const FrameCase& frame = test.frame;
      ASSERT_EQ(difference(frame, expected, out), "");
      if (test.frame.histogram) {
        ASSERT_TRUE(std::equal(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(bins),
                               histogram.begin() + test.frame.histogram_start));
      }
    }
  });
}

TEST(EqualizedByRegions, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_region_case([&](const RegionCase& test, const std::vector<std::uint8_t>& input) {
    for (const Smoothing& smoothing : smoothings) {
      Counts expected, actual;
      const auto out = equalized_by_regions(*cpu, test, input, smoothing, &expected);
      const FrameCase& frame = test.frame;
      ASSERT_EQ(
          difference(frame, out, equalized_by_regions(*cuda, test, input, smoothing, &actual)), "");
      ASSERT_EQ(actual, expected);
    }
  });
}

/* The contract */

class RegionHistogramUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, RegionHistogramUse, both_devices(), device_name);

/// Counts that begin to be those of regions, or cease to be, do not mix with those before.
TEST_P(RegionHistogramUse, OtherPixelsBeginANewAverage) {
  on_device([](Device& device) {
    const HistEqualizeCase test =
        plain_histequalize_case(gray_layout(320, 200), Content::natural, 1);
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
  });
}

TEST_P(RegionHistogramUse, RefusesWhatIsWrongAndWorksOn) {
  on_device([](Device& device) {
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
    CUDAVISION_EXPECT_ERROR(count.run(frames.in, bins), invalid_argument, "one aligned row");
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
        invalid_argument, "three rows");

    count.run(frames.in, frames.bins);
    device.finish();
    const Counts after = frames.output().bins;
    EXPECT_EQ(std::accumulate(after.begin() + test.histogram_start,
                              after.begin() + test.histogram_start + 256, 0u),
              19u * 8u);
  });
}

TEST_P(RegionHistogramUse, AllocatesNothingAfterConstruction) {
  on_device([](Device& device) {
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
  });
}

}  // namespace
}  // namespace cudavision::test
