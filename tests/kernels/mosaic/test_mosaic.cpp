// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every byte of Mosaic's output: on the CPU device with the definition, and on the CUDA
// device with the CPU device. In regions, with a blend of whole frames.

#include "tests/kernels/mosaic/mosaic_case.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace mosaic;

CUDAVISION_RANDOM_CASES(MosaicCases, make_mosaic_case);

CUDAVISION_REGION_CASES(MosaicRegions, make_mosaic_case);

Parameters of_fields(Parameters parameters) {
  parameters.fields = true;
  return parameters;
}

Parameters alpha_kept(Parameters parameters) {
  parameters.hide_alpha = false;
  return parameters;
}

const Extreme<Parameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, blocks_of(2)},
    {"OnePixelFields", "NV12", 1, 1, Content::random, of_fields(blocks_of(2))},
    {"SmallestBlocks", "GRAY8", 1031, 37, Content::random, blocks_of(2)},
    {"SmallestBlocksI420", "I420", 531, 37, Content::random, blocks_of(2)},
    {"SmallestBlocksRgba", "RGBA", 531, 37, Content::random, blocks_of(2)},
    {"OddBlocksI420", "I420", 331, 67, Content::random, blocks_of(3)},
    {"OddBlocksUyvy", "UYVY", 1031, 267, Content::random, blocks_of(255)},
    {"OddBlocksFields", "I420", 331, 67, Content::random, of_fields(blocks_of(7))},
    {"FieldsOfTwoRows", "I420", 31, 2, Content::random, of_fields(blocks_of(2))},
    {"FieldsOfSixRows", "NV12", 31, 6, Content::random, of_fields(blocks_of(2))},
    {"LargestSum", "GRAY16", 700, 300, Content::maximum, blocks_of(256)},
    {"LargestSumBytes", "GRAY8", 700, 300, Content::maximum, blocks_of(256)},
    {"LargestBlocksRgba", "RGBA", 700, 300, Content::random, blocks_of(256)},
    {"AlphaKept", "RGBA", 333, 100, Content::random, alpha_kept(blocks_of(16))},
    {"AlphaPlaneKept", "GBRA", 333, 100, Content::random, alpha_kept(blocks_of(16))},
    {"Solid", "I420", 333, 101, Content::random, solid_colour(8)},
    {"SolidP010", "P010", 333, 101, Content::random, solid_colour(10)},
    {"SolidRgbx", "RGBx", 333, 101, Content::random, solid_colour(8)},
    {"SolidAlphaKept", "ARGB", 333, 101, Content::random, alpha_kept(solid_colour(8))},
    {"Roomy", "GRAY8Roomy", 90, 60, Content::random, blocks_of(8)},
    {"WidestRow", "GRAY8", 65535, 1, Content::random, blocks_of(100)},
    {"HighestColumn", "RGBx", 1, 65535, Content::random, blocks_of(100)},
};

CUDAVISION_TABLE_CASES(MosaicExtremes, extremes, dense_and_ragged<MosaicCase>);

/// Blocks that end at, before and after the tiles of the kernel.
std::vector<MosaicCase> at_seams(const Seam& seam) {
  std::vector<MosaicCase> cases;
  for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "RGB", "RGBA"})
    for (const int size : {8, 15, 16, 31, 32, 33, 64})
      cases.push_back(plain_mosaic_case(layout_named(layout, 4 * seam.width + 1, 70),
                                        blocks_of(size), Content::random, 79));
  return cases;
}

CUDAVISION_TABLE_CASES(MosaicSeams, seams, at_seams);

/// Frames for which the definition is too slow.
const Extreme<Parameters> large[] = {
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, blocks_of(16)},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, blocks_of(24)},
    {"FullHdRgb", "RGB", 1921, 1081, Content::natural, blocks_of(10)},
    {"UhdP010", "P010", 3840, 2160, Content::natural, blocks_of(32)},
    {"UhdSolid", "NV12", 3840, 2160, Content::natural, solid_colour(8)},
};

CUDAVISION_CUDA_TABLE_CASES(MosaicLarge, large, dense<MosaicCase>);

class MosaicUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, MosaicUse, both_devices(), device_name);

/// Every block has one colour, whichever part of the frame is needed.
TEST_P(MosaicUse, NothingIsLeftOfABlockButItsMean) {
  on_device([](Device& device) {
    for (const char* name : {"GRAY8", "I420", "NV12", "YUY2", "RGB", "P010"})
      for (const int size : {2, 5, 16, 40}) {
        const MosaicCase test =
            plain_mosaic_case(layout_named(name, 123, 77), blocks_of(size), Content::random, 8);
        SCOPED_TRACE(describe(test));
        const auto output = Runner<MosaicCase>(device, test).run(input_block(test), poison);
        const ConstFrame out = frame_in(test.layout, test.out, output.data());
        for (int c = 0; c < test.layout.channel_count; ++c) {
          const Channel& channel = test.layout.channels[static_cast<std::size_t>(c)];
          const auto begins = [&](int at, int pixels) {
            return at == 0 || at * pixels / size != (at - 1) * pixels / size;
          };
          for (int y = 0; y < channel.height; ++y)
            for (int x = 0; x < channel.width; ++x) {
              const int value = defined_sample(test.layout, out, channel, x, y);
              if (!begins(x, channel.subsampling_x)) {
                ASSERT_EQ(value, defined_sample(test.layout, out, channel, x - 1, y));
              }
              if (!begins(y, channel.subsampling_y)) {
                ASSERT_EQ(value, defined_sample(test.layout, out, channel, x, y - 1));
              }
            }
        }
      }
  });
}

/// The blocks of a face stay the same while a detector's rectangles around it move.
TEST_P(MosaicUse, BlocksDoNotMoveWithRegions) {
  on_device([](Device& device) {
    const MosaicCase test =
        plain_mosaic_case(layout_named("NV12", 200, 120), blocks_of(16), Content::random, 9);
    const MosaicCase::Frames frames(device, test);
    const FrameLayout& layout = test.layout;
    Mosaic mosaic(device, layout, test.parameters);
    std::vector<std::uint8_t> seen[2];
    for (const int shift : {0, 5}) {
      regions::RegionBlend blend(device, layout,
                                 one_region({40 + shift, 30 + shift, 140 + shift, 90 + shift},
                                            regions::Shape::rectangle, 0));
      const DeviceBlock<std::uint8_t> scratch(device,
                                              std::vector<std::uint8_t>(test.out.bytes, poison));
      const Frame processed = frame_in(layout, test.out, scratch.data());
      mosaic.run(frames.in, processed, blend.active());
      blend.run(frames.in, processed, frames.out);
      device.finish();
      seen[shift > 0] = frames.output();
    }
    const ConstFrame before = frame_in(layout, test.out, seen[0].data());
    const ConstFrame after = frame_in(layout, test.out, seen[1].data());
    for (int c = 0; c < layout.channel_count; ++c) {
      const Channel& channel = layout.channels[static_cast<std::size_t>(c)];
      for (int y = 36 / channel.subsampling_y; y < 90 / channel.subsampling_y; ++y)
        for (int x = 46 / channel.subsampling_x; x < 140 / channel.subsampling_x; ++x)
          ASSERT_EQ(defined_sample(layout, before, channel, x, y),
                    defined_sample(layout, after, channel, x, y))
              << "channel " << c << ", " << x << ", " << y;
    }
  });
}

TEST(MosaicDefinition, RoundsHalfUp) {
  // Two blocks of 2×2 samples: 0 0 1 1 gives 0.5, and 0 0 0 1 gives 0.25.
  const FrameLayout layout = gray_layout(4, 2);
  std::uint8_t in[8] = {0, 0, 0, 0, 1, 1, 0, 1}, out[8] = {};
  const auto device = make_cpu_device();
  ConstFrame from;
  from.planes[0] = {in, 4, 2, 4};
  Frame to;
  to.planes[0] = {out, 4, 2, 4};
  Mosaic(*device, layout, blocks_of(2)).run(from, to);
  const std::uint8_t expected[8] = {1, 1, 0, 0, 1, 1, 0, 0};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

}  // namespace
}  // namespace cudavision::test
