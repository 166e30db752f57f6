// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests Luminance with random cases, all 8-bit colours, and frames that need no conversion.
#include "cuda/pixels/luminance.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

FrameCase make_luminance_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<FrameCase>(number, max_pixels, random);
  test.in = random_placement(test.layout, random);
  draw_content(test, random);
  return test;
}

std::vector<std::uint16_t> values_of(Device& device, const SamplePlane& plane) {
  const int sample_bytes = plane.bits > 8 ? 2 : 1;
  const int row_bytes = plane.width * sample_bytes;
  EXPECT_EQ(plane.rows.width, row_bytes);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(row_bytes) * plane.height());
  device.download({plane.rows.data, row_bytes, plane.height(), plane.rows.pitch},
                  {bytes.data(), row_bytes, plane.height(), row_bytes});
  device.finish();
  FrameLayout dense = gray_layout(plane.width, plane.height(), plane.bits, plane.shift);
  const std::uint8_t* begin = bytes.data();
  return DefinedLuminance(dense, frame_in(dense, dense_placement(dense), begin)).values;
}

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

void expect_definition(const FrameCase& test) {
  expect_definition(*make_cpu_device(), test);
}

void expect_equal_devices(Device& cuda, const FrameCase& test) {
  expect_definition(cuda, test);
}

CUDAVISION_RANDOM_CASES(LuminanceCases, make_luminance_case);

CUDAVISION_ON_BOTH_DEVICES(LuminancePlane);

/// Returns 4096×4096 pixels with all 256³ colours. The three bytes of a pixel's index are its RGB.
std::vector<std::uint8_t> every_colour(const FrameLayout& layout) {
  const Placement placement = dense_placement(layout);
  std::vector<std::uint8_t> block(placement.bytes, 0xa5);
  const Frame frame = frame_in(layout, placement, block.data());
  for (int n = 0; n < 1 << 24; ++n)
    for (int c = 0; c < 3; ++c)
      put_sample(layout, frame, channel_of(layout, rgb_roles[c]), n % 4096, n / 4096,
                 n >> (16 - 8 * c) & 255);
  return block;
}

TEST_P(LuminancePlane, IsThatOfEveryColour) {
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  std::vector<std::uint16_t> expected;
  for (int n = 0; n < 1 << 24; ++n)
    expected.push_back(static_cast<std::uint16_t>(
        (299 * (n >> 16) + 587 * (n >> 8 & 255) + 114 * (n & 255)) / 1000));
  for (const char* name : {"RGB", "BGRx", "xBGR", "ARGB", "GBR", "RGBMixed"}) {
    SCOPED_TRACE(name);
    const HistEqualizeCase test =
        plain_histequalize_case(layout_named(name, 4096, 4096), Content::zeros, 1);
    const std::vector<std::uint8_t> input = every_colour(test.layout);
    const DeviceBlock<std::uint8_t> colours(device, input);
    Luminance luminance(device, test.layout, "a test");
    const SamplePlane plane = luminance.of(frame_in(test.layout, test.in, colours.data()));
    EXPECT_TRUE(values_of(device, plane) == expected);
    // Histograms and equalisation have their own code for the luminance.
    EXPECT_EQ(difference(test, defined_output(test, input, 0xcd),
                         HistEqualizeRunner(device, test).run(input, 0xcd)),
              "");
  }
}

TEST_P(LuminancePlane, IsThatOfWordsAtAnyStep) {
  for (const auto& [bits, shift] : {std::pair(9, 0), {10, 6}, {12, 1}, {16, 0}})
    for (const int step : {2, 3, 4}) {
      SCOPED_TRACE(std::to_string(bits) + " bits shifted by " + std::to_string(shift) + ", step " +
                   std::to_string(step));
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
}

TEST_P(LuminancePlane, RefusesLayoutsInTheNameOfTheOperation) {
  for (const LayoutRefusal& refusal : luminance_layout_refusals()) {
    SCOPED_TRACE(refusal.words);
    FrameLayout layout = gray_layout(33, 9);
    refusal.spoil(layout);
    CUDAVISION_EXPECT_ERROR(Luminance(device, layout, "a test"), invalid_argument, refusal.words);
    CUDAVISION_EXPECT_ERROR(Luminance(device, layout, "a test"), invalid_argument, "a test: ");
  }
}

TEST_P(LuminancePlane, RefusesFramesOfAnotherShape) {
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
}

}  // namespace
}  // namespace cudavision::test
