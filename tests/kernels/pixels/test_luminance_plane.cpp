// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the luminance of frames as a plane on both devices, against the definition: in random
// cases, for every 8-bit colour, and without a copy if the frame already has such a plane.

#include "cuda/pixels/luminance.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/pixels/colour_cube.h"

namespace cudavision::test {
namespace {

FrameCase make_luminance_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const LayoutKind& kind = layout_kind_of_case(number);
  const auto [width, height] = random_picture_size(random, max_pixels);
  FrameCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.layout = kind.make(width, height);
  test.in = random_placement(test.layout, random);
  draw_content(test, random);
  return test;
}

/// Returns the values of a plane in device memory, row by row.
std::vector<std::uint16_t> values_of(Device& device, const SamplePlane& plane) {
  const int sample_bytes = plane.bits > 8 ? 2 : 1;
  const int row_bytes = plane.width * sample_bytes;
  EXPECT_EQ(plane.rows.width, row_bytes);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(row_bytes) *
                                  static_cast<std::size_t>(plane.height()));
  device.download({plane.rows.data, row_bytes, plane.height(), plane.rows.pitch},
                  {bytes.data(), row_bytes, plane.height(), row_bytes});
  device.finish();
  FrameLayout dense = gray_layout(plane.width, plane.height(), plane.bits, plane.shift);
  const std::uint8_t* begin = bytes.data();
  return DefinedLuminance(dense, frame_in(dense, dense_placement(dense), begin)).values;
}

/// Expects that the luma plane of frames that have one is used in place.
void expect_in_place(const FrameLayout& layout, const ConstFrame& in, const SamplePlane& plane) {
  const int luma = layout.find(Role::luma);
  if (luma < 0 || layout.channels[luma].step != 1)
    return;
  const Channel& channel = layout.channels[luma];
  const auto& rows = in.planes[channel.plane];
  EXPECT_EQ(plane.rows.data, rows.data + channel.offset * layout.sample_bytes());
  EXPECT_EQ(plane.rows.pitch, rows.pitch);
  EXPECT_EQ(plane.shift, layout.shift);
}

void expect_definition(Device& device, const FrameCase& test) {
  const FrameLayout& layout = test.layout;
  SCOPED_TRACE(describe(test, "luminance"));
  const std::vector<std::uint8_t> input = input_block(test);
  const DeviceBlock<std::uint8_t> block(device, input);
  const ConstFrame in = frame_in(layout, test.in, block.data());
  Luminance luminance(device, layout, "a test");
  const SamplePlane plane = luminance.of(in);
  ASSERT_EQ(plane.width, layout.width);
  ASSERT_EQ(plane.height(), layout.height);
  ASSERT_EQ(plane.bits, layout.bits);
  expect_in_place(layout, in, plane);
  const DefinedLuminance expected(layout, frame_in(layout, test.in, input.data()));
  ASSERT_TRUE(values_of(device, plane) == expected.values);
  ASSERT_TRUE(block.values() == input) << "the operation wrote to its input";
}

class LuminanceCases : public LayoutCases {};

TEST_P(LuminanceCases, CpuEqualsDefinition) {
  const auto device = make_cpu_device();
  for_each_case(make_luminance_case,
                [&](const FrameCase& test) { expect_definition(*device, test); });
}

TEST_P(LuminanceCases, CudaEqualsDefinition) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_luminance_case,
                [&](const FrameCase& test) { expect_definition(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, LuminanceCases, every_layout(), layout_name);

class LuminancePlane : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, LuminancePlane, both_devices(), device_name);

TEST_P(LuminancePlane, IsThatOfEveryColour) {
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  on_device([](Device& device) {
    std::vector<std::uint16_t> expected;
    for (int n = 0; n < 1 << 24; ++n)
      expected.push_back(
          static_cast<std::uint16_t>(ColourCube::luminance(n >> 16, n >> 8 & 255, n & 255)));
    for (const char* name : {"RGB", "BGRx", "xBGR", "ARGB", "GBR", "RGBMixed"}) {
      SCOPED_TRACE(name);
      const ColourCube cube(name);
      const DeviceBlock<std::uint8_t> colours(device, cube.block);
      Luminance luminance(device, cube.layout, "a test");
      const SamplePlane plane = luminance.of(frame_in(cube.layout, cube.placement, colours.data()));
      EXPECT_TRUE(values_of(device, plane) == expected);
    }
  });
}

TEST_P(LuminancePlane, IsThatOfWordsAtAnyStep) {
  on_device([](Device& device) {
    for (const auto& [bits, shift] : {std::pair(9, 0), {10, 6}, {12, 1}, {16, 0}})
      for (const int step : {2, 3, 4}) {
        SCOPED_TRACE(std::to_string(bits) + " bits shifted by " + std::to_string(shift) +
                     ", step " + std::to_string(step));
        FrameCase test;
        test.layout = gray_layout(301, 77, bits, shift);
        test.layout.planes[0].row_bytes *= step;
        test.layout.channels[0].step = step;
        test.layout.channels[0].offset = step - 1;
        Random random(static_cast<std::uint64_t>(bits + step));
        test.in = random_placement(test.layout, random);
        test.content_seed = 6;
        test.dirty = true;
        expect_definition(device, test);
      }
  });
}

TEST_P(LuminancePlane, FollowsEachFrame) {
  on_device([](Device& device) {
    for (const char* name : {"GRAY8", "RGB", "YUY2", "AYUV", "P010"}) {
      SCOPED_TRACE(name);
      const FrameLayout layout = layout_named(name, 301, 77);
      FrameCase first, second;
      make_dense(first, layout, layout, Content::natural, 1);
      make_dense(second, layout, layout, Content::random, 2);
      Luminance luminance(device, layout, "a test");
      for (const FrameCase* test : {&first, &second, &first}) {
        const std::vector<std::uint8_t> input = input_block(*test);
        const DeviceBlock<std::uint8_t> block(device, input);
        const SamplePlane plane = luminance.of(frame_in(layout, test->in, block.data()));
        EXPECT_TRUE(values_of(device, plane) ==
                    DefinedLuminance(layout, frame_in(layout, test->in, input.data())).values);
      }
    }
  });
}

TEST_P(LuminancePlane, RefusesLayoutsInTheNameOfTheOperation) {
  on_device([](Device& device) {
    for (const LayoutRefusal& refusal : luminance_layout_refusals()) {
      SCOPED_TRACE(refusal.words);
      FrameLayout layout = gray_layout(33, 9);
      refusal.spoil(layout);
      CUDAVISION_EXPECT_ERROR(Luminance(device, layout, "a test"), invalid_argument, refusal.words);
      CUDAVISION_EXPECT_ERROR(Luminance(device, layout, "a test"), invalid_argument, "a test: ");
    }
  });
}

TEST_P(LuminancePlane, RefusesFramesOfAnotherShape) {
  on_device([](Device& device) {
    for (const char* name : {"NV12", "GBR"}) {
      const FrameLayout layout = layout_named(name, 34, 10);
      const Placement placement = dense_placement(layout);
      const DeviceBlock<std::uint8_t> block(device, std::vector<std::uint8_t>(placement.bytes));
      Luminance luminance(device, layout, "a test");
      const auto expect_refusal = [&](const auto& spoil) {
        ConstFrame wrong = frame_in(layout, placement, block.data());
        spoil(wrong);
        CUDAVISION_EXPECT_ERROR(luminance.of(wrong), invalid_argument,
                                "a test: plane 1 of the input frame");
      };
      expect_refusal([](ConstFrame& frame) { frame.planes[1].data = nullptr; });
      expect_refusal([](ConstFrame& frame) { frame.planes[1].width += 1; });
      expect_refusal([](ConstFrame& frame) { frame.planes[1].height -= 1; });
    }
  });
}

}  // namespace
}  // namespace cudavision::test
