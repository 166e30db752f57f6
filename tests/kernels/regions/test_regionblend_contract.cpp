// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/regions/numberedcells.h"
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/regions/regions_case.h"
#include "tests/kernels/regions/regions_definition.h"

namespace cudavision::test {
namespace {

using namespace regions;

const Parameters small = one_region({10, 5, 40, 20}, Shape::ellipse, 6);

Parameters changed(const std::function<void(Parameters&)>& change) {
  Parameters parameters = small;
  change(parameters);
  return parameters;
}

struct RegionBlendContract : ContractTraits<RegionBlendCase> {
  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    add_refusal(refusals, "RGB", "different heights",
                [](FrameLayout& l) { l.channels[1].height -= 1; });
    add_refusal(refusals, "RGB", "different heights",
                [](FrameLayout& l) { l.channels[1].subsampling_y = 2; });
    add_refusal(refusals, "RGB", "equally many pixels per byte",
                [](FrameLayout& l) { l.channels[2].subsampling_x = 2; });
    add_refusal(refusals, "YUY2", "equally many pixels per byte",
                [](FrameLayout& l) { l.channels[0].subsampling_x = 2; });
    add_refusal(refusals, "RGB", "multiple of the smaller", [](FrameLayout& l) {
      l.channels[1].offset = 1;
      l.channels[1].step = 2;
    });
    add_refusal(refusals, "I420", "samples that cover no pixel",
                [](FrameLayout& l) { l.channels[1].subsampling_x = 3; });
    add_refusal(refusals, "I420", "samples that cover no pixel",
                [](FrameLayout& l) { l.channels[2].subsampling_y = 3; });
    add_refusal(refusals, "GRAY8", "at most 8 along each axis", [](FrameLayout& l) {
      l.channels[0].width = l.channels[0].height = 1;
      l.channels[0].subsampling_y = 9;
    });
    add_refusal(refusals, "GRAY8", "more than 8 bytes", [](FrameLayout& l) {
      l.channels[0].step = 9;
      l.planes[0].row_bytes = 9 * l.width;
    });
    return refusals;
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case valid = dense("NV12", 67, 31, small);
    return {
        {"a margin of -1 pixels; it must be 0 to 65535", valid,
         changed([](Parameters& p) { p.margin = -1; })},
        {"a margin of 65536 pixels", valid, changed([](Parameters& p) { p.margin = 65536; })},
        {"a feather of -1 pixels", valid, changed([](Parameters& p) { p.feather = -1; })},
        {"a feather of 65536 pixels", valid, changed([](Parameters& p) { p.feather = 65536; })},
        {"1025 regions; there may be 0 to 1024", valid,
         changed([](Parameters& p) { p.count = 1025; })},
        {"-1 regions", valid, changed([](Parameters& p) { p.count = -1; })},
        {"region 0 has a coordinate of 1048577", valid,
         changed([](Parameters& p) { p.boxes[0].x1 = 1048577; })},
        {"65 masks; there may be 0 to 64", valid,
         changed([](Parameters& p) { p.mask_count = 65; })},
        {"a mask growth of -1 pixels", valid, changed([](Parameters& p) { p.mask_growth = -1; })},
        {"mask 0 has a coordinate of 1048577", valid, changed([](Parameters& p) {
           p.mask_count = 1;
           p.mask_boxes[0].x1 = 1048577;
         })},
        {"region 0 has a coordinate of -1048577", valid,
         changed([](Parameters& p) { p.boxes[0].y0 = -1048577; })},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10, small); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    auto refusals = ContractTraits::frames_refusals();
    append(refusals,
           wrong_frames<Case, ConstFrame>(&Case::Frames::processed, "of the processed frame"));
    return refusals;
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB"})
      for (const Shape shape : {Shape::rectangle, Shape::ellipse})
        for (const bool invert : {false, true}) {
          Parameters parameters = one_region({30, 20, 90, 50}, shape, 10);
          parameters.invert = invert;
          parameters.fields = invert != (shape == Shape::ellipse);
          if (cases.size() % 3 == 0)
            parameters.angles[0] = 5000;
          cases.push_back(dense(layout, width, height, parameters));
        }
    return cases;
  }
  static std::vector<Case> changing() {
    return {dense("GRAY8", 160, 90, small), dense("NV12", 121, 77, small),
            dense("P010", 64, 64, small)};
  }
  static std::vector<Parameters> sets(const Case& test) {
    Random random(test.layout.width);
    std::vector<Parameters> sets = {small, small};
    for (int i = 0; i < 12; ++i)
      sets.push_back(
          random_regions(test.layout.width, test.layout.height, i == 5 ? 1024 : 6, random));
    sets.push_back(small);
    return sets;
  }
};

CUDAVISION_CONTRACT(RegionBlend, RegionBlendContract);

/// Boxes with an index of at least `count` do not affect equality.
TEST(RegionParameters, AreEqualWhereNothingThatCountsDiffers) {
  const std::function<void(Parameters&)> changes[] = {
      [](Parameters& p) { p.shape = Shape::rectangle; },
      [](Parameters& p) { p.margin = 1; },
      [](Parameters& p) { p.feather = 1; },
      [](Parameters& p) { p.invert = true; },
      [](Parameters& p) { p.fields = true; },
      [](Parameters& p) { p.count = 2; },
      [](Parameters& p) { p.boxes[0].x1 = 1; },
      [](Parameters& p) { p.angles[0] = 1; },
      [](Parameters& p) { p.mask_count = 1; },
      [](Parameters& p) { p.mask_growth = 1; },
  };
  for (const auto& change : changes)
    EXPECT_NE(changed(change), small);
  EXPECT_EQ(changed([](Parameters& p) { p.boxes[1].x1 = 1; }), small);
}

CUDAVISION_ON_BOTH_DEVICES(RegionBlendUse);

/// A chroma sample has the largest weight of its pixels, so that chroma does not reveal outlines.
TEST_P(RegionBlendUse, NothingOfARegionStays) {
  Random random(84);
  for (int i = 0; i < 120; ++i) {
    const char* const names[] = {"I420", "NV12", "Y42B", "YUY2", "UYVY", "P010", "I420_10"};
    const auto [width, height] = random_picture_size(random, 4000);
    Parameters parameters = random_regions(width, height, 5, random);
    parameters.fields = random.one_in(3);
    const RegionBlendCase test =
        plain_region_blend_case(layout_named(names[i % 7], width, height), parameters,
                                Content::random, static_cast<std::uint64_t>(i));
    SCOPED_TRACE(describe(test));
    const auto processed = test.processed_block();
    const auto output = Runner<RegionBlendCase>(device, test).run(input_block(test), 0xcd);
    const ConstFrame blended = frame_in(test.layout, test.out, output.data());
    const ConstFrame whole = test.processed_in(processed.data());
    for (int c = 0; c < test.layout.channel_count; ++c) {
      const Channel& channel = test.layout.channels[static_cast<std::size_t>(c)];
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          if (defined_weight(parameters, x, y) != full_weight)
            continue;
          const int column = x / channel.subsampling_x;
          int row = y / channel.subsampling_y;
          if (parameters.fields)
            row = std::min(2 * (y / 2 / channel.subsampling_y) + y % 2, channel.height - 1);
          ASSERT_EQ(defined_sample(test.layout, blended, channel, column, row),
                    defined_sample(test.layout, whole, channel, column, row))
              << "channel " << c << " of pixel " << x << ", " << y;
        }
    }
  }
}

TEST_P(RegionBlendUse, NeedsTheDistancesFromMasks) {
  const FrameLayout layout = gray_layout(20, 10);
  const RegionBlendCase test = plain_region_blend_case(layout, changed([](Parameters& p) {
                                                         p.mask_count = 1;
                                                         p.mask_boxes[0] = {2, 2, 5, 5};
                                                       }),
                                                       Content::random, 1);
  const RegionBlendFrames frames(device, test);
  RegionBlend blend(device, layout, test.parameters);
  EXPECT_FALSE(blend.identity());
  CUDAVISION_EXPECT_ERROR(blend.run(frames.in, frames.processed, frames.out), invalid_argument,
                          "the frame has 20×10");
}

TEST_P(RegionBlendUse, KnowsTheIdentity) {
  const FrameLayout layout = gray_layout(200, 100);
  const auto identity = [&](const Parameters& parameters) {
    return RegionBlend(device, layout, parameters).identity();
  };
  EXPECT_TRUE(identity({}));
  EXPECT_TRUE(identity(one_region({200, 0, 300, 100}, Shape::rectangle, 0)));
  EXPECT_TRUE(identity(one_region({10, 10, 10, 50}, Shape::rectangle, 30)));
  EXPECT_TRUE(identity(one_region({-50, -50, 0, 100}, Shape::ellipse, 0)));
  const auto masked = [&](const Box& box, int margin) {
    Parameters parameters;
    parameters.mask_count = 1;
    parameters.mask_boxes[0] = box;
    parameters.margin = margin;
    return identity(parameters);
  };
  EXPECT_TRUE(masked({200, 0, 300, 100}, 30)) << "a mask has no pixel in the frame";
  EXPECT_FALSE(masked({199, 0, 300, 100}, 0));
  EXPECT_FALSE(identity(one_region({199, 99, 200, 100}, Shape::rectangle, 0)));
  EXPECT_FALSE(identity(one_region({-50, -50, 0, 100}, Shape::rectangle, 9)));
  EXPECT_FALSE(identity(changed([](Parameters& p) {
    p.count = 0;
    p.invert = true;
  })));
}

TEST(ActiveCells, AreAsLargeAsTheFrameNeeds) {
  ActiveCells cells(3840, 2160);
  EXPECT_FALSE(cells.any());
  cells.add({100, 80, 300, 280});
  EXPECT_TRUE(cells.any());
  // Cells of 64×64 pixels: columns 1 to 4, rows 1 to 4.
  EXPECT_TRUE(cells.touch({64, 64, 65, 65}));
  EXPECT_FALSE(cells.touch({0, 0, 64, 2160}));
  EXPECT_FALSE(cells.touch({320, 0, 4000, 2160}));
  EXPECT_TRUE(cells.touch({319, 0, 4000, 2176}));
  EXPECT_EQ(NumberedCells(cells, 1, 1).count(), 16);
  cells.add({-1000, -1000, 10000, 10000});
  EXPECT_EQ(NumberedCells(cells, 1, 1).count(), 60 * 34);
}

}  // namespace
}  // namespace cudavision::test
