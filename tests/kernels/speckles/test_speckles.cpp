// SPDX-License-Identifier: LGPL-2.1-or-later
#include <tbb/task_arena.h>

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/sgm/speckle_maps.h"
#include "tests/kernels/speckles/speckles_case.h"

namespace cudavision::test {
namespace {

using namespace speckles;

CUDAVISION_NUMBERED_CASES(SpecklesCases, make_speckles_case);

const Extreme<Parameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::zeros, {1}},
    {"OnePixelWords", "GRAY16", 1, 1, Content::maximum, {1, true}},
    {"Off", "GRAY8", 100, 100, Content::random, {}},
    {"Single", "GRAY8", 331, 167, Content::random, {1}},
    {"SingleWords", "GRAY16", 331, 167, Content::random, {1, true}},
    {"Noise", "GRAY8", 331, 167, Content::random, {40}},
    {"Shapes", "GRAY8", 640, 480, Content::natural, {100}},
    {"All", "GRAY8", 200, 100, Content::zeros, {20000}},
    {"AllButOne", "GRAY8", 200, 100, Content::zeros, {15000}},
    {"AnySize", "GRAY16", 200, 100, Content::natural, {Parameters::Ranges::size.max, true}},
    {"WidestRow", "GRAY8", 65535, 1, Content::random, {2}},
    {"HighestColumn", "GRAY16", 1, 65535, Content::random, {2}},
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, {30}},
};

CUDAVISION_TABLE_CASES(SpecklesExtremes, extremes, dense_and_ragged<SpecklesCase>);

struct Shape {
  Shape(const NamedMap& one, int width, int height, bool words)
      : name(one.name),
        test(plain_speckles_case(gray_layout(width, height, words ? 16 : 8), {1}, Content::zeros,
                                 1)) {
    block = input_block(test);
    const Frame frame = frame_in(test.layout, test.in, block.data());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        put_sample(test.layout, frame, test.layout.channels[0], x, y,
                   one.map[y * width + x] == sgm::unknown ? (1 << test.layout.bits) - 1 : 0);
  }

  std::string name;
  SpecklesCase test;
  std::vector<std::uint8_t> block;
};

void expect_shapes(Device& device) {
  Random random(4);
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 100},
                                      {100, 1},
                                      {31, 33},
                                      {32, 32},
                                      {33, 31},
                                      {64, 64},
                                      {65, 97},
                                      {130, 40}})
    for (const NamedMap& map : speckle_maps(random, width, height)) {
      Shape shape(map, width, height, width % 2 == 0);
      CopyWithoutSpeckles operation(device, shape.test.layout, {1});
      for (const int size : {1, 2, 9, 31, 32, 100, 900, 1024, width * height - 1, width * height}) {
        if (size < 1)
          continue;
        shape.test.parameters = {size};
        operation.set_parameters(shape.test.parameters);
        // In the second run, the scratch memory holds data of the first run.
        for (int repetition = 0; repetition < 2; ++repetition) {
          const SpecklesCase::Frames frames(device, shape.test, shape.block, poison);
          frames.run(operation);
          device.finish();
          ASSERT_EQ(difference_from_definition(frames), "")
              << shape.name << ", " << width << "×" << height << ", components of " << size;
        }
      }
    }
}

/// Components touch borders between bands, cross a border several times, or cross all borders.
TEST(SpecklesShapes, InAnyNumberOfBandsEqualTheDefinition) {
  for (const int bands : {1, 2, 3, 7, 64})
    tbb::task_arena(bands).execute([] { expect_shapes(*make_cpu_device()); });
}

TEST(SpecklesShapes, InTilesEqualTheDefinition) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  expect_shapes(*device);
}

}  // namespace
}  // namespace cudavision::test
