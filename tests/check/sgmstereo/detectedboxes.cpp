// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/sgmstereo/detectedboxes.h"

#include <algorithm>
#include <cmath>

#include "tests/check/common/messagelog.h"

namespace check {

Properties detecting(const Properties& more) {
  return joined({{"num-disparities", "32"},
                 {"detections", "true"},
                 {"focal-length", "500"},
                 {"baseline", "80"}},
                more);
}

GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, const Region& region) {
  return gst_buffer_add_video_region_of_interest_meta(
      buffer, "person", static_cast<guint>(region.x), static_cast<guint>(region.y),
      static_cast<guint>(region.width), static_cast<guint>(region.height));
}

std::vector<Owned<GstMessage>> messages_of(StereoHarness& stereo) {
  return stereo.messages().take(GST_MESSAGE_ELEMENT);
}

std::vector<const GstStructure*> objects_in(GstMessage* message) {
  const GValue* array = gst_structure_get_value(structure_of(message, "detections"), "objects");
  fail_unless(array && GST_VALUE_HOLDS_ARRAY(array));
  std::vector<const GstStructure*> objects;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    objects.push_back(gst_value_get_structure(gst_value_array_get_value(array, i)));
  return objects;
}

int integer_in(const GstStructure* structure, const char* field) {
  gint number = 0;
  fail_unless(gst_structure_get_int(structure, field, &number), "no %s", field);
  return number;
}

Region region_in(const GstStructure* structure) {
  const auto number = [&](const char* field) {
    gint64 value = 0;
    fail_unless(gst_structure_get_int64(structure, field, &value), "no %s", field);
    return value;
  };
  return {number("x"), number("y"), number("width"), number("height")};
}

Box map_box_in(const GstStructure* structure) {
  const int x = integer_in(structure, "map-x"), y = integer_in(structure, "map-y");
  return {x, y, x + integer_in(structure, "map-width"), y + integer_in(structure, "map-height")};
}

cudavision::test::DistancesCase map_case(const Map& map, int columns, int rows) {
  const Picture picture = from_buffer(map, format_named("GRAY16_LE"), columns, rows);
  cudavision::test::DistancesCase test{columns, rows, {}, {}, {}, {}, {}};
  test.parameters.disparities = 32;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      test.numbers.push_back(static_cast<std::uint16_t>(picture.sample(0, x, y)));
  return test;
}

void expect_near(const GstStructure* structure, const char* field, double expected) {
  const double number = number_in(structure, field);
  fail_unless(std::abs(number - expected) <= 1e-9 * (1 + std::abs(expected)), "%s is %f, not %f",
              field, number, expected);
}

void expect_result(const GstStructure* structure, const BoxDisparity& result, const Box& box,
                   double focal, double base, double center_x, double center_y) {
  expect_near(structure, "known",
              result.samples ? static_cast<double>(result.known) / result.samples : 0);
  for (const char* field : {"disparity", "disparity-low", "disparity-high", "x-mm", "y-mm", "z-mm"})
    fail_unless_equals_int(gst_structure_has_field(structure, field), result.known > 0);
  if (result.known == 0)
    return;
  expect_near(structure, "disparity", result.middle / 16.0);
  expect_near(structure, "disparity-low", result.low / 16.0);
  expect_near(structure, "disparity-high", result.high / 16.0);
  const double z = 16 * focal * base / result.middle;
  expect_near(structure, "z-mm", z);
  expect_near(structure, "x-mm", z * ((box.x0 + box.x1 - 1) / 2.0 - center_x) / focal);
  expect_near(structure, "y-mm", z * ((box.y0 + box.y1 - 1) / 2.0 - center_y) / focal);
}

Box visible(const Region& region, int columns, int rows) {
  const auto end = [](gint64 first, gint64 count, int limit) {
    return static_cast<int>(std::clamp<gint64>(first + count, 0, limit));
  };
  const Box box{end(region.x, 0, columns), end(region.y, 0, rows),
                end(region.x, region.width, columns), end(region.y, region.height, rows)};
  return box.empty() ? Box() : box;
}

void expect_parameters(GstBuffer* output, const std::vector<const GstStructure*>& objects) {
  gpointer state = nullptr;
  std::size_t number = 0;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             output, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const GstStructure* distance = gst_video_region_of_interest_meta_get_param(region, "distance");
    fail_unless(distance != nullptr && number < objects.size());
    fail_unless_equals_int(g_list_length(region->params), 1);
    for (const char* field :
         {"known", "disparity", "disparity-low", "disparity-high", "x-mm", "y-mm", "z-mm"}) {
      fail_unless_equals_int(gst_structure_has_field(distance, field),
                             gst_structure_has_field(objects[number], field));
      if (gst_structure_has_field(distance, field))
        expect_near(distance, field, number_in(objects[number], field));
    }
    ++number;
  }
  fail_unless_equals_int(number, objects.size());
}

}  // namespace check
