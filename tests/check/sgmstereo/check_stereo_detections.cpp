// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests detections=true: the element message and the metas of the outputs, compared with the
// definition, for boxes of any kind, packed and rectified pictures, and several pairs in flight.
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/check/common/backend.h"
#include "tests/check/common/padsharness.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"
#include "tests/check/sgmstereo/wallpairs.h"
#include "tests/kernels/sgm/distances/distances_case.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

using namespace check;
using cudavision::regions::Box;
using cudavision::sgm::BoxDisparity;

namespace {

constexpr double focal_length = 500, baseline = 80;

Properties detecting(const Properties& more = {}) {
  return joined({{"num-disparities", "32"},
                 {"detections", "true"},
                 {"focal-length", "500"},
                 {"baseline", "80"}},
                more);
}

/// As a meta has it: negative coordinates wrap.
struct Region {
  gint64 x, y, width, height;
};

constexpr Region regions_of_wall[] = {{100, 40, 60, 80},  {0, 0, 320, 160}, {-10, -20, 60, 50},
                                      {300, 150, 80, 80}, {50, 50, 1, 1},   {200, 20, 3, 2}};

GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, const Region& region) {
  return gst_buffer_add_video_region_of_interest_meta(
      buffer, "person", static_cast<guint>(region.x), static_cast<guint>(region.y),
      static_cast<guint>(region.width), static_cast<guint>(region.height));
}

template <class Regions>
GstBuffer* with_regions(GstBuffer* buffer, const Regions& regions) {
  int id = 7;
  for (const Region& region : regions)
    add_region(buffer, region)->id = id++;
  return buffer;
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

/// A map that came out as GRAY16_LE, with 32 disparities from 0.
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

/// The centre of the rectified picture is (center_x, center_y).
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

/// Compares the parameters `distance` of an output with the objects of a message.
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

}  // namespace

TEST(test_boxes_of_a_wall) {
  for (const char* format : {"GRAY8", "I420", "P010_10LE", "BGRx"}) {
    StereoHarness stereo(detecting());
    const Pair pair = wall(format_named(format));
    stereo.accept_caps(caps_of(*pair.left.format, width, height));
    const Map map = stereo.process(at(40 * ms, with_regions(to_buffer(pair.left), regions_of_wall)),
                                   at(40 * ms, to_buffer(pair.right)));
    const auto messages = messages_of(stereo);
    fail_unless_equals_int(messages.size(), 1);
    fail_unless_equals_uint64(time_in(structure_of(messages[0], "detections"), "timestamp"),
                              40 * ms);
    const auto objects = objects_in(messages[0]);
    fail_unless_equals_int(objects.size(), std::size(regions_of_wall));
    const auto test = map_case(map, width, height);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const Region& region = regions_of_wall[i];
      const Region sent = region_in(objects[i]);
      fail_unless(sent.x == region.x && sent.y == region.y && sent.width == region.width &&
                  sent.height == region.height);
      fail_unless_equals_string(gst_structure_get_string(objects[i], "label"), "person");
      fail_unless_equals_string(gst_structure_get_string(objects[i], "meta"), "roi");
      fail_unless_equals_int(integer_in(objects[i], "id"), 7 + static_cast<int>(i));
      const Box box = visible(region, width, height);
      fail_unless(map_box_in(objects[i]) == box);
      expect_result(objects[i], defined_disparity(test, box), box, focal_length, baseline,
                    (width - 1) / 2.0, (height - 1) / 2.0);
    }
    // The wall is at a disparity of 12.
    fail_unless(std::abs(number_in(objects[0], "disparity") - 12) < 0.2);
    fail_unless(number_in(objects[0], "known") > 0.95);
    expect_parameters(map, objects);
  }
}

TEST(test_boxes_without_pixels) {
  constexpr Region none[] = {{320, 0, 10, 10},
                             {-10, 0, 10, 10},
                             {0, 160, 5, 5},
                             {20, 20, 0, 10},
                             {20, 20, 10, 0},
                             {2147483647, 2147483647, 4294967295, 4294967295},
                             {-2147483648, -2147483648, 4294967295, 1}};
  constexpr Region everything = {-2147483648, -2147483648, 4294967295, 4294967295};
  StereoHarness stereo(detecting());
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  GstBuffer* left = with_regions(to_buffer(pair.left), none);
  add_region(left, everything);
  const Map map = stereo.process(left, to_buffer(pair.right));
  const auto messages = messages_of(stereo);
  const auto objects = objects_in(messages.at(0));
  fail_unless_equals_int(objects.size(), std::size(none) + 1);
  for (std::size_t i = 0; i < std::size(none); ++i) {
    fail_unless(map_box_in(objects[i]) == Box(), "box %zu", i);
    expect_result(objects[i], {}, {}, focal_length, baseline, 0, 0);
  }
  const Box whole{0, 0, width, height};
  fail_unless(map_box_in(objects.back()) == whole);
  expect_parameters(map, objects);
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

// A frame without detections has a message, too, so that applications can count frames.
TEST(test_frames_without_boxes) {
  StereoHarness stereo(detecting({{"focal-length", "0"}}));
  stereo.accept_gray();
  stereo.process_at(0);
  const auto messages = messages_of(stereo);
  fail_unless_equals_int(messages.size(), 1);
  fail_unless(objects_in(messages[0]).empty());
}

TEST(test_off_by_default) {
  StereoHarness stereo(Properties{{"num-disparities", "32"}});
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  const Map map =
      stereo.process(with_regions(to_buffer(pair.left), regions_of_wall), to_buffer(pair.right));
  fail_unless(messages_of(stereo).empty());
  const auto* region = gst_buffer_get_video_region_of_interest_meta_id(map, 7);
  fail_unless(region && !region->params);
}

// Without lengths there are disparities only.
TEST(test_without_lengths) {
  StereoHarness stereo(detecting({{"baseline", "0"}}));
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  stereo.process(with_regions(to_buffer(pair.left), regions_of_wall), to_buffer(pair.right));
  const auto messages = messages_of(stereo);
  const GstStructure* object = objects_in(messages.at(0)).at(0);
  fail_unless(gst_structure_has_field(object, "disparity"));
  fail_unless(!gst_structure_has_field(object, "z-mm"));
}

// Every output has the results, whatever it shows. A parameter of that name is replaced.
TEST(test_every_output) {
  PadsHarness stereo(detecting());
  for (const char* pad : {"depth", "confidence", "points", "rectified"})
    stereo.open(pad);
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  GstBuffer* left = to_buffer(pair.left);
  gst_video_region_of_interest_meta_add_param(
      add_region(left, regions_of_wall[0]),
      gst_structure_new("distance", "z-mm", G_TYPE_DOUBLE, 1.0, nullptr));
  const Map map = stereo.process(left, to_buffer(pair.right));
  const auto messages = messages_of(stereo);
  fail_unless_equals_int(messages.size(), 1);
  const auto objects = objects_in(messages[0]);
  expect_parameters(map, objects);
  for (const auto& [name, harness] : stereo.opened()) {
    const Map other = pull_from(harness);
    expect_parameters(other, objects);
  }
}

TEST(test_too_many_boxes) {
  StereoHarness stereo(detecting());
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  for (int frame = 0; frame < 3; ++frame) {
    GstBuffer* left = to_buffer(pair.left);
    for (int i = 0; i < 1000; ++i)
      add_region(left, {i % 300, i % 140, 20, 20});
    const Map map = stereo.process(left, to_buffer(pair.right));
    const auto messages = messages_of(stereo);
    fail_unless_equals_int(objects_in(messages.at(0)).size(), 128);
    guint left_out = 0;
    fail_unless(
        gst_structure_get_uint(structure_of(messages[0], "detections"), "left-out", &left_out));
    fail_unless_equals_int(left_out, 872);
  }
  fail_unless_equals_int(stereo.messages().complaints(), 1);
  expect_words(stereo.messages().text(GST_MESSAGE_WARNING),
               {"1000 detections", "first 128", "at most 128"});
}

// The boxes of packed frames are those of the packed frame; what is outside the left picture does
// not count.
TEST(test_packed_frames) {
  struct Case {
    const char* packing;
    bool right_first;
    int x, y;
  };
  for (const Case& c : {Case{"side-by-side", false, 0, 0}, Case{"side-by-side", true, width, 0},
                        Case{"top-bottom", false, 0, 0}, Case{"top-bottom", true, 0, height}}) {
    const bool beside = std::strcmp(c.packing, "side-by-side") == 0;
    StereoHarness stereo(detecting(), false);
    const Pair pair = wall();
    const Picture both = c.right_first ? packed(pair.right, pair.left, beside)
                                       : packed(pair.left, pair.right, beside);
    std::string caps = caps_of(gray(), both.width, both.height);
    caps += std::string(", multiview-mode=") + c.packing;
    if (c.right_first)
      caps += ", multiview-flags=(GstVideoMultiviewFlagsSet)1:ffffffff";
    stereo.accept_caps(caps);
    const Region left_box = regions_of_wall[0];
    const std::vector<Region> regions = {
        {left_box.x + c.x, left_box.y + c.y, left_box.width, left_box.height},
        {beside ? width - c.x + 20 : 20, beside ? 20 : height - c.y + 20, 50, 50}};
    const Map map = stereo.process(with_regions(to_buffer(both), regions), nullptr);
    const auto messages = messages_of(stereo);
    const auto objects = objects_in(messages.at(0));
    const Box box = visible(left_box, width, height);
    fail_unless(map_box_in(objects.at(0)) == box, "%s", caps.c_str());
    expect_result(objects[0], defined_disparity(map_case(map, width, height), box), box,
                  focal_length, baseline, (width - 1) / 2.0, (height - 1) / 2.0);
    fail_unless(map_box_in(objects.at(1)) == Box(), "%s", caps.c_str());
  }
}

// Boxes of the camera's picture are mapped to the rectified one, whose distances are metric.
TEST(test_rectified, .unless(unless_built_with_opencv())) {
  for (const bool fisheye : {false, true}) {
    const CalibrationFile file(fisheye);
    StereoHarness stereo(detecting({file.property(), {"focal-length", "0"}, {"baseline", "0"}}));
    const Photographs scene(fisheye, {12});
    stereo.accept_gray(camera_width, camera_height);
    constexpr Region boxes[] = {{140, 100, 40, 40}, {60, 40, 50, 30}, {200, 150, 60, 50}};
    const Map map =
        stereo.process(with_regions(to_buffer(scene.left), boxes), to_buffer(scene.right));
    const auto messages = messages_of(stereo);
    const auto objects = objects_in(messages.at(0));
    const auto test = map_case(map, camera_width, camera_height);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const Box box = map_box_in(objects[i]);
      // The corners of the smallest box around the mapped one see the sides of the camera's box.
      const Region& region = boxes[i];
      for (const auto& [u, v] : {std::pair{box.x0, box.y0}, {box.x1 - 1, box.y1 - 1}}) {
        const auto [x, y] = scene.left_of.source(u, v);
        const bool low = u == box.x0;
        const double left =
            low ? static_cast<double>(region.x) : static_cast<double>(region.x + region.width - 1);
        const double top =
            low ? static_cast<double>(region.y) : static_cast<double>(region.y + region.height - 1);
        fail_unless(std::abs(x - left) < 5 && std::abs(y - top) < 5,
                    "box %zu: (%d, %d) is (%f, %f), not (%f, %f)", i, u, v, x, y, left, top);
      }
      expect_result(objects[i], defined_disparity(test, box), box, rectified_focal_length,
                    rectified_baseline, rectified_center_x, rectified_center_y);
      const double z = rectified_focal_length * rectified_baseline / 12;
      fail_unless(std::abs(number_in(objects[i], "z-mm") / z - 1) < 0.02);
    }
    expect_parameters(map, objects);
  }
}

// With frames in CUDA memory, which need not wait for the device otherwise.
TEST(test_cuda_memory, .unless(unless_testing_cuda())) {
  const Pair pair = wall(format_named("NV12"));
  CudaUploader uploader;
  StereoHarness on_gpu(detecting()), in_system(detecting());
  on_gpu.accept_downstream(cuda_feature);
  on_gpu.accept_caps(cuda_caps_of(pair.left));
  in_system.accept_caps(caps_of(*pair.left.format, width, height));
  for (int i = 0; i < 3; ++i) {
    Owned<GstBuffer> left = uploader.upload(pair.left), right = uploader.upload(pair.right);
    with_regions(left.get(), regions_of_wall);
    const Map map = on_gpu.process(left.release(), right.release());
    in_system.process(with_regions(to_buffer(pair.left), regions_of_wall), to_buffer(pair.right));
    const auto messages = messages_of(on_gpu), expected = messages_of(in_system);
    const auto objects = objects_in(messages.at(0)), others = objects_in(expected.at(0));
    fail_unless_equals_int(objects.size(), others.size());
    for (std::size_t k = 0; k < objects.size(); ++k)
      fail_unless(gst_structure_is_equal(objects[k], others[k]));
    expect_parameters(map, objects);
  }
}

#ifdef HAVE_GST_ANALYTICS
// A detection of GstAnalytics gets a related classification, with a level for each field.
TEST(test_analytics) {
  StereoHarness stereo(detecting());
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  GstBuffer* left = to_buffer(pair.left);
  add_region(left, regions_of_wall[0]);
  GstAnalyticsRelationMeta* meta = gst_buffer_add_analytics_relation_meta(left);
  GstAnalyticsODMtd detections[2];
  for (GstAnalyticsODMtd& detection : detections) {
    const int x = &detection == detections ? 100 : 1000;
    fail_unless(gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_static_string("car"), x,
                                                       40, 60, 80, 0.9F, &detection));
  }
  const Map map = stereo.process(left, to_buffer(pair.right));
  const auto messages = messages_of(stereo);
  const auto objects = objects_in(messages.at(0));
  fail_unless_equals_int(objects.size(), 3);
  GstAnalyticsRelationMeta* copy = gst_buffer_get_analytics_relation_meta(map);
  fail_unless(copy != nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    const GstStructure* object = objects[i + 1];
    fail_unless_equals_string(gst_structure_get_string(object, "meta"), "analytics");
    fail_unless_equals_string(gst_structure_get_string(object, "label"), "car");
    fail_unless_equals_int(integer_in(object, "id"), static_cast<int>(detections[i].id));
    gpointer state = nullptr;
    GstAnalyticsMtd levels;
    fail_unless(gst_analytics_relation_meta_get_direct_related(
        copy, detections[i].id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
        gst_analytics_cls_mtd_get_mtd_type(), &state, &levels));
    fail_unless_equals_int(gst_analytics_cls_mtd_get_length(&levels), i == 0 ? 7 : 1);
    for (gsize k = 0; k < gst_analytics_cls_mtd_get_length(&levels); ++k) {
      const double number =
          number_in(object, g_quark_to_string(gst_analytics_cls_mtd_get_quark(&levels, k)));
      fail_unless(gst_analytics_cls_mtd_get_level(&levels, k) == static_cast<float>(number));
    }
  }
  expect_near(objects[1], "disparity", number_in(objects[0], "disparity"));
}
#endif

// Messages come in the order of the frames, and before what follows them, also with pairs in
// flight.
TEST(test_in_flight) {
  constexpr int count = 20;
  StereoHarness stereo(detecting({{"frames-in-flight", "3"}}));
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  for (int i = 0; i < count; ++i) {
    const std::vector<Region> regions(static_cast<std::size_t>(i), regions_of_wall[0]);
    const GstClockTime time = static_cast<GstClockTime>(i) * 40 * ms;
    gst_harness_push(stereo.right(), at(time, to_buffer(pair.right)));
    gst_harness_push(stereo.left(), at(time, with_regions(to_buffer(pair.left), regions)));
  }
  stereo.send_to_all(gst_event_new_eos);
  std::vector<Map> maps;
  for (int i = 0; i < count; ++i)
    maps.push_back(stereo.pull());
  stereo.expect_end();
  const auto messages = messages_of(stereo);
  fail_unless_equals_int(messages.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    fail_unless_equals_uint64(time_in(structure_of(messages[i], "detections"), "timestamp"),
                              maps[i].pts());
    const auto objects = objects_in(messages[i]);
    fail_unless_equals_int(objects.size(), i);
    expect_parameters(maps[i], objects);
  }
}
