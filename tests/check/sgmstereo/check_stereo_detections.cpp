// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests detections=true: the element message and the metas of the outputs, compared with the
// definition, for boxes of any kind and several pairs in flight.
#include <cmath>
#include <iterator>

#include "tests/check/common/streams/padsharness.h"
#include "tests/check/sgmstereo/detectedboxes.h"
#include "tests/check/sgmstereo/wallpairs.h"

using namespace check;

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

// Without baseline, the results have disparities, but no distances.
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

// Every output carries the results as parameters `distance`. They replace the input's `distance`.
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

// Messages keep the order of the frames, and precede the events after these frames, even with
// several pairs in flight.
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
