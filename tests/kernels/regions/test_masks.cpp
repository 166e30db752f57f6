// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the distances from masks: on the CPU device with the definition, and on the CUDA device
// with the CPU device.

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/regions/masks_case.h"

namespace cudavision::test {
namespace {

using namespace regions;

class MaskDistanceCases : public CaseShares {};

TEST_P(MaskDistanceCases, CpuEqualsDefinition) {
  const auto device = make_cpu_device();
  for_each_case(make_masks_case, [&](const MasksCase& test) {
    ASSERT_TRUE(distances_of(*device, test) == defined_distances(test)) << describe(test);
  });
}

TEST_P(MaskDistanceCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  const auto cpu = make_cpu_device();
  for_each_case(make_masks_case, [&](const MasksCase& test) {
    ASSERT_TRUE(distances_of(*device, test) == distances_of(*cpu, test)) << describe(test);
  });
}

INSTANTIATE_TEST_SUITE_P(Shares, MaskDistanceCases, CaseShares::all());

/// Returns a mask of one selected sample, which covers the box.
MaskPicture solid(const Box& box) {
  MaskPicture mask;
  mask.bytes = {1};
  mask.ids = {2, 0, 0, 0, 0, 0, 0, 0};
  mask.box = box;
  return mask;
}

class MaskDistanceUse : public EitherDevice {};

/// One object processes frames with different masks: smaller, larger, more, fewer or none.
TEST_P(MaskDistanceUse, MasksMayChangeFromFrameToFrame) {
  MaskDistances distances(device, 333, 217);
  Random random(5);
  for (int i = 0; i < 12; ++i) {
    MasksCase test{333, 217, random.between(0, 254), random_masks(333, 217, 64, random)};
    if (i == 6)
      test.masks.clear();
    ASSERT_TRUE(distances_of(device, distances, test) == defined_distances(test)) << i;
  }
}

TEST_P(MaskDistanceUse, ExtremeFramesAndBoxes) {
  const int far = Parameters::max_coordinate;
  const MasksCase cases[] = {
      {1, 1, 254, {solid({0, 0, 1, 1})}},
      {65535, 1, 254, {solid({1000, -5, 1001, 9}), solid({60000, 0, 60033, 1})}},
      {1, 65535, 100, {solid({0, 1000, 1, 1001})}},
      {65535, 3, 0, {solid({0, 0, 65535, 3})}},
      {600, 600, 254, {solid({299, 299, 300, 300})}},
      {129, 33, 7, {solid({128, 32, 129, 33})}},
      {129, 33, 7, {solid({-far, -far, far, far})}},
      {129, 33, 7, {solid({-far, -far, 0, 0}), solid({129, 0, far, 33})}},
  };
  for (const MasksCase& test : cases)
    ASSERT_TRUE(distances_of(device, test) == defined_distances(test)) << describe(test);
}

TEST_P(MaskDistanceUse, RefusesWhatItCannotRead) {
  MaskDistances distances(device, 20, 10);
  const std::vector<std::uint8_t> bytes(16, 1);
  const DeviceBlock<std::uint8_t> block(device, bytes);
  const std::vector<std::uint32_t> ids(2048, ~0u);
  const Mask valid{{block.data(), 4, 4, 4}, 1, {0, 0, 4, 4}, ids.data()};
  const auto expect_refusal = [&](const char* text, int radius, const auto& change) {
    Mask mask = valid;
    change(mask);
    CUDAVISION_EXPECT_ERROR(distances.run({&mask, 1}, radius), invalid_argument, text);
  };
  expect_refusal("a radius of 255 pixels", 255, [](Mask&) {});
  expect_refusal("a radius of -1 pixels", -1, [](Mask&) {});
  expect_refusal("samples of 3 bytes", 0, [](Mask& mask) { mask.sample_bytes = 3; });
  expect_refusal("a mask of 0×4 samples", 0, [](Mask& mask) { mask.rows.width = 0; });
  expect_refusal("a mask of 4×65536 samples", 0, [](Mask& mask) { mask.rows.height = 65536; });
  expect_refusal("box is empty", 0, [](Mask& mask) { mask.box.x1 = 0; });
  expect_refusal("outside ±1048576", 0, [](Mask& mask) { mask.box.y1 = 1048577; });
  const std::vector<Mask> many(65, valid);
  CUDAVISION_EXPECT_ERROR(distances.run(many, 0), invalid_argument, "65 masks");
}

INSTANTIATE_TEST_SUITE_P(Devices, MaskDistanceUse, both_devices(), device_name);

}  // namespace
}  // namespace cudavision::test
