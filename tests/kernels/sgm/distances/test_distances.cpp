// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares Distances with the definition on both devices, and tests its refusals.

#include <cmath>
#include <limits>
#include <optional>

#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/distances/distances_case.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

class BoxDistances : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, BoxDistances, both_devices(), device_name);

void expect_definition(Device& device, const DistancesCase& test) {
  const std::vector<BoxDisparity> results = computed_disparities(device, test);
  for (std::size_t i = 0; i < test.boxes.size(); ++i) {
    const regions::Box& box = test.boxes[i];
    const BoxDisparity& result = results[i];
    EXPECT_TRUE(result == defined_disparity(test, box, test.mask_of(i)))
        << describe(test) << ": box " << box.x0 << ", " << box.y0 << ", " << box.x1 << ", "
        << box.y1 << " has " << result.known << " of " << result.samples << " samples, "
        << result.low << ", " << result.middle << ", " << result.high;
  }
}

TEST_P(BoxDistances, AreTheDefinition) {
  for_each_case_number([&](int number) {
    expect_definition(device, make_distances_case(settings().seed, number,
                                                  std::min(settings().max_pixels, 1 << 18)));
  });
}

TEST_P(BoxDistances, OfMaskedBoxesAreTheDefinition) {
  for_each_case_number([&](int number) {
    expect_definition(device, make_masked_distances_case(settings().seed, number,
                                                         std::min(settings().max_pixels, 1 << 18)));
  });
}

/// The maximum number of boxes, each of the whole map. All map values are equal.
DistancesCase flat_case(int width, int height) {
  DistancesCase test = make_distances_case(settings().seed, 0, 1);
  test.parameters = Parameters();
  test.width = width, test.height = height;
  test.layout = gray_layout(width, height, 16);
  test.placement = dense_placement(test.layout);
  test.numbers.assign(static_cast<std::size_t>(width * height), 1600);
  test.boxes.assign(Distances::max_boxes, {0, 0, width, height});
  return test;
}

// Every box has a mask, with so many ids that the table of ids grows.
TEST_P(BoxDistances, OfAsManyMasksAsBoxes) {
  DistancesCase test = flat_case(97, 61);
  for (std::size_t i = 0; i < test.numbers.size(); ++i)
    test.numbers[i] = static_cast<std::uint16_t>(7919 * i % 2033);
  Random random(7);
  for (std::size_t i = 0; i < test.boxes.size(); ++i) {
    MaskPicture& mask = test.masks.emplace_back();
    mask.width = mask.height = 16;
    mask.sample_bytes = mask.pitch = 2;
    mask.pitch *= 16;
    for (int k = 0; k < 512; ++k)
      mask.bytes.push_back(static_cast<std::uint8_t>(random.between(0, 1)));
    mask.ids.assign(2048, 0);
    mask.ids[8 * (i % 2)] = 3;
    mask.box = {0, 0, test.width, test.height};
  }
  expect_definition(device, test);
}

// Maps with few samples, and maps with more equal samples than 16 bits can count. Even and odd
// values are counted in different halves of a word.
TEST_P(BoxDistances, CountFewAndManySamples) {
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 7},
                                      {2, 2},
                                      {3, 5},
                                      {16, 1},
                                      {9, 9},
                                      {512, 512},
                                      {513, 515},
                                      {2000, 3},
                                      {1100, 700}}) {
    CUDAVISION_NEEDS_PIXELS(width * height);
    for (const int flat : {0, 1600, 1601}) {
      DistancesCase test = flat_case(width, height);
      for (std::size_t i = 0; i < test.numbers.size(); ++i)
        test.numbers[i] = static_cast<std::uint16_t>(flat ? flat : 7919 * i % 2033);
      expect_definition(device, test);
    }
  }
}

TEST_P(BoxDistances, TakeNewParametersWithoutAllocating) {
  WatchedDevice watched(device);
  DistancesCase test = make_distances_case(settings().seed, 3, 5000);
  Parameters other = test.parameters;
  other.minimum += other.minimum < 0 ? 1 : -1;
  Distances distances(watched, test.width, test.height, test.parameters);
  const DeviceBlock<std::uint16_t> map(watched, test.numbers);
  const Buffer results = watched.allocate_host(test.boxes.size() * sizeof(BoxDisparity));
  expect_no_allocations(watched, 30, [&](int i) {
    distances.set_parameters(i % 2 == 0 ? other : test.parameters);
    distances.run({reinterpret_cast<const std::uint8_t*>(map.data()), 2 * test.width, test.height,
                   std::ptrdiff_t{2} * test.width},
                  test.boxes, results.as<BoxDisparity>());
  });
  for (std::size_t i = 0; i < test.boxes.size(); ++i)
    EXPECT_TRUE(results.as<BoxDisparity>()[i] == defined_disparity(test, test.boxes[i]));
}

TEST_P(BoxDistances, AreRefused) {
  CUDAVISION_EXPECT_ERROR(Distances(device, 0, 5, {}), invalid_argument, "make them 1 to 65535");
  CUDAVISION_EXPECT_ERROR(Distances(device, 5, 65536, {}), invalid_argument, "5 and 65536");
  Parameters bad;
  bad.disparities = 100;
  CUDAVISION_EXPECT_ERROR(Distances(device, 5, 5, bad), invalid_argument, "disparities is 100");
  Distances distances(device, 4, 2, {});
  CUDAVISION_EXPECT_ERROR(distances.set_parameters(bad), invalid_argument, "disparities is 100");
  const Buffer map = device.allocate(16);
  BoxDisparity results[1];
  const View<const std::uint8_t> view{map.as<std::uint8_t>(), 8, 2, 8};
  CUDAVISION_EXPECT_ERROR(distances.run({view.data, 8, 1, 8}, {}, results), invalid_argument,
                          "2 rows of 8 bytes");
  CUDAVISION_EXPECT_ERROR(distances.run({}, {}, results), invalid_argument, "2 rows of 8 bytes");
  const std::vector<regions::Box> boxes(Distances::max_boxes + 1);
  CUDAVISION_EXPECT_ERROR(distances.run(view, boxes, results), invalid_argument,
                          "129 boxes; there may be at most 128");
  const std::vector<regions::Mask> masks(2);
  CUDAVISION_EXPECT_ERROR(distances.run(view, {boxes.data(), 1}, results, masks), invalid_argument,
                          "2 masks for 1 boxes");
  remap::MapView rectifying;
  rectifying.segments = map.as<remap::Segment>();
  CUDAVISION_EXPECT_ERROR(distances.run(view, {boxes.data(), 1}, results, {}, rectifying),
                          invalid_argument, "the size of the disparities");
  distances.run(view, {}, nullptr);
}

TEST(BoxCenters, AreTheDefinition) {
  const DisparityScale scale = disparity_scale({});
  const Reprojection q = reprojection_of(700, 120, 641, 481);
  // The box's centre is the middle of columns 319 to 321 and rows 240 and 241; Z = 700·120 / 20 mm.
  const auto point = center_of({319, 240, 322, 242}, 320, scale, q);
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ((*point)[0], 0);
  EXPECT_DOUBLE_EQ((*point)[1], 0.5 * 4200 / 700);
  EXPECT_DOUBLE_EQ((*point)[2], 4200);
  EXPECT_FALSE(center_of({0, 0, 1, 1}, 0, scale, q)) << "infinitely far away";
  EXPECT_FALSE(center_of({0, 0, 1, 1}, static_cast<std::uint16_t>(-16), scale, q));
}

}  // namespace
}  // namespace cudavision::test
