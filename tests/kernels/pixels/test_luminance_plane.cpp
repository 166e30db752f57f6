// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the luminance of frames as a plane on both devices, against the definition: in random
// cases, for every 8-bit colour, and without a copy if the frame already has such a plane.

#include <algorithm>

#include "cuda/pixels/luminance.h"
#include "tests/kernels/common/device_frames.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

/// One frame with a random placement.
struct LuminanceCase {
  FrameLayout layout;
  Placement in;
  std::vector<std::uint8_t> block;
};

LuminanceCase make_luminance_case(std::uint64_t seed, int number, int max_pixels) {
  Random random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
  const auto& kinds = layout_kinds();
  const auto [width, height] = random_picture_size(random, max_pixels);
  LuminanceCase test;
  test.layout = kinds[static_cast<std::size_t>(number) % kinds.size()].make(width, height);
  test.in = random_placement(test.layout, random);
  test.block.assign(test.in.bytes, 0x5a);
  const auto content = static_cast<Content>(random.between(0, content_count - 1));
  const bool dirty = random.one_in(2);
  paint(test.layout, frame_in(test.layout, test.in, test.block.data()), content, random.next(),
        dirty);
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

void expect_definition(Device& device, const LuminanceCase& test) {
  const FrameLayout& layout = test.layout;
  SCOPED_TRACE(std::to_string(layout.width) + "×" + std::to_string(layout.height) +
               "\n  in: " + describe(layout, test.in));
  const DeviceBlock<std::uint8_t> block(device, test.block);
  const ConstFrame in = frame_in(layout, test.in, static_cast<const std::uint8_t*>(block.data()));
  Luminance luminance(device, layout, "a test");
  const SamplePlane plane = luminance.of(in);
  ASSERT_EQ(plane.width, layout.width);
  ASSERT_EQ(plane.height(), layout.height);
  ASSERT_EQ(plane.bits, layout.bits);
  expect_in_place(layout, in, plane);
  const DefinedLuminance expected(layout, frame_in(layout, test.in, test.block.data()));
  ASSERT_TRUE(values_of(device, plane) == expected.values);
  ASSERT_TRUE(block.values() == test.block) << "the operation wrote to its input";
}

class LuminanceCases : public LayoutCases {};

TEST_P(LuminanceCases, CpuEqualsDefinition) {
  const auto device = make_cpu_device();
  for_each_case(make_luminance_case,
                [&](const LuminanceCase& test) { expect_definition(*device, test); });
}

TEST_P(LuminanceCases, CudaEqualsDefinition) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_luminance_case,
                [&](const LuminanceCase& test) { expect_definition(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, LuminanceCases, every_layout(), layout_name);

class LuminancePlane : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, LuminancePlane, both_devices(), device_name);

TEST_P(LuminancePlane, IsThatOfEveryColour) {
  CUDAVISION_NEEDS_PIXELS(1 << 24);
  on_device([](Device& device) {
    for (const char* name : {"RGB", "BGRx", "xBGR", "ARGB", "GBR", "RGBMixed"}) {
      SCOPED_TRACE(name);
      // Red and the high half of green rise from row to row; the low half of green and blue rise
      // within each row.
      const FrameLayout layout = layout_named(name, 4096, 4096);
      const Placement placement = dense_placement(layout);
      std::vector<std::uint8_t> block(placement.bytes, 0xa5);
      const Frame frame = frame_in(layout, placement, block.data());
      const auto put = [&](Role role, int x, int y, int value) {
        const Channel& channel = layout.channels[static_cast<std::size_t>(layout.find(role))];
        frame.planes[channel.plane].row(y)[channel.offset + channel.step * x] =
            static_cast<std::uint8_t>(value);
      };
      std::vector<std::uint16_t> expected;
      for (int y = 0; y < 4096; ++y)
        for (int x = 0; x < 4096; ++x) {
          const int red = y / 16, green = y % 16 * 16 + x / 256, blue = x % 256;
          put(Role::red, x, y, red);
          put(Role::green, x, y, green);
          put(Role::blue, x, y, blue);
          expected.push_back(
              static_cast<std::uint16_t>((299 * red + 587 * green + 114 * blue) / 1000));
        }
      const DeviceBlock<std::uint8_t> colours(device, block);
      Luminance luminance(device, layout, "a test");
      const SamplePlane plane = luminance.of(
          frame_in(layout, placement, static_cast<const std::uint8_t*>(colours.data())));
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
        LuminanceCase test;
        test.layout = gray_layout(301, 77, bits, shift);
        test.layout.planes[0].row_bytes *= step;
        test.layout.channels[0].step = step;
        test.layout.channels[0].offset = step - 1;
        Random random(static_cast<std::uint64_t>(bits + step));
        test.in = random_placement(test.layout, random);
        test.block.assign(test.in.bytes, 0x5a);
        paint(test.layout, frame_in(test.layout, test.in, test.block.data()), Content::random, 6,
              true);
        expect_definition(device, test);
      }
  });
}

TEST_P(LuminancePlane, FollowsEachFrame) {
  on_device([](Device& device) {
    for (const char* name : {"GRAY8", "RGB", "YUY2", "AYUV", "P010"}) {
      SCOPED_TRACE(name);
      const FrameLayout layout = layout_named(name, 301, 77);
      const DeviceFrames first(device, layout, Content::natural, 1);
      const DeviceFrames second(device, layout, Content::random, 2);
      Luminance luminance(device, layout, "a test");
      for (const DeviceFrames* frames : {&first, &second, &first}) {
        const ConstFrame host = frame_in(layout, frames->placement, frames->host.data());
        EXPECT_TRUE(values_of(device, luminance.of(frames->in())) ==
                    DefinedLuminance(layout, host).values);
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
      const DeviceFrames frames(device, layout_named(name, 34, 10), Content::natural);
      Luminance luminance(device, frames.layout, "a test");
      const auto expect_refusal = [&](const auto& spoil) {
        ConstFrame wrong = frames.in();
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
