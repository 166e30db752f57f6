// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/remap/remap_case.h"
#include "tests/kernels/remap/remap_definition.h"

namespace cudavision::test {
namespace {

using remap::Map;
using remap::Remap;

int work_in_pixels(const RemapCase& test) {
  return std::max(test.layout.width * test.layout.height,
                  test.out_layout.width * test.out_layout.height);
}

CUDAVISION_RANDOM_CASES(RemapCases, make_remap_case);

const Extreme<MapParameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::maximum, {MapKind::edges, 1}},
    {"OnePixelSpread", "GRAY8", 1, 1, Content::maximum, {MapKind::edges, 3, 640, 480}},
    {"OneRow", "GRAY8", 32767, 1, Content::random, {MapKind::scattered, 4, 300, 200}},
    {"OneColumn", "GRAY16", 1, 32767, Content::random, {MapKind::scattered, 5, 300, 200}},
    {"WidestMap", "GRAY8", 640, 1, Content::random, {MapKind::scattered, 6, 65535, 1}},
    {"HighestMap", "GRAY16", 1, 480, Content::random, {MapKind::scattered, 7, 1, 65535}},
    // Up to a side of 2046 pixels, the offsets of every segment fit 16 bits.
    {"NarrowOffsets", "GRAY8", 2046, 9, Content::random, {MapKind::scattered, 8}},
    {"WideOffsets", "GRAY8", 2047, 9, Content::random, {MapKind::scattered, 9}},
    {"NarrowOffsetsDown", "GRAY16", 9, 2046, Content::random, {MapKind::scattered, 10}},
    {"WideOffsetsDown", "GRAY16", 9, 2047, Content::random, {MapKind::scattered, 11}},
    {"Anywhere", "P010", 3000, 400, Content::random, {MapKind::anywhere, 12}},
    {"Maximum", "GRAY8", 640, 480, Content::maximum, {MapKind::lens, 14}},
    {"MaximumOfWords", "GRAY16", 640, 480, Content::maximum, {MapKind::scattered, 15}},
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, {MapKind::lens, 16}},
    {"Uhd4k", "GRAY8", 3840, 2160, Content::natural, {MapKind::lens, 20}},
    {"Uhd4kScattered", "GRAY16", 3840, 2160, Content::random, {MapKind::scattered, 21}},
};

CUDAVISION_TABLE_CASES(RemapExtremes, extremes, dense<RemapCase>);

class RemapUse : public EitherDevice {
 protected:
  std::vector<std::uint32_t> words_of(const View<const std::uint32_t>& view) {
    const int row_bytes = 4 * view.width;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(view.width) * view.height);
    device.download(
        {reinterpret_cast<const std::uint8_t*>(view.data), row_bytes, view.height, view.pitch},
        {reinterpret_cast<std::uint8_t*>(words.data()), row_bytes, view.height, row_bytes});
    device.finish();
    return words;
  }

  void expect_outside(const RemapCase& test) {
    SCOPED_TRACE(describe(test));
    const HostMap host = test.map();
    const Map map = host.view();
    const Remap remap(device, {test.layout.width, test.layout.height, test.layout.bits}, map);
    const View<const std::uint32_t> outside = remap.outside();
    ASSERT_EQ(outside.width, (host.width + 31) / 32);
    ASSERT_EQ(outside.height, host.height);
    const std::vector<std::uint32_t> words = words_of(outside);
    std::vector<std::uint32_t> expected(words.size());
    bool any = false;
    for (int y = 0; y < host.height; ++y)
      for (int x = 0; x < host.width; ++x)
        if (defined_outside(test.layout.width, test.layout.height, map, x, y)) {
          const int word = y * outside.width + x / 32;
          expected[word] |= std::uint32_t{1} << x % 32;
          any = true;
        }
    ASSERT_TRUE(words == expected);
    ASSERT_EQ(remap.any_outside(), any);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, RemapUse, both_devices(), device_name);

TEST_P(RemapUse, MarksPixelsWithoutASource) {
  for_each_case_number([&](int number) {
    expect_outside(make_remap_case(settings().seed, number, settings().max_pixels / 4));
  });
}

TEST_P(RemapUse, ReadsMapsWithGapsBetweenTheRows) {
  const RemapCase test = plain_remap_case(layout_named("GRAY8", 301, 203), {MapKind::scattered, 5},
                                          Content::random, 3);
  const HostMap host = test.map();
  constexpr int gap = 7;
  std::vector<std::int16_t> places;
  std::vector<std::uint16_t> fractions;
  for (int y = 0; y < host.height; ++y) {
    const Map map = host.view();
    places.insert(places.end(), map.places.row(y), map.places.row(y) + 2 * host.width);
    places.insert(places.end(), gap, 0);
    fractions.insert(fractions.end(), map.fractions.row(y), map.fractions.row(y) + host.width);
    fractions.insert(fractions.end(), gap, 0);
  }
  const Map apart{{places.data(), 2 * host.width, host.height, 2 * (2 * host.width + gap)},
                  {fractions.data(), host.width, host.height, 2 * (host.width + gap)}};
  const auto input = input_block(test);
  const DeviceBlock<std::uint8_t> block(device, input);
  Remap remap(device, {301, 203, 8}, apart);
  const SamplePlane out = remap.run({{block.data(), 301, 203, 301}, 301, 8, 0});
  ASSERT_EQ(out.width, host.width);
  ASSERT_EQ(out.height(), host.height);
  ASSERT_EQ(out.bits, 8);
  ASSERT_EQ(out.shift, 0);
  std::vector<std::uint8_t> actual(test.out.bytes, poison);
  device.download(out.rows, frame_in(test.out_layout, test.out, actual.data()).planes[0]);
  device.finish();
  EXPECT_EQ(difference(test, defined_output(test, input, poison), actual), "");
}

TEST_P(RemapUse, RefusesPicturesOfOtherSizesAndDepths) {
  const HostMap host({MapKind::identity, 1}, 33, 9);
  for (const auto& [width, height] :
       {std::pair(0, 9), {-1, 9}, {32768, 9}, {33, 0}, {33, -1}, {33, 32768}})
    CUDAVISION_EXPECT_ERROR(Remap(device, {width, height, 8}, host.view()), invalid_argument,
                            "width and height must be 1 to 32767");
  for (const int bits : {-1, 0, 7, 17})
    CUDAVISION_EXPECT_ERROR(Remap(device, {33, 9, bits}, host.view()), invalid_argument,
                            "8 to 16 are supported");
}

TEST_P(RemapUse, RefusesMapsWhoseMatricesDiffer) {
  const HostMap host({MapKind::identity, 1}, 33, 9);
  const auto expect_refusal = [&](const char* words, const std::function<void(Map&)>& spoil) {
    Map map = host.view();
    spoil(map);
    CUDAVISION_EXPECT_ERROR(Remap(device, {33, 9, 8}, map), invalid_argument, words);
  };
  expect_refusal("the map lacks", [](Map& map) { map.places.data = nullptr; });
  expect_refusal("the map lacks", [](Map& map) { map.fractions.data = nullptr; });
  expect_refusal("must be 1 to 65535", [](Map& map) { map.fractions.width = 0; });
  expect_refusal("must be 1 to 65535", [](Map& map) { map.fractions.width = 65536; });
  expect_refusal("must be 1 to 65535", [](Map& map) { map.fractions.height = -1; });
  expect_refusal("must be 1 to 65535", [](Map& map) { map.fractions.height = 65536; });
  expect_refusal("each pixel needs two", [](Map& map) { map.places.width -= 1; });
  expect_refusal("each pixel needs two", [](Map& map) { map.places.width = 33; });
  expect_refusal("each pixel needs two", [](Map& map) { map.places.height += 1; });
}

TEST_P(RemapUse, RefusesInputsOfAnotherShape) {
  const HostMap host({MapKind::identity, 1}, 33, 9);
  const DeviceBlock<std::uint8_t> block(device, std::vector<std::uint8_t>(std::size_t{66} * 9));
  Remap remap(device, {33, 9, 10}, host.view());
  const auto expect_refusal = [&](const std::function<void(SamplePlane&)>& spoil) {
    SamplePlane plane{{block.data(), 66, 9, 66}, 33, 10, 6};
    spoil(plane);
    CUDAVISION_EXPECT_ERROR(remap.run(plane), invalid_argument,
                            "the input must have 9 rows of 33 samples of 10 bits");
  };
  expect_refusal([](SamplePlane& plane) { plane.rows.data = nullptr; });
  expect_refusal([](SamplePlane& plane) { plane.rows.width = 33; });
  expect_refusal([](SamplePlane& plane) { plane.rows.height = 8; });
  expect_refusal([](SamplePlane& plane) { plane.width = 32; });
  expect_refusal([](SamplePlane& plane) { plane.bits = 12; });
  expect_refusal([](SamplePlane& plane) { plane.shift = 7; });
  expect_refusal([](SamplePlane& plane) { plane.shift = -1; });
  for (const std::ptrdiff_t pitch : {std::ptrdiff_t{1} << 31, -(std::ptrdiff_t{1} << 31) - 1})
    CUDAVISION_EXPECT_ERROR(remap.run({{block.data(), 66, 9, pitch}, 33, 10, 6}), invalid_argument,
                            "less than 2 GiB");
  remap.run({{block.data(), 66, 9, 66}, 33, 10, 6});
  device.finish();
}

}  // namespace
}  // namespace cudavision::test
