// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the blocks of the CUDA kernels on the host, and compares the result with the definition.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/regions/backend.h"
#include "cuda/regions/numberedcells.h"
#include "cuda/regions/tile.h"
#include "cuda/regions/tileselection.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/regions/masks_case.h"
#include "tests/kernels/regions/regions_case.h"
#include "tests/kernels/regions/regions_definition.h"

namespace cudavision::test {
namespace {

using namespace regions;

/// The arguments of a launch, in host memory.
struct HostLaunch {
  HostLaunch(const RegionBlendCase& test, const ConstFrame& in, const ConstFrame& processed,
             const Frame& out) {
    const Parameters& p = test.parameters;
    const Selection selection = select(test.layout, p);
    regions.assign(selection.regions.begin(), selection.regions.begin() + selection.count);
    rotated.assign(selection.rotated.begin(), selection.rotated.begin() + selection.rotated_count);
    arguments.rotated = rotated.data();
    arguments.rotated_count = static_cast<int>(rotated.size());
    arguments.active = selection.active;
    arguments.distances = test.distances.empty() ? nullptr : test.distances.data();
    arguments.distances_pitch = test.layout.width;
    arguments.mask_margin = p.mask_margin();
    arguments.mask_feather = p.mask_feather();
    arguments.regions = regions.data();
    arguments.region_count = static_cast<int>(regions.size());
    arguments.shape = p.shape;
    arguments.feather = p.feather;
    arguments.invert = p.invert;
    arguments.fields = p.fields;
    arguments.width = test.layout.width;
    arguments.height = test.layout.height;
    arguments.shift = test.layout.shift;
    arguments.largest = (1u << test.layout.bits) - 1;
    arguments.plane_count = test.layout.plane_count;
    for (int number = 0; number < arguments.plane_count; ++number) {
      const auto at = static_cast<std::size_t>(number);
      BlendPlane& plane = arguments.planes[number];
      plane = describe_plane(test.layout, number);
      plane.first_block = blocks;
      blocks += plane.strips * ((plane.rows + BlendTile::height - 1) / BlendTile::height);
      plane.in = in.planes[at].data;
      plane.processed = processed.planes[at].data;
      plane.out = out.planes[at].data;
      plane.in_pitch = static_cast<int>(in.planes[at].pitch);
      plane.processed_pitch = static_cast<int>(processed.planes[at].pitch);
      plane.out_pitch = static_cast<int>(out.planes[at].pitch);
    }
  }

  std::vector<Region> regions;
  std::vector<RotatedRegion> rotated;
  BlendArguments arguments;
  int blocks = 0;
};

/// Writes the rows of one thread. word_of(row, word, in, processed) returns a word of the output.
template <class WordOf>
void blend_rows(const ThreadPart& part, const WordOf& word_of) {
  const BlendPlane& plane = part.plane;
  for (int r = 0; r < BlendTile::thread_rows; ++r) {
    if (!part.has(r))
      continue;
    const std::ptrdiff_t row = part.row(r);
    Vec16 in, processed;
    in.load(plane.in + row * plane.in_pitch + part.x, part.left, false);
    processed.load(plane.processed + row * plane.processed_pitch + part.x, part.left, false);
    for (int w = 0; w < Vec16::word_count; ++w)
      in.words[w] = word_of(r, w, in.words[w], processed.words[w]);
    in.store(plane.out + row * plane.out_pitch + part.x, part.left, false);
  }
}

template <int kSampleBytes, bool kAnyShape>
void run_blocks(const HostLaunch& launch) {
  const BlendArguments& a = launch.arguments;
  for (int block = 0; block < launch.blocks; ++block) {
    const BlendPlane& plane = plane_of_block(a, block);
    const Box tile = covered_by_tile(plane, a.fields, block);
    std::vector<std::uint16_t> near;
    for (int i = a.region_count - 1; i >= 0; --i)
      if (overlap(grown(a.regions[i].box, a.feather), tile))
        near.push_back(static_cast<std::uint16_t>(i));
    for (int i = 0; i < a.rotated_count; ++i)
      if (overlap(a.rotated[i].reached, tile))
        near.push_back(static_cast<std::uint16_t>(a.region_count + i));
    const bool touched = a.invert || a.active.touch(tile);
    for (int thread = 0; thread < BlendTile::threads; ++thread) {
      const ThreadPart part(plane, block, thread);
      std::uint16_t weights[BlendTile::thread_rows][Vec16::bytes / kSampleBytes];
      const NearRegions numbers{near.data(), static_cast<int>(near.size())};
      const auto weight_of = [&](int row, int sample) -> std::uint16_t& {
        return weights[row][sample];
      };
      if (kAnyShape)
        find_weights_by_pixel<kSampleBytes>(a, part, numbers, weight_of);
      else
        find_weights<kSampleBytes>(a, part, numbers, weight_of);
      blend_rows(part, [&](int r, int w, std::uint32_t in, std::uint32_t processed) {
        return !touched ? in : blended_word<kSampleBytes>(a, in, processed, [&](int i) {
          return int{weights[r][w * (4 / kSampleBytes) + i]};
        });
      });
    }
  }
}

/// Runs the blocks of the kernel that selects bytes by a bit mask and computes no weights.
template <int kSampleBytes>
void run_selecting_blocks(const HostLaunch& launch) {
  const BlendArguments& a = launch.arguments;
  for (int block = 0; block < launch.blocks; ++block) {
    const BlendPlane& plane = plane_of_block(a, block);
    const Box tile = covered_by_tile(plane, a.fields, block);
    const ThreadPart first(plane, block, 0);
    std::vector<SelectedPart> near;
    for (int i = a.region_count - 1; i >= 0 && a.active.touch(tile); --i)
      if (overlap(a.regions[i].box, tile))
        near.push_back(selected_part(a, plane, first.x, first.y, i));
    for (int thread = 0; thread < BlendTile::threads; ++thread) {
      const ThreadPart part(plane, block, thread);
      SelectedBytes selected;
      for (const SelectedPart& of_region : near)
        selected.add(a, part, thread, of_region);
      selected.keep_samples(part);
      bool any = false;
      for (int r = 0; r < BlendTile::thread_rows; ++r)
        any = any || selected.row(r) != 0;
      ASSERT_EQ(selected.any(), any);
      blend_rows(part, [&](int r, int w, std::uint32_t in, std::uint32_t processed) {
        return selected_word<kSampleBytes>(a, in, processed, selected.row(r) >> (4 * w) & 15);
      });
    }
  }
}

/// Calls one_byte or two_bytes, depending on the sample size, and compares with the definition.
template <class Run>
void expect_defined_frame(const RegionBlendCase& test, const Run& one_byte, const Run& two_bytes) {
  SCOPED_TRACE(describe(test));
  const auto input = input_block(test), processed = test.processed_block();
  std::vector<std::uint8_t> output(test.out.bytes, poison);
  const HostLaunch launch(test, frame_in(test.layout, test.in, input.data()),
                          test.processed_in(processed.data()),
                          frame_in(test.layout, test.out, output.data()));
  (test.layout.bits > 8 ? two_bytes : one_byte)(launch);
  ASSERT_EQ(difference(test, defined_output(test, input, poison), output), "");
}

Parameters changed_margin(Parameters parameters, int margin) {
  parameters.margin = margin;
  return parameters;
}

class RegionsTile : public LayoutCases {};

TEST_P(RegionsTile, BlocksOfTheKernelMakeTheDefinedFrame) {
  for_each_case(make_region_blend_case, [](const RegionBlendCase& test) {
    expect_defined_frame(test, run_blocks<1, false>, run_blocks<2, false>);
  });
}

TEST_P(RegionsTile, BlocksForAnyShapeMakeTheDefinedFrame) {
  for (const auto make : {make_rotated_region_case, make_masked_region_case})
    for_each_case(make, [](const RegionBlendCase& test) {
      expect_defined_frame(test, run_blocks<1, true>, run_blocks<2, true>);
    });
}

TEST_P(RegionsTile, BlocksThatSelectWholePixelsMakeTheDefinedFrame) {
  for_each_case(make_region_blend_case, [](const RegionBlendCase& one) {
    RegionBlendCase test = one;
    test.parameters.shape = Shape::rectangle;
    test.parameters.feather = 0;
    test.parameters.invert = false;
    expect_defined_frame(test, run_selecting_blocks<1>, run_selecting_blocks<2>);
  });
}

INSTANTIATE_TEST_SUITE_P(Layouts, RegionsTile, every_layout(), layout_name);

/// NumberedCells lists the cells that touch an active cell, each cell once, in row-major order.
TEST(NumberedCells, AreTheActiveOnesRowByRow) {
  Random random(85);
  for (int i = 0; i < 300; ++i) {
    const int width = random.log_uniform(65535), height = random.log_uniform(65535);
    ActiveCells active(width, height);
    for (int boxes = random.between(0, 12); boxes > 0; --boxes) {
      const int x = random.between(0, width - 1), y = random.between(0, height - 1);
      active.add({x, y, x + random.log_uniform(width), y + random.log_uniform(height)});
    }
    if (i == 0)
      active.add({0, 0, width, height});
    const NumberedCells cells(active, 1 << random.between(0, 16), 1 << random.between(0, 16));
    ASSERT_GE(cells.width(), active.cell_width());
    ASSERT_GE(cells.height(), active.cell_height());
    int count = 0;
    for (int y = 0; y < height; y += cells.height())
      for (int x = 0; x < width; x += cells.width()) {
        if (!active.touch({x, y, x + cells.width(), y + cells.height()}))
          continue;
        ASSERT_LT(count, cells.count());
        ASSERT_EQ(cells[count].x, x);
        ASSERT_EQ(cells[count].y, y);
        ++count;
      }
    ASSERT_EQ(count, cells.count());
  }
}

TEST(RegionsArithmetic, IsTheDefinedOneForSinglePixels) {
  Random random(82);
  for (int i = 0; i < 200000; ++i) {
    const int side = random.log_uniform(Parameters::max_coordinate);
    const Box box{random.between(-side, side), random.between(-side, side), 0, 0};
    Parameters parameters;
    parameters.count = 1;
    parameters.boxes[0] = {box.x0, box.y0,
                           std::min(box.x0 + random.log_uniform(side), Parameters::max_coordinate),
                           std::min(box.y0 + random.log_uniform(side), Parameters::max_coordinate)};
    if (parameters.boxes[0].empty())
      continue;
    parameters.margin = random.one_in(3) ? random.log_uniform(65535) : 0;
    parameters.feather = random.one_in(3) ? 0 : random.log_uniform(65535);
    const Region region = region_of(parameters.boxes[0], parameters.margin);
    // Draws mostly pixels near the region's edge.
    const auto near_edge = [&](int first, int end) {
      return std::clamp(random.one_in(4) ? random.between(0, 65534)
                                         : (random.one_in(2) ? first : end) +
                                               random.between(-3 * parameters.feather / 2 - 2,
                                                              3 * parameters.feather / 2 + 2),
                        0, 65534);
    };
    const int x = near_edge(region.box.x0, region.box.x1);
    const int y = near_edge(region.box.y0, region.box.y1);
    ASSERT_EQ(std::min(rectangle_weight(region.box.x0, region.box.x1, parameters.feather, x),
                       rectangle_weight(region.box.y0, region.box.y1, parameters.feather, y)),
              defined_weight(parameters, x, y));
    parameters.shape = Shape::ellipse;
    ASSERT_EQ(
        ellipse_weight(
            ellipse_offset(region.box.x0, region.box.x1, region.scale_x, parameters.feather, x),
            ellipse_offset(region.box.y0, region.box.y1, region.scale_y, parameters.feather, y),
            parameters.feather),
        defined_weight(parameters, x, y));
  }
}

/// Rotations by 0° and 180° do not change the weights of rectangles or ellipses.
TEST(RegionsArithmetic, RotationByHalfATurnChangesNothing) {
  Random random(84);
  for (int i = 0; i < 100000; ++i) {
    const int side = random.log_uniform(i % 2 == 0 ? 60 : 20000);
    Parameters parameters =
        one_region({random.between(-side, side), random.between(-side, side), 0, 0},
                   random.one_in(2) ? Shape::rectangle : Shape::ellipse,
                   random.one_in(3) ? 0 : random.log_uniform(100));
    Box& box = parameters.boxes[0];
    box.x1 = box.x0 + random.log_uniform(side);
    box.y1 = box.y0 + random.log_uniform(side);
    const int x = random.between(0, 2 * side + 100), y = random.between(0, 2 * side + 100);
    for (const int angle : {0, 32768})
      ASSERT_EQ(rotated_weight(rotated_region_of(box, angle, 3, parameters.feather),
                               parameters.shape, parameters.feather, x, y),
                defined_weight(changed_margin(parameters, 3), x, y));
  }
}

/// Every pixel whose centre is in the exact rectangle has the full weight. Every pixel with a
/// weight above 0 is in the box `reached`.
TEST(RegionsArithmetic, RotatedRectanglesCoverTheExactOnes) {
  Random random(86);
  int inside = 0;
  for (int i = 0; i < 300000; ++i) {
    const int side = random.log_uniform(8000);
    const Box box{random.between(-side, side), random.between(-side, side), 0, 0};
    const Box whole{box.x0, box.y0, box.x0 + random.log_uniform(side),
                    box.y0 + random.log_uniform(side)};
    const double turn = random.between(0, 1 << 20) / double(1 << 20) * 6.283185307179586;
    const int angle = static_cast<int>(std::lround(turn / 6.283185307179586 * 65536)) % 65536;
    const int feather = random.one_in(2) ? 0 : random.log_uniform(50);
    const RotatedRegion region = rotated_region_of(whole, angle, 0, feather);
    // Draws a pixel near a position in the rectangle or just outside the rectangle.
    const double along = random.between(-1100, 1100) / 2000.0 * (whole.x1 - whole.x0);
    const double across = random.between(-1100, 1100) / 2000.0 * (whole.y1 - whole.y0);
    const double centre_x = (whole.x0 + whole.x1) / 2.0, centre_y = (whole.y0 + whole.y1) / 2.0;
    const int x =
        static_cast<int>(std::floor(centre_x + along * std::cos(turn) - across * std::sin(turn)));
    const int y =
        static_cast<int>(std::floor(centre_y + along * std::sin(turn) + across * std::cos(turn)));
    const double dx = x + 0.5 - centre_x, dy = y + 0.5 - centre_y;
    const int weight = rotated_weight(region, Shape::rectangle, feather, x, y);
    if (std::abs(dx * std::cos(turn) + dy * std::sin(turn)) <= (whole.x1 - whole.x0) / 2.0 &&
        std::abs(dy * std::cos(turn) - dx * std::sin(turn)) <= (whole.y1 - whole.y0) / 2.0) {
      ++inside;
      ASSERT_EQ(weight, full_weight) << "pixel " << x << ", " << y;
    }
    for (const Shape shape : {Shape::rectangle, Shape::ellipse})
      if (rotated_weight(region, shape, feather, x, y) > 0) {
        ASSERT_TRUE(overlap(region.reached, {x, y, x + 1, y + 1}));
      }
  }
  EXPECT_GT(inside, 50000);
}

/// Both devices skip pixels outside the ellipse's box and feather, so the weight there must be 0.
/// (In a former version, rounding made an ellipse of 31977 pixels one pixel wider than its box.)
TEST(RegionsArithmetic, WideEllipsesStayInTheirBoxes) {
  Random random(83);
  for (int i = 0; i < 20000; ++i) {
    const int width = i == 0 ? 31977 : random.between(20000, 2 * Parameters::max_coordinate);
    const int feather = random.one_in(2) ? 0 : random.log_uniform(65535);
    const Region region = region_of({0, 0, width, 47}, 0);
    const EllipseOffset of_row = ellipse_offset(0, 47, region.scale_y, feather, 23);
    for (const int at : {-1, width})
      ASSERT_EQ(ellipse_weight(ellipse_offset(0, width, region.scale_x, 0, at), of_row, 0), 0)
          << width << " pixels wide, at " << at;
    for (const int at : {-1 - feather, width + feather})
      ASSERT_EQ(
          ellipse_weight(ellipse_offset(0, width, region.scale_x, feather, at), of_row, feather), 0)
          << width << " pixels wide, feather " << feather << ", at " << at;
  }
}

}  // namespace
}  // namespace cudavision::test
