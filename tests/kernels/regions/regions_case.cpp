// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/regions/regions_case.h"

#include <algorithm>
#include <cstdio>

#include "tests/kernels/regions/masks_case.h"
#include "tests/kernels/regions/regions_definition.h"

namespace cudavision::test {
namespace {

/// The largest number of weights that the definition may compute for one channel.
constexpr int max_weights = 1 << 23;

/// Draws a box's range along a side of `length` pixels. Some ranges are empty or outside the frame.
std::pair<int, int> random_interval(int length, Random& random) {
  const int beyond = random.one_in(4) ? length + 50 : 3;
  const int first = random.between(-beyond, length + beyond);
  const int size = random.one_in(16) ? -random.between(0, 5) : random.log_uniform(length + 20);
  return {first, first + size};
}

}  // namespace

regions::Parameters random_regions(int width, int height, int maximum, Random& random) {
  regions::Parameters parameters;
  parameters.shape = random.one_in(2) ? regions::Shape::rectangle : regions::Shape::ellipse;
  parameters.margin = random.one_in(2) ? 0 : random.log_uniform(60);
  parameters.feather = random.one_in(2) ? 0 : random.log_uniform(random.one_in(8) ? 65535 : 120);
  parameters.invert = random.one_in(4);
  parameters.count = random.one_in(10) ? 0 : random.log_uniform(maximum);
  for (int i = 0; i < parameters.count; ++i) {
    const auto [x0, x1] = random_interval(width, random);
    const auto [y0, y1] = random_interval(height, random);
    parameters.boxes[static_cast<std::size_t>(i)] = {x0, y0, x1, y1};
  }
  return parameters;
}

regions::Parameters one_region(const regions::Box& box, regions::Shape shape, int feather) {
  regions::Parameters parameters;
  parameters.shape = shape;
  parameters.feather = feather;
  parameters.count = 1;
  parameters.boxes[0] = box;
  return parameters;
}

RegionBlendCase make_region_blend_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const int maximum = random.one_in(8) ? regions::Parameters::max_count : 12;
  auto test = random_frame_case<RegionBlendCase>(
      number, std::min(max_pixels, max_weights / maximum), random);
  test.parameters = random_regions(test.layout.width, test.layout.height, maximum, random);
  draw_placements(test, random);
  draw_content(test, random);
  test.parameters_later = random.one_in(3);
  test.parameters.fields = random.one_in(3);
  return test;
}

RegionBlendCase make_rotated_region_case(std::uint64_t seed, int number, int max_pixels) {
  RegionBlendCase test = make_region_blend_case(seed, number, max_pixels);
  Random random(test.content_seed + 29);
  for (std::uint16_t& angle : test.parameters.angles)
    angle = random.one_in(3)
                ? static_cast<std::uint16_t>(0)
                : static_cast<std::uint16_t>(random.one_in(4) ? random.between(-2, 4) << 13
                                                              : random.between(0, 65535));
  return test;
}

RegionBlendCase make_masked_region_case(std::uint64_t seed, int number, int max_pixels) {
  RegionBlendCase test = make_rotated_region_case(seed, number, max_pixels);
  Random random(test.content_seed + 31);
  regions::Parameters& p = test.parameters;
  p.mask_growth = random.one_in(4) ? random.log_uniform(300) : 0;
  MasksCase masks{test.layout.width, test.layout.height, 0,
                  random_masks(test.layout.width, test.layout.height, 4, random)};
  if (random.one_in(3))
    p.count = 0;
  for (const MaskPicture& mask : masks.masks)
    p.mask_boxes[static_cast<std::size_t>(p.mask_count++)] = mask.box;
  masks.radius = p.mask_radius();
  test.distances = defined_distances(masks);
  return test;
}

std::string describe(const RegionBlendCase& test) {
  const regions::Parameters& p = test.parameters;
  char text[200];
  std::snprintf(text, sizeof text, "%d masks, %d %s, margin %d, feather %d%s%s", p.mask_count,
                p.count, p.shape == regions::Shape::rectangle ? "rectangles" : "ellipses", p.margin,
                p.feather, p.invert ? ", inverted" : "", p.fields ? ", fields" : "");
  std::string description = text;
  for (int i = 0; i < std::min(p.count, 5); ++i) {
    const regions::Box& box = p.boxes[static_cast<std::size_t>(i)];
    std::snprintf(text, sizeof text, ", [%d,%d)x[%d,%d) rotated by %d", box.x0, box.x1, box.y0,
                  box.y1, p.angles[static_cast<std::size_t>(i)]);
    description += text;
  }
  return describe(test, description);
}

std::vector<std::uint8_t> RegionBlendCase::processed_block() const {
  std::vector<std::uint8_t> block(out.bytes, 0x5a);
  paint(layout, frame_in(layout, out, block.data()), Content::random, content_seed + 7919, dirty);
  return block;
}

void RegionBlendCase::define(const ConstFrame& from, const Frame& to) const {
  const auto processed = processed_block();
  defined_region_blend(layout, parameters, from, processed_in(processed.data()), to, distances);
}

regions::Parameters RegionBlendCase::other_parameters() const {
  regions::Parameters other;
  other.shape = parameters.shape == regions::Shape::rectangle ? regions::Shape::ellipse
                                                              : regions::Shape::rectangle;
  other.margin = parameters.margin == 3 ? 4 : 3;
  other.feather = parameters.feather == 9 ? 11 : 9;
  other.invert = !parameters.invert;
  other.fields = !parameters.fields;
  other.count = parameters.count == 2 ? 3 : 2;
  other.boxes[0] = {-5, -7, 30, 20};
  other.angles[0] = parameters.angles[0] == 5000 ? 0 : 5000;
  other.boxes[1] = {12, 9, 70, 33};
  other.boxes[2] = {40, 3, 41, 100};
  return other;
}

}  // namespace cudavision::test
