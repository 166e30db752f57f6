// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/regions/regions_case.h"
#include "tests/kernels/regions/regions_definition.h"

namespace cudavision::test {

/// Runs a case's operation only where regions need its output, and blends this output with the
/// input. The blend must equal the blend of the CPU device's output for the whole frame.
template <class Case>
void expect_same_in_regions(Device& device, const Case& test,
                            const regions::Parameters& selection) {
  RegionBlendCase blend_case;
  static_cast<FrameCase&>(blend_case) = test;
  blend_case.parameters = selection;
  SCOPED_TRACE(describe(test));
  SCOPED_TRACE(describe(blend_case));
  const auto cpu = make_cpu_device();
  const auto input = input_block(test);
  const auto whole = Runner<Case>(*cpu, test).run(input, poison);
  std::vector<std::uint8_t> expected(test.out.bytes, poison);
  defined_region_blend(test.layout, selection, frame_in(test.layout, test.in, input.data()),
                       frame_in(test.layout, test.out, whole.data()),
                       frame_in(test.layout, test.out, expected.data()));

  auto operation = test.make(device, test.parameters);
  regions::RegionBlend blend(device, test.layout, selection);
  const typename Case::Frames frames(device, test, input, poison);
  for (const std::uint8_t other : {poison, other_poison}) {
    const DeviceBlock<std::uint8_t> scratch(device,
                                            std::vector<std::uint8_t>(test.out.bytes, other));
    const Frame processed = frame_in(test.layout, test.out, scratch.data());
    operation.run(frames.in, processed, blend.active());
    blend.run(frames.in, processed, frames.out);
    device.finish();
    ASSERT_EQ(difference(test, expected, frames.output()), "");
  }
}

/// Returns at most 4 regions for a case or, in a quarter of the cases, at most 100.
template <class Case>
regions::Parameters regions_for(const Case& test) {
  Random random(test.content_seed + 13);
  regions::Parameters parameters =
      random_regions(test.layout.width, test.layout.height, random.one_in(4) ? 100 : 4, random);
  parameters.fields = random.one_in(3);
  return parameters;
}

/// Defines a suite of random cases of every layout, with random regions.
#define CUDAVISION_REGION_CASES(Suite, make_case)               \
  class Suite : public LayoutCases {};                          \
  TEST_P(Suite, CpuEqualsTheBlendOfWholeFrames) {               \
    const auto device = make_cpu_device();                      \
    for_each_case(make_case, [&](const auto& test) {            \
      expect_same_in_regions(*device, test, regions_for(test)); \
    });                                                         \
  }                                                             \
  TEST_P(Suite, CudaEqualsTheBlendOfWholeFrames) {              \
    CUDAVISION_NEEDS_CUDA();                                    \
    CudaTestDevice device;                                      \
    for_each_case(make_case, [&](const auto& test) {            \
      expect_same_in_regions(*device, test, regions_for(test)); \
    });                                                         \
  }                                                             \
  INSTANTIATE_TEST_SUITE_P(Layouts, Suite, every_layout(), layout_name)

/// Defines a suite of large frames, all with the same regions. Kind is the type of the cases.
#define CUDAVISION_LARGE_REGION_CASES(Suite, Kind, frames, selection)                    \
  class Suite : public testing::TestWithParam<Extreme<Kind::Parameters>> {};             \
  TEST_P(Suite, CpuEqualsTheBlendOfWholeFrames) {                                        \
    CUDAVISION_NEEDS_PIXELS(GetParam().width* GetParam().height);                        \
    expect_same_in_regions(*make_cpu_device(), dense<Kind>(GetParam())[0], (selection)); \
  }                                                                                      \
  TEST_P(Suite, CudaEqualsTheBlendOfWholeFrames) {                                       \
    CUDAVISION_NEEDS_CUDA();                                                             \
    CUDAVISION_NEEDS_PIXELS(GetParam().width* GetParam().height);                        \
    CudaTestDevice device;                                                               \
    expect_same_in_regions(*device, dense<Kind>(GetParam())[0], (selection));            \
  }                                                                                      \
  INSTANTIATE_TEST_SUITE_P(Table, Suite, testing::ValuesIn(frames),                      \
                           [](const auto& info) { return std::string(info.param.name); })

/// Four regions; two overlap. A frame of 1920×1080 pixels cuts off parts of three regions.
inline regions::Parameters four_regions(int feather) {
  regions::Parameters parameters =
      one_region({100, 80, 300, 280}, regions::Shape::rectangle, feather);
  parameters.boxes[1] = {1500, 900, 1700, 1100};
  parameters.boxes[2] = {1600, 1000, 1800, 1200};
  parameters.boxes[3] = {1850, 3, 2050, 203};
  parameters.count = 4;
  return parameters;
}

}  // namespace cudavision::test
